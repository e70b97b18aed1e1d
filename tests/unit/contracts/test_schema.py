import pytest

from nkiport.contracts import schema


@pytest.mark.parametrize("name", sorted(schema.render()))
def test_the_checked_in_schema_is_what_the_message_says(name):
    assert (schema.FOLDER / name).read_text() == schema.render()[name]


def test_no_schema_is_left_of_a_message_that_is_gone():
    assert {path.name for path in schema.FOLDER.glob("*.json")} == set(schema.render())


@pytest.mark.parametrize("kind", schema.messages().values(), ids=lambda kind: kind.__name__)
def test_every_message_is_closed_and_frozen(kind):
    assert kind.model_config["extra"] == "forbid"
    assert kind.model_config["frozen"] is True
