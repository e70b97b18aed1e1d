"""One stack per concern, and the constructs they share."""

from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
"""The repository."""
