"""What is said of speed: a comparison on one clock where there is a device, an estimate else."""

from nkiport.contracts.base import EvidenceLevel
from nkiport.contracts.engine import Profile
from nkiport.contracts.judgement import Check, CheckResult, Oracle


def performance(oracle: Oracle, profile: Profile, level: EvidenceLevel) -> Check:
    """Hold the share of the roofline against what gate 2 asked for, if it asked."""
    share = roofline_share(profile)
    asked = oracle.requirements.min_roofline_share
    result, detail = _decided(share, asked, level)
    return Check(
        name="performance", stage="performance", result=result, detail=detail,
        numbers={
            "p50_us": profile.p50_us, "p99_us": profile.p99_us, "low_us": profile.low_us,
            "high_us": profile.high_us, "floor_us": profile.floor_us, "roofline_share": share,
            **{f"busy_{engine}": busy for engine, busy in sorted(profile.utilisation.items())},
        },
    )  # fmt: skip


def roofline_share(profile: Profile) -> float | None:
    """The floor divided by the latency, 0 to 1."""
    if not profile.p50_us or profile.floor_us is None:
        return None
    return min(1.0, profile.floor_us / profile.p50_us)


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
