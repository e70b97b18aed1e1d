"""A patch writes only inside the tree, through no link, and to nothing that is run by its name."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nkiport.contracts.errors import UnsafePath
from nkiport.delivery import Tree, check_path


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("", "absolute or empty"),
        ("/etc/passwd", "absolute or empty"),
        ("C:/x.py", "absolute or empty"),
        ("~/x.py", "absolute or empty"),
        ("../x.py", "leaves the tree"),
        ("a/../../x.py", "leaves the tree"),
        ("a//b.py", "empty or '.' part"),
        ("./a.py", "empty or '.' part"),
        ("a\\b.py", "backslash"),
        ("a\nb.py", "not printable ASCII"),
        ("a/\u202eyp.b", "not printable ASCII"),
        (".git/hooks/post-checkout", "'.git' is protected"),
        ("sub/.GIT/config", "'.git' is protected"),
        ("GIT~1/config", "'git~1' is protected"),
        (".git./config", "'.git' is protected"),
        (".github/workflows/ci.yml", "'.github' is protected"),
        (".gitlab-ci.yml", "'.gitlab-ci.yml' is protected"),
        ("sub/.gitattributes", "'.gitattributes' is protected"),
        ("Jenkinsfile", "'jenkinsfile' is protected"),
        ("docs/CODEOWNERS", "'codeowners' is protected"),
        ("tests/conftest.py", "'conftest.py' is protected"),
        ("setup.py", "'setup.py' is protected"),
        ("linked/x.py", "'linked' is a link"),
        ("sub/link.py", "'sub/link.py' is a link"),
    ],
)
def test_an_unsafe_path_is_refused_with_its_reason(path, reason):
    tree = Tree(links=frozenset({"linked", "sub/link.py"}))

    with pytest.raises(UnsafePath) as refusal:
        check_path(path, tree)

    assert reason in str(refusal.value)
    assert "deliver to a relative path inside the repository" in str(refusal.value)


def test_every_reason_is_given_at_once():
    with pytest.raises(UnsafePath, match=r"absolute.*leaves the tree.*protected"):
        check_path("/../.git/x", Tree())


@pytest.mark.parametrize("path", ["a.py", "nki_kernels/x/kernel.py", "docs/git.md", "a/.gitkeep"])
def test_an_ordinary_path_is_allowed(path):
    assert check_path(path, Tree()) == path


@given(st.text(alphabet="./\\ab~:", max_size=12))
def test_an_allowed_path_stays_inside(path):
    try:
        check_path(path, Tree())
    except UnsafePath:
        return
    assert not path.startswith("/")
    assert ".." not in path.split("/")
    assert "\\" not in path
