"""Dollars for tokens."""

import pytest

from nkiport.generation import Answer
from nkiport.generation.prices import price_list, price_of


def answer(**tokens):
    counts = dict.fromkeys(
        ("input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens"), 0
    )
    return Answer(tool_input=None, text="", stop_reason="", seconds=0, **(counts | tokens))


@pytest.mark.parametrize(
    ("tokens", "usd"),
    [
        ({"input_tokens": 1_000_000}, 5.0),
        ({"output_tokens": 1_000_000}, 25.0),
        ({"cache_read_tokens": 1_000_000}, 0.5),
        ({"cache_write_tokens": 1_000_000}, 6.25),
    ],
)
def test_each_kind_of_token_has_its_price(tokens, usd):
    assert price_of("global.anthropic.claude-opus-4-8").of(answer(**tokens)) == usd


def test_a_regional_profile_costs_the_premium():
    price = price_of("us.anthropic.claude-opus-4-8")

    assert price.of(answer(input_tokens=1_000_000)) == pytest.approx(5.5)


def test_an_unknown_model_is_priced_as_the_dearest():
    dearest = max(each.output for each in price_list().models.values())

    assert price_of("arn:aws:bedrock:us-east-1:1:application-inference-profile/x").output >= dearest


def test_the_prices_say_where_and_when_they_were_read():
    assert price_list().source.startswith("https://")
    assert len(price_list().read) == len("2026-01-01")
