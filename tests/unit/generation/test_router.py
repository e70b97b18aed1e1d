"""One table: who is asked, in each situation, and why."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nkiport.generation import Situation, route

ALL = frozenset({"recipes", "claude", "custom_import", "vllm"})
NAMES = sorted(ALL)
SPECIALIST = "custom_import"


@pytest.mark.parametrize(
    ("situation", "backend"),
    [
        # A pin is obeyed, and nothing escalates from it.
        (Situation("claude", ALL, covered=True), "claude"),
        (Situation("custom_import", ALL, failed=(SPECIALIST,) * 5), "custom_import"),
        (Situation("vllm", frozenset({"recipes", "claude"})), None),
        (Situation("recipes", ALL), "recipes"),
        (Situation("recipes", ALL, failed=("recipes",)), None),
        # Recipes first, once, where they cover the graph.
        (Situation("auto", ALL, covered=True, skill_score=1.0), "recipes"),
        (Situation("auto", ALL, covered=True, failed=("recipes",)), "claude"),
        (Situation("auto", frozenset({"recipes"}), covered=True, failed=("recipes",)), None),
        (Situation("auto", frozenset({"recipes"})), None),
        # The specialist from a score of 0.75, inclusive, where there is one.
        (Situation("auto", ALL, skill_score=0.75), "custom_import"),
        (Situation("auto", ALL, skill_score=0.7499), "claude"),
        (Situation("auto", ALL - {SPECIALIST}, skill_score=1.0), "claude"),
        # Two specialist failures in a row escalate, for good.
        (Situation("auto", ALL, skill_score=0.9, failed=(SPECIALIST,)), "custom_import"),
        (Situation("auto", ALL, skill_score=0.9, failed=(SPECIALIST,) * 2), "claude"),
        (
            Situation("auto", ALL, skill_score=0.9, failed=("recipes", SPECIALIST, SPECIALIST)),
            "claude",
        ),
        (
            Situation("auto", ALL, skill_score=0.9, failed=("claude",), escalated=True),
            "claude",
        ),
        # Somebody else where Claude is not set up.
        (Situation("auto", ALL - {"claude"}), "vllm"),
        (Situation("auto", frozenset()), None),
    ],
)
def test_the_router_follows_its_table(situation, backend):
    choice = route(situation)

    assert choice.backend == backend
    assert choice.reason


def test_an_escalation_says_so():
    choice = route(Situation("auto", ALL, skill_score=0.9, failed=(SPECIALIST,) * 2))

    assert choice.escalated
    assert choice.reason == "2 specialist failures in a row; the last error goes along"


@given(
    asked=st.sampled_from(["auto", *NAMES]),
    available=st.frozensets(st.sampled_from(NAMES)),
    covered=st.booleans(),
    score=st.floats(0, 1),
    failed=st.lists(st.sampled_from(NAMES), max_size=6),
)
def test_nobody_is_asked_who_is_not_there(asked, available, covered, score, failed):
    choice = route(Situation(asked, available, covered, score, tuple(failed)))

    assert choice.backend is None or choice.backend in available
    assert asked == "auto" or choice.backend in {None, asked}
