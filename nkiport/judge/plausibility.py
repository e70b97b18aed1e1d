"""Whether a profile is one that honest work could have: the floor, the inputs, the work done."""

from collections.abc import Iterator
from math import isfinite, prod

from nkiport.contracts.engine import Profile
from nkiport.contracts.judgement import Check, Finding, Oracle
from nkiport.nki import target
from nkiport.sandbox.buffers import device_dtype_of

SLACK = 1e-3
"""Clocks and constants are known to this share."""


def plausibility(oracle: Oracle, profile: Profile) -> Check:
    """Latency at or above the roofline floor, every input read, and work of the expected class."""
    found = tuple(_findings(oracle, profile))
    return Check(
        name="plausibility", stage="plausibility", result="failed" if found else "passed",
        detail=found[0].sentence() if found else "a possible latency, from work on every input",
        numbers={"p50_us": profile.p50_us, "floor_us": floor_us(oracle, profile)},
        findings=found,
    )  # fmt: skip


def floor_us(oracle: Oracle, profile: Profile) -> float:
    """The larger of two floors: of the work the engine saw, and of writing the sealed outputs.

    The second does not depend on the candidate: one that skips work lowers only the first.
    """
    written = sum(
        prod(each.shape) * device_dtype_of(each.dtype).itemsize for each in oracle.outputs
    )
    return max(profile.floor_us or 0.0, written / (1000 * target(oracle.target).dma_peak_gb_s))


def _findings(oracle: Oracle, profile: Profile) -> Iterator[Finding]:
    floor = floor_us(oracle, profile)
    if profile.p50_us is None or not isfinite(profile.p50_us):
        yield Finding(code="plausibility_no_latency", asked="a run that gave no latency")
    elif profile.p50_us < floor * (1 - SLACK) or profile.p50_us <= 0:
        yield Finding(
            code="plausibility_floor", asked=f"a latency of {profile.p50_us:.3g} us",
            allowed=f"at least the roofline floor of {floor:.3g} us",
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
