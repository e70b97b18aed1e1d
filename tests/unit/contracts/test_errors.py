from nkiport.contracts import errors


def test_every_error_has_exactly_one_family():
    retryable = set(errors.wire_names(errors.Retryable))
    rejected = set(errors.wire_names(errors.Rejected))

    assert retryable | rejected == set(errors.wire_names(errors.NkiportError))
    assert not retryable & rejected


def test_the_drawing_at_the_top_names_every_error():
    drawn = {
        line.split("── ")[1].split()[0] for line in errors.__doc__.splitlines() if "──" in line
    }

    assert drawn >= set(errors.wire_names(errors.NkiportError))


def test_every_error_says_when_it_is_raised():
    for name in errors.wire_names(errors.NkiportError):
        assert getattr(errors, name).__doc__, name
