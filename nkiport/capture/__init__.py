"""Runs references in a child: what they compute, and what they give on inputs we draw."""

from nkiport.capture.child import ChildReferences

__all__ = ["ChildReferences"]
