"""Engines: what runs candidates. The functional one simulates; others join behind the port."""

from nkiport.engines.functional import FunctionalEngine

__all__ = ["FunctionalEngine"]
