"""How long an exact p takes, as ratios to SciPy's on the same inputs.

    python benchmarks/stats_speed.py [--rounds 5] [--write]

A round times our Wilcoxon, then SciPy's ``method="exact"`` (which ignores ties), then SciPy's
``PermutationMethod`` (9,999 resamples, the default: an estimate; exact only where there are no
more sign patterns than that). Times are processor time, so that other programs disturb little;
ratios are of medians over the rounds of one run. With ``--write`` the table goes into
``docs/statistics.md``.
"""

from __future__ import annotations

import argparse
import platform
import random
import statistics
import time
import warnings
from collections.abc import Callable
from importlib import import_module
from importlib.metadata import version

from echoctl.exact import wilcoxon
from stats_compare import PAGE, put

SIZES = (10, 20, 64, 200, 500, 1000)
KINDS = {"untied": 10**9, "tied, 1 to 50": 50}


def main() -> None:
    """Print the table, or write it into the page."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--write", action="store_true", help="write docs/statistics.md")
    asked = parser.parse_args()
    text = "\n".join(_table(asked.rounds))
    if asked.write:
        put(PAGE, "stats_speed", text)
    else:
        print(text)


def _table(rounds: int) -> list[str]:
    lines = [
        f"`python benchmarks/stats_speed.py --rounds {rounds} --write`: CPython "
        f"{platform.python_version()}, SciPy {version('scipy')}, medians of {rounds} "
        "rounds, processor time. A "
        "ratio above 1 says that SciPy took longer.",
        "",
        "| units | sizes | ours, ms | SciPy exact / ours | SciPy permutation / ours |",
        "|--:|---|--:|--:|--:|",
    ]
    stats = import_module("scipy.stats")
    for n in SIZES:
        for kind, top in KINDS.items():
            chance = random.Random(n)
            d = [chance.randint(1, top) * chance.choice((-1, 1, 1)) for _ in range(n)]
            floats = [float(value) for value in d]
            resample = stats.PermutationMethod(n_resamples=9999)
            ways: list[Callable[[], object]] = [
                lambda d=d: wilcoxon(d, "greater"),  # type: ignore[misc]
                lambda f=floats: stats.wilcoxon(f, alternative="greater", method="exact"),  # type: ignore[misc]
                lambda f=floats, m=resample: stats.wilcoxon(f, alternative="greater", method=m),  # type: ignore[misc]
            ]
            taken: list[list[float]] = [[], [], []]
            for _ in range(rounds):
                for way, times in zip(ways, taken, strict=True):
                    begin = time.process_time()
                    way()
                    times.append(time.process_time() - begin)
            ours, exact, permuted = map(statistics.median, taken)
            cells = (
                n,
                kind,
                _two(ours * 1000),
                f"x{_two(exact / ours)}",
                f"x{_two(permuted / ours)}",
            )
            lines.append(f"| {' | '.join(map(str, cells))} |")
    return lines


def _two(value: float) -> str:
    """Write a number with two significant figures."""
    return f"{float(f'{value:.2g}'):,g}"


if __name__ == "__main__":
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        main()
