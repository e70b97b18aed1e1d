"""The skill database: patterns, recipes and mistakes, each with its source, and a look-up."""

from nkiport.skills.database import Entry, entries
from nkiport.skills.search import Hit, lookup

__all__ = ["Entry", "Hit", "entries", "lookup"]
