"""Add up the checks: a verdict in the order of the design, and what the next attempt is told."""

import hashlib
from collections.abc import Sequence
from typing import Literal, get_args

from nkiport.contracts.base import Stage
from nkiport.contracts.judgement import Check

Outcome = Literal["accepted", "accepted_slow", "rejected"]
MOST_FINDINGS = 8
NEEDED: tuple[Stage, ...] = ("policy", "compile", "numbers", "plausibility")
"""Stages without which nothing is accepted: silence is not a pass."""


def in_order(checks: Sequence[Check]) -> tuple[Check, ...]:
    """The checks by stage, in the order in which stages are run."""
    order = get_args(Stage)
    return tuple(sorted(checks, key=lambda check: order.index(check.stage)))


def outcome(checks: Sequence[Check]) -> Outcome:
    """``accepted_slow`` if speed alone was missed, ``rejected`` if any stage failed or lacks."""
    failed = {check.stage for check in checks if check.result == "failed"}
    passed = {check.stage for check in checks if check.result == "passed"}
    if failed - {"performance"} or not set(NEEDED) <= passed:
        return "rejected"
    return "accepted_slow" if failed else "accepted"


def feedback(checks: Sequence[Check]) -> str:
    """The first failure, with every finding of it that a writer can use."""
    failed = next((check for check in in_order(checks) if check.result == "failed"), None)
    if failed is None:
        return ""
    sentences = [each.sentence() for each in failed.findings[:MOST_FINDINGS]] or [failed.detail]
    return "\n".join([f"{failed.stage}, {failed.name}:", *sentences])


def digest(check: Check) -> str:
    """The same failure gives the same digest: its stage, check and codes, with no numbers."""
    codes = sorted({(each.code, each.line) for each in check.findings}, key=str)
    text = f"{check.stage}|{check.name}|{codes}"
    return hashlib.sha256(text.encode()).hexdigest()[:16]
