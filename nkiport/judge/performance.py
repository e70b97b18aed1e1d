"""What is said of speed: a comparison on one clock where there is a device, an estimate else."""

from nkiport.contracts.base import EvidenceLevel
from nkiport.contracts.engine import Profile
from nkiport.contracts.judgement import Check, CheckResult, Oracle
from nkiport.nki import target
from nkiport.sandbox.buffers import device_dtype_of


def performance(oracle: Oracle, profile: Profile, level: EvidenceLevel) -> Check:
    """Hold the share of the roofline against what gate 2 asked for, if it asked."""
    share = roofline_share(profile, roofline_us(oracle))
    asked = oracle.requirements.min_roofline_share
    result, detail = _decided(share, asked, level)
    return Check(
        name="performance", stage="performance", result=result, detail=detail,
        numbers={
            "p50_us": profile.p50_us, "p99_us": profile.p99_us, "low_us": profile.low_us,
            "high_us": profile.high_us, "floor_us": profile.floor_us,
            "roofline_us": roofline_us(oracle), "roofline_share": share,
            "traffic_us": _traffic_us(oracle), "traffic_ratio": _traffic_ratio(oracle, profile),
            **{f"busy_{engine}": busy for engine, busy in sorted(profile.utilisation.items())},
        },
    )  # fmt: skip


def roofline_us(oracle: Oracle) -> float:
    """Microseconds that the reference's own work takes at the rates a core sustains.

    Its inputs and outputs pass HBM once, and its arithmetic runs at the tensor engine's peak for
    the widest input. What a candidate moves beyond that counts against it. The rates are those of
    the target's guide; the floor of the plausibility check takes the peak rates instead.
    """
    return max(_traffic_us(oracle), _arithmetic_us(oracle))


def _traffic_us(oracle: Oracle) -> float:
    return oracle.bytes_moved / (1000 * target(oracle.target).dma_gb_s)


def _arithmetic_us(oracle: Oracle) -> float:
    chip = target(oracle.target)
    wide = any(device_dtype_of(each.dtype).itemsize > HALF for each in oracle.inputs)
    peak = chip.tflops_fp32 if wide else chip.tflops
    return oracle.flops / (1e6 * peak)


def _traffic_ratio(oracle: Oracle, profile: Profile) -> float | None:
    """What passed HBM, by what the reference's inputs and outputs hold."""
    moved = profile.bytes_read + profile.bytes_written
    return moved / oracle.bytes_moved if moved and oracle.bytes_moved else None


HALF = 2
"""Bytes of the dtypes that the tensor engine takes at full speed."""


def roofline_share(profile: Profile, roofline: float | None) -> float | None:
    """The roofline divided by the latency, 0 to 1; None where there is no latency."""
    if not profile.p50_us or roofline is None:
        return None
    return min(1.0, roofline / profile.p50_us)


def _decided(
    share: float | None, asked: float | None, level: EvidenceLevel
) -> tuple[CheckResult, str]:
    if share is None or asked is None:
        where = "no device, so no baseline clock" if level != "silicon" else "no baseline was run"
        said = "" if share is None else f"; by the cost model, {share:.0%} of the roofline"
        return "not_measured", f"nothing was measured: {where}{said}"
    kind = "measured" if level == "silicon" else "estimated"
    return (
        "passed" if share >= asked else "failed",
        f"{kind} {share:.0%} of the roofline; {asked:.0%} was asked for",
    )
