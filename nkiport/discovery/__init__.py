"""The static walk of a source tree: what is there to migrate. Nothing of the tree is imported."""

from nkiport.discovery.walk import discover

__all__ = ["discover"]
