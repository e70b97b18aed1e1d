"""Runs references in a child: what they compute, and what they give on inputs we draw."""

from nkiport.capture.child import REFERENCE_LIMITS, ChildReferences

__all__ = ["REFERENCE_LIMITS", "ChildReferences"]
