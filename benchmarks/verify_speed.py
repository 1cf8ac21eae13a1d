"""The second opinion on an exam of memx's size: 180 outcome files of 200 rows, Python alone.

    python benchmarks/verify_speed.py [--files 180] [--rows 200] [--rounds 3]

Builds a sealed exam in a temporary folder, then runs ``python -I -S verify.py`` on it as a whole
process: no package can be imported. Prints the median of a few rounds, and the cost per row.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests" / "verify"))

import exam_builder as builder  # noqa: E402  (found beside the tests)

from echoctl import verify  # noqa: E402


def exam(files: int, rows: int) -> builder.Exam:
    """Return an exam of about so many outcome files, each of so many rows."""
    units = max(files // (len(builder.ARMS) * len(builder.REGIMES)), 1)
    episodes = max(rows // len(builder.FAMILIES), 1)
    return builder.build(builder.contract(units=units, episodes=episodes))


def measure(place: Path) -> float:
    """Return how long one whole run takes, in seconds."""
    began = time.perf_counter()
    run = subprocess.run(
        [sys.executable, "-I", "-S", verify.__file__, str(place)],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    if run.returncode:
        raise SystemExit(run.stdout + run.stderr)
    return time.perf_counter() - began


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--files", type=int, default=180)
    parser.add_argument("--rows", type=int, default=200)
    parser.add_argument("--rounds", type=int, default=3)
    asked = parser.parse_args()
    print(f"{'files':>6} {'rows':>9} {'seconds':>8} {'microseconds a row':>19}")
    for files, rows in ((18, asked.rows), (asked.files, asked.rows)):
        with tempfile.TemporaryDirectory() as place:
            made = exam(files, rows)
            count = sum(line["data"]["rows"] for line in made.ledger if line["event"] == "done")
            outcomes = sum(line["event"] == "done" for line in made.ledger)
            made.write(Path(place))
            seconds = statistics.median(measure(Path(place)) for _ in range(asked.rounds))
        print(f"{outcomes:>6} {count:>9} {seconds:>8.2f} {seconds / count * 1e6:>19.1f}")


if __name__ == "__main__":
    main()
