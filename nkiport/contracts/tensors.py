"""Tensors without their values: shapes, dtypes, and how values are drawn."""

from typing import Literal, Self

from pydantic import Field, PositiveInt, model_validator

from nkiport.contracts.base import Contract, DType

Shape = tuple[PositiveInt, ...]


class Draw(Contract):
    """The distribution a tensor's values are drawn from when the judge makes its inputs.

    ``normal`` uses ``mean`` and ``std`` and is then clipped to ``low``/``high``; ``uniform`` and
    ``integers`` use ``low`` and ``high`` (both inclusive for integers); ``boolean`` uses neither.
    """

    kind: Literal["normal", "uniform", "integers", "boolean"] = "normal"
    mean: float = 0.0
    std: float = Field(default=1.0, ge=0)
    low: float | None = None
    high: float | None = None

    @model_validator(mode="after")
    def _bounds_are_given_and_ordered(self) -> Self:
        if self.kind in {"uniform", "integers"} and (self.low is None or self.high is None):
            raise ValueError(f"a {self.kind} draw needs 'low' and 'high'")
        if self.low is not None and self.high is not None and self.low > self.high:
            raise ValueError(f"low {self.low} is above high {self.high}")
        return self


class TensorSpec(Contract):
    """A named shape and dtype."""

    name: str = Field(min_length=1, max_length=128)
    shape: Shape
    dtype: DType = "float32"


class InputSpec(TensorSpec):
    """An input of a reference, with how its values are drawn.

    A ``weight`` is a parameter or buffer lifted to an input: named as in the module, with dots
    replaced by underscores.
    """

    role: Literal["input", "weight"] = "input"
    draw: Draw = Draw()
