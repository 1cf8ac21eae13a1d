"""The attacks forge the hand-made exam of tests/verify and attack real ones through the CLI."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "verify"))
