"""How a broken rule ends a run."""

from nkiport.nki import Problem


class RuleBroken(Exception):
    """A rule of the language was broken; ends the run and becomes a finding."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(f"{problem.code}: {problem.asked}")
        self.problem = problem


def broken(code: str, asked: str, allowed: str = "", fix: str = "") -> RuleBroken:
    """Return the exception for one broken rule."""
    return RuleBroken(Problem(code, asked, allowed, fix))
