"""The ledger holds each call once, and its sum never passes the cap."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nkiport.contracts.errors import SpendCapReached
from nkiport.contracts.jobs import Attempt
from nkiport.generation import Usage
from nkiport.jobs.ledger import AttemptMeter, entries, spent
from tests.unit.jobs.loop import JOB, KERNEL, World

amounts = st.floats(min_value=0.01, max_value=2, allow_nan=False)


def meter(made, number, cap=5.0):
    attempt = Attempt(job_id=JOB, kernel_id=KERNEL, attempt=number, backend="claude", why="test")
    return AttemptMeter(attempt, cap_usd=cap, **made.ports)


def test_a_reservation_counts_until_the_call_is_settled():
    made = World()
    one = meter(made, 1)
    one.reserve("m", 2.0)
    assert spent(made.records, JOB) == 2.0

    one.settle("said", Usage(0.5, 10, 20, 1.5))

    (entry,) = entries(made.records, JOB, KERNEL)
    assert spent(made.records, JOB) == 0.5
    assert (entry.input_tokens, entry.output_tokens, entry.seconds) == (10, 20, 1.5)


def test_settling_twice_is_settling_once():
    made = World()
    one = meter(made, 1)
    one.reserve("m", 2.0)
    one.settle("said", Usage(0.5, 10, 20, 1.5))
    one.settle("said again", Usage(0.9, 99, 99, 9.9))

    assert spent(made.records, JOB) == 0.5
    assert one.recall() == "said"


def test_a_refused_call_leaves_nothing_set_aside():
    made = World()

    with pytest.raises(SpendCapReached, match=r"cap is 1.00 USD: raise spend_cap_usd"):
        meter(made, 1, cap=1.0).reserve("m", 1.01)

    assert spent(made.records, JOB) == 0.0


def test_a_refused_call_may_be_asked_for_again_when_others_cost_less():
    made = World()
    first, second = meter(made, 1, cap=1.0), meter(made, 2, cap=1.0)
    first.reserve("m", 0.8)
    with pytest.raises(SpendCapReached):
        second.reserve("m", 0.8)
    first.settle("said", Usage(0.1, 1, 1, 1.0))

    second.reserve("m", 0.8)

    assert spent(made.records, JOB) == pytest.approx(0.9)


@given(st.lists(st.tuples(amounts, st.floats(min_value=0, max_value=1)), max_size=12))
def test_no_sequence_of_calls_passes_the_cap(calls):
    made, cap = World(), 3.0
    for number, (most, share) in enumerate(calls, start=1):
        one = meter(made, number, cap=cap)
        try:
            one.reserve("m", most)
        except SpendCapReached:
            continue
        one.settle("said", Usage(most * share, 1, 1, 1.0))

        assert spent(made.records, JOB) <= cap
