"""Targets: what differs between chips, as frozen values. Nothing else in the code knows a chip."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

from nkiport.contracts.base import TargetName

Engine = Literal["tensor", "vector", "scalar", "gpsimd", "dma"]
Dialect = Literal["beta1", "beta2"]

KIB = 1024


@dataclass(frozen=True, kw_only=True)
class Target:
    """The limits, clocks and bandwidths of one core, and the dialect its compiler takes.

    Sources: the architecture guides and the DMA bandwidth guide of the Neuron SDK documentation;
    `docs/cost-model.md` says which the published kernels bear out.
    Bandwidths are GB/s of one core, clocks GHz, sizes bytes of one partition.
    """

    name: TargetName
    generation: int
    dialect: Dialect
    clocks: Mapping[Engine, float]
    sbuf_bytes: int
    """Usable SBUF of a partition; what the system reserves is taken off."""
    dma_gb_s: float
    """Sustained by the core's DMA engines together."""
    dma_peak_gb_s: float
    """The most the DMA engines or the HBM could move: the roofline's slope."""
    tflops: float
    """Peak of the tensor engine with 16-bit operands."""
    tflops_fp32: float
    partitions: int = 128
    stationary_fmax: int = 128
    moving_fmax: int = 512
    psum_banks: int = 8
    psum_bank_bytes: int = 2 * KIB
    bn_stats_fmax: int = 512
    min_cycles: int = 64
    """The least an instruction takes on an engine, in that engine's cycles."""
    access_cycles: int = 60
    """What a tensor access takes before its first element, on every engine but the tensor one."""
    dma_startup_us: float = 1.3

    @property
    def psum_fmax(self) -> int:
        """How many fp32 elements of a partition one PSUM bank holds."""
        return self.psum_bank_bytes // 4

    @property
    def psum_bytes(self) -> int:
        """PSUM of a partition."""
        return self.psum_banks * self.psum_bank_bytes


def _clocks(tensor: float, vector: float, scalar: float, gpsimd: float) -> Mapping[Engine, float]:
    return MappingProxyType(
        {"tensor": tensor, "vector": vector, "scalar": scalar, "gpsimd": gpsimd}
    )


TARGETS: Mapping[TargetName, Target] = MappingProxyType(
    {
        "trn1": Target(
            name="trn1",
            generation=2,
            dialect="beta1",
            clocks=_clocks(2.8, 1.12, 1.4, 1.4),
            sbuf_bytes=176 * KIB,
            dma_gb_s=272,
            dma_peak_gb_s=464,
            tflops=92,
            tflops_fp32=23,
        ),
        "trn2": Target(
            name="trn2",
            generation=3,
            dialect="beta2",
            clocks=_clocks(2.4, 0.96, 1.2, 1.2),
            sbuf_bytes=208 * KIB - 528,
            dma_gb_s=368,
            dma_peak_gb_s=464,
            tflops=79,
            tflops_fp32=20,
        ),
        "trn3": Target(
            name="trn3",
            generation=4,
            dialect="beta2",
            clocks=_clocks(2.4, 1.2, 1.2, 1.2),
            sbuf_bytes=240 * KIB,
            dma_gb_s=528,
            dma_peak_gb_s=612,
            tflops=79,
            tflops_fp32=20,
        ),
    }
)


def target(name: TargetName) -> Target:
    """Return the target of that name; ``KeyError`` for a name that is none.

    >>> target("trn1").psum_fmax
    512
    """
    return TARGETS[name]
