"""Where the local deployment keeps things, all below the repository."""

from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parents[2]
EMULATOR: Final = ROOT / ".build" / "emulator"
"""The emulator's own environment: its pins are not ours."""
ASSEMBLIES: Final = ROOT / ".build" / "assemblies"
STATE: Final = ROOT / ".nkiport"
