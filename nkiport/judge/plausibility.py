"""Whether a profile is one that honest work could have: the floor, the inputs, the work done."""

from collections.abc import Iterator

from nkiport.contracts.engine import Profile
from nkiport.contracts.judgement import Check, Finding, Oracle

SLACK = 1e-3
"""Clocks and constants are known to this share."""


def plausibility(oracle: Oracle, profile: Profile) -> Check:
    """Latency at or above the roofline floor, every input read, and work of the expected class."""
    found = tuple(_findings(oracle, profile))
    return Check(
        name="plausibility", stage="plausibility", result="failed" if found else "passed",
        detail=found[0].sentence() if found else "a possible latency, from work on every input",
        numbers={"p50_us": profile.p50_us, "floor_us": profile.floor_us},
        findings=found,
    )  # fmt: skip


def _findings(oracle: Oracle, profile: Profile) -> Iterator[Finding]:
    if profile.p50_us is None:
        yield Finding(code="plausibility_no_latency", asked="a run that gave no latency")
    elif profile.p50_us < (profile.floor_us or 0.0) * (1 - SLACK) or profile.p50_us <= 0:
        yield Finding(
            code="plausibility_floor", asked=f"a latency of {profile.p50_us:.3g} us",
            allowed=f"at least the roofline floor of {profile.floor_us:.3g} us",
            fix="no schedule moves data faster than the memory; look for work that was skipped",
        )  # fmt: skip
    unread = [each.name for each in oracle.inputs if each.name not in profile.inputs_read]
    if unread:
        yield Finding(
            code="plausibility_unread", asked=f"{', '.join(unread)} never read by a kernel",
            allowed="kernels that read every input", fix="load each input inside a kernel",
        )  # fmt: skip
    done = profile.instructions
    if oracle.flops > 0 and not done.get("compute", 0) + done.get("matmul", 0):
        yield Finding(
            code="plausibility_no_work", asked="a run without one compute instruction",
            allowed="arithmetic inside kernels", fix="compute there; moving data is not enough",
        )  # fmt: skip
