"""What every message is built on: frozen, closed models and the few scalar types they share."""

import re
from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, StringConstraints

DType = Literal[
    "float64", "float32", "bfloat16", "float16", "float8_e4m3", "float8_e5m2",
    "int64", "int32", "int16", "int8", "uint32", "uint16", "uint8", "bool",
]  # fmt: skip
"""Element types as NumPy and ml_dtypes name them; PyTorch's names are mapped at capture."""

ON_DEVICE: Mapping[DType, DType] = {"int64": "int32", "float64": "float32"}
"""What stands on a device for a dtype of 64 bits, which a NeuronCore has none of."""

TargetName = Literal["trn1", "trn2", "trn3"]
BackendName = Literal["auto", "recipes", "claude", "custom_import", "vllm"]
EvidenceLevel = Literal["silicon", "vendor_simulator", "functional"]
Stage = Literal["policy", "compile", "numbers", "plausibility", "performance"]
"""The stages of a verdict, in the order they are run."""

JobId = Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9-]{7,47}$")]
KernelId = Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9_-]{0,63}$")]
Sha256 = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]
Key = Annotated[str, StringConstraints(min_length=1, max_length=900)]
"""The name of an artifact; made only by ``contracts.keys``."""


class Contract(BaseModel):
    """A message: immutable once made, and closed to fields nobody declared."""

    model_config = ConfigDict(frozen=True, extra="forbid", ser_json_inf_nan="constants")


class JobMessage(Contract):
    """A message about one job."""

    job_id: JobId


class KernelMessage(JobMessage):
    """A message about one kernel of one job."""

    kernel_id: KernelId


class AttemptMessage(KernelMessage):
    """A message about one attempt (counted from 1) at one kernel."""

    attempt: int


def slug(text: str) -> str:
    """Lower-case letters, digits and single dashes, at most 40 characters.

    >>> slug("RMSNorm (CUDA)")
    'rmsnorm-cuda'
    """
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")[:40] or "x"
