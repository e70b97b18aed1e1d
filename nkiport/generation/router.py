"""Who writes the next attempt: one decision, a pure function, and a reason each time."""

from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import takewhile

from nkiport.contracts.base import BackendName

SPECIALIST_SCORE = 0.75
"""The skill look-up's score from which the specialist is chosen; inclusive."""
SPECIALIST_FAILURES = 2
"""So many specialist failures in a row escalate to Claude."""
SPECIALIST: BackendName = "custom_import"


@dataclass(frozen=True)
class Situation:
    """What the decision depends on."""

    asked: BackendName = "auto"
    available: frozenset[BackendName] = field(default_factory=frozenset)
    covered: bool = False
    """Whether the lowering has a rule for each op of the graph."""
    skill_score: float = 0.0
    failed: tuple[BackendName, ...] = ()
    """Who wrote the attempts that failed, oldest first."""
    escalated: bool = False


@dataclass(frozen=True)
class Choice:
    """The backend of the next attempt, or None when nobody is left; and why."""

    backend: BackendName | None
    reason: str
    escalated: bool = False


def route(situation: Situation) -> Choice:
    """Obey a pin; otherwise take the first rule that has an answer."""
    if situation.asked != "auto":
        return _pinned(situation)
    answers = (rule(situation) for rule in RULES)
    return next((answer for answer in answers if answer), Choice(None, _nobody(situation)))


def _pinned(at: Situation) -> Choice:
    if at.asked not in at.available:
        there = ", ".join(sorted(at.available)) or "none"
        return Choice(None, f"the job asks for '{at.asked}', which is not set up; there: {there}")
    if at.asked == "recipes" and "recipes" in at.failed:
        return Choice(None, "recipes are deterministic: another attempt would give the same kernel")
    return Choice(at.asked, f"the job asks for '{at.asked}'")


def _recipes(at: Situation) -> Choice | None:
    free = "recipes" in at.available and "recipes" not in at.failed
    if free and at.covered:
        return Choice("recipes", "the lowering covers the graph, for no tokens")
    return None


def _escalate(at: Situation) -> Choice | None:
    run = takewhile(lambda name: name == SPECIALIST, reversed(at.failed))
    due = at.escalated or len(list(run)) >= SPECIALIST_FAILURES
    if due and "claude" in at.available:
        reason = f"{SPECIALIST_FAILURES} specialist failures in a row; the last error goes along"
        return Choice("claude", reason, escalated=True)
    return None


def _specialist(at: Situation) -> Choice | None:
    if at.skill_score >= SPECIALIST_SCORE and SPECIALIST in at.available:
        return Choice(SPECIALIST, f"skill score {at.skill_score:.2f} >= {SPECIALIST_SCORE}")
    return None


def _claude(at: Situation) -> Choice | None:
    if "claude" in at.available:
        return Choice("claude", "recipes and the specialist do not apply")
    return None


def _failover(at: Situation) -> Choice | None:
    if "vllm" in at.available:
        return Choice("vllm", "Claude is not set up; failing over")
    return None


def _nobody(at: Situation) -> str:
    tried = "recipes were tried" if "recipes" in at.failed else "recipes do not cover the graph"
    return f"no backend is left: {tried}, and no model is set up"


RULES: tuple[Callable[[Situation], Choice | None], ...] = (
    _recipes, _escalate, _specialist, _claude, _failover,
)  # fmt: skip
