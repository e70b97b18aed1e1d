"""Runs hostile code in a child process behind every wall that the host lets us raise."""

from nkiport.sandbox.child import run_child
from nkiport.sandbox.limits import ChildResult, Limits, Outcome

__all__ = ["ChildResult", "Limits", "Outcome", "run_child"]
