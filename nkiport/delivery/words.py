"""What a person reads of a job: its report, and the pull request's title and text."""

import re
from collections.abc import Sequence

from nkiport.contracts.evidence import Evidence
from nkiport.contracts.jobs import Kernel


def title_of(evidence: Sequence[Evidence]) -> str:
    """The pull request's title.

    >>> title_of([])
    'NKI kernels: none'
    """
    names = ", ".join(_plain(each.kernel) for each in evidence) or "none"
    shown = names if len(names) <= 60 else f"{len(evidence)} kernels"  # noqa: PLR2004
    return f"NKI kernels: {shown}"


def pull_request_body(evidence: Sequence[Evidence]) -> str:
    """The pull request's text; its first line says where the numbers were measured."""
    claims = [f"- {_plain(each.headline)}" for each in evidence]
    first = "Verified on hardware." if on_silicon(evidence) else (
        "Draft: not verified on hardware; "
        + ", ".join(sorted({each.level.replace("_", " ") for each in evidence}))
        + " evidence only."
    )  # fmt: skip
    end = "Each folder holds the kernel, a wrapper, a test that repeats the comparison, and the "
    return "\n".join([first, "", *claims, "", end + "signed evidence.", ""])


def on_silicon(evidence: Sequence[Evidence]) -> bool:
    """Whether every kernel was measured on a device."""
    return bool(evidence) and all(each.level == "silicon" for each in evidence)


def report_of(job_id: str, accepted: Sequence[Evidence], others: Sequence[Kernel]) -> str:
    """The job's report as markdown: what was accepted, and what was not and why."""
    lines = [f"# Migration {job_id}", ""]
    lines += [f"- {_plain(each.headline)}" for each in accepted] or ["No kernel was accepted."]
    if others:
        lines += ["", "## Not delivered", ""]
        lines += [f"- {_plain(k.name)}: {k.status}: {_plain(k.reason) or '-'}" for k in others]
    return "\n".join([*lines, ""])


def _plain(text: str) -> str:
    """Names come from a stranger's tree: no markup, no mention, one line."""
    return re.sub(r"[`<>\[\]@*|\\\r\n]", " ", text).strip()
