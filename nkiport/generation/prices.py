"""Dollars for tokens, from ``prices.json``, which names its source and date."""

from functools import cache
from importlib.resources import files

from pydantic import BaseModel, ConfigDict

from nkiport.generation.model import Answer

MILLION = 1_000_000
CHARACTERS_PER_TOKEN = 2.5
"""Fewer than the about 3.5 that prose and code need, so that a reservation is not too small."""


class Price(BaseModel):
    """Dollars for a million tokens of each kind."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    input: float
    output: float
    cache_read: float
    cache_write: float

    def of(self, answer: Answer) -> float:
        """What an answer cost, in dollars. Cached tokens are counted apart from input tokens."""
        return (
            answer.input_tokens * self.input
            + answer.output_tokens * self.output
            + answer.cache_read_tokens * self.cache_read
            + answer.cache_write_tokens * self.cache_write
        ) / MILLION

    def most(self, characters: int, output_tokens: int) -> float:
        """The most a prompt of so many characters can cost."""
        tokens = characters / CHARACTERS_PER_TOKEN
        return (tokens * max(self.input, self.cache_write) + output_tokens * self.output) / MILLION

    def times(self, factor: float) -> "Price":
        """Every price multiplied."""
        return Price(**{name: value * factor for name, value in dict(self).items()})


class PriceList(BaseModel):
    """The file: where the prices were read, when, and the price of each family of models."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    source: str
    read: str
    unit: str
    note: str
    regional_premium: float
    models: dict[str, Price]


@cache
def price_list() -> PriceList:
    """Read the file that comes with the package."""
    text = files("nkiport.generation").joinpath("prices.json").read_text()
    return PriceList.model_validate_json(text)


def price_of(model_id: str) -> Price:
    """The price of a model or inference profile whose id holds a family's name.

    An id that names no family (an application profile's ARN) is priced as the dearest one, so
    that the spend cap holds.
    """
    prices = price_list()
    named = [price for family, price in prices.models.items() if family in model_id]
    price = named[0] if named else max(prices.models.values(), key=lambda each: each.output)
    return price if model_id.startswith("global.") else price.times(prices.regional_premium)
