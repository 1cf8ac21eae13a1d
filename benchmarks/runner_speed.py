"""The runner and the evidence: two workers against one, the cost of a row, the commands' start.

    python benchmarks/runner_speed.py [--rounds 5] [--rows 5000 10000 ...] [--memx 4] [--quick]
                                      [--parts scaling cost start]
                                      [--write]

Scaling: the same jobs with one worker and with two, taking turns; the ratio is the median over
rounds, start-up of the workers included. Cost of a row: a whole exam (jobs, ledger, receipts,
verdict) and a verification, each in a process of its own, so that the peak of its memory is its
own; jobs have 250 rows, so a million rows are 4,000 jobs. The track does next to nothing a row:
what is measured is the evidence. Start-up: whole processes, beside an empty Python.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import _report

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
CHUNK = 250
SIZES = (5_000, 10_000, 100_000, 1_000_000)
QUICK = (5_000, 10_000, 20_000)
PARTS = ("scaling", "cost", "start")
FEW_ROWS = 100_000
"""Up to here an exam is measured once a round; above, once."""

CONTRACT = """\
schema: echoctl/1
id: busy
title: Busy
track: tracks/busy_track.py:Busy
question: What does a row of evidence cost?
does_not_claim: [anything]
reviews_required: 0
unit: {{name: unit, count: 10}}
arms:
  - {{id: plain, kind: control, gloss: plain}}
  - {{id: better, kind: treatment, gloss: better}}
worlds:
  development: {{families: [tame], per_unit: {development}}}
  exam: {{families: [wild], per_unit: {exam}, sealed: true, stand_in: {{wild: tame}}}}
seeds:
  development: {{base: 1000000, size: 100000}}
  rehearsal: {{base: 2000000, size: 1000000}}
  exam: {{base: 4000000, size: 1000000}}
measures:
  harm: {{better: lower}}
  steps: {{better: neither}}
settings: {{chunk: {chunk}, spin: {spin}}}
predictions:
  P1:
    text: The better arm is harmed less.
    all:
      - ratio: {{measure: harm, where: {{stage: exam}}, arm: better, to: plain, at_most: "0.60"}}
      - wilcoxon:
          {{measure: harm, where: {{stage: exam}}, arm: better, below: [plain], alpha: "0.05"}}
verdict:
  green: [P1]
"""


def workspace(folder: Path, *, development: int, exam: int, chunk: int, spin: int) -> Path:
    """Write a workspace with the busy track; counts are rows for each unit and arm."""
    (folder / "contracts").mkdir(parents=True)
    (folder / "tracks").mkdir()
    shutil.copy(HERE / "busy_track.py", folder / "tracks")
    text = CONTRACT.format(development=development, exam=exam, chunk=chunk, spin=spin)
    (folder / "contracts" / "busy.yaml").write_text(text, encoding="utf-8")
    return folder


def peak_mb() -> int:
    """Return the most memory that this process ever held, in MB."""
    for line in Path("/proc/self/status").read_text(encoding="ascii").splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) // 1024
    raise RuntimeError("this system does not tell a process's peak memory")


def clocked() -> Any:  # noqa: ANN401 - the class is made here, so that --help needs no engine
    """Return the local engine with a clock that runs from each start to each stop."""
    from echoctl.runner.local import Local
    from echoctl.runner.run import Code

    class Clocked(Local):
        seconds = 0.0
        began: float | None = None
        ended = 0.0

        def start(self, code: Code, workers: int) -> None:
            self.began = time.perf_counter()
            super().start(code, workers)

        def stop(self) -> None:
            super().stop()
            if self.began is not None:
                self.ended = time.perf_counter()
                self.seconds += self.ended - self.began
                self.began = None

    return Clocked()


# --- phases, each in a process of its own -----------------------------------------------------


def phase_freeze(folder: Path) -> dict[str, float]:
    """Preflight and freeze."""
    from echoctl import desk

    ws = desk.Workspace.find(folder)
    desk.preflight(ws, "busy")
    desk.freeze(ws, "busy")
    return {"peak": peak_mb()}


def phase_exam(folder: Path) -> dict[str, float]:
    """Play the exam; tell the opening, the run (jobs, files, ledger) and the verdict apart."""
    from echoctl import desk

    engine = clocked()
    began = time.perf_counter()
    decided = desk.exam(desk.Workspace.find(folder), "busy", engine=engine)
    over = time.perf_counter()
    return {
        "rows": decided.rows, "jobs": decided.jobs, "peak": peak_mb(),
        "open": engine.ended - engine.seconds - began, "play": engine.seconds,
        "decide": over - engine.ended,
    }  # fmt: skip


def phase_verify(folder: Path) -> dict[str, float]:
    """Let the second opinion check everything."""
    from echoctl import verify

    began = time.perf_counter()
    with contextlib.redirect_stdout(io.StringIO()) as said:
        code = verify.main([str(folder), "busy"])
    if code:
        raise RuntimeError(said.getvalue())
    return {"verify": time.perf_counter() - began, "peak": peak_mb()}


def phase_write(folder: Path, rows: int) -> dict[str, float]:
    """Write one outcome of so many rows, as a worker does."""
    from echoctl.track.files import OutcomeWriter
    from echoctl.track.job import Job

    row = {"stage": "exam", "family": "wild", "round": 1, "harm": 2, "steps": 41}
    began = time.perf_counter()
    with OutcomeWriter(folder / "out", Job("write", "exam", {"unit": 1}), ["harm", "steps"]) as out:
        for number in range(rows):
            out.row({**row, "episode": number, "seed": 4_000_000 + number})
        out.finish(artefacts={}, digests={})
    return {"write": time.perf_counter() - began, "peak": peak_mb()}


def phase_scale(folder: Path, id: str, workers: int, units: int) -> dict[str, float]:
    """Play development and return the runner's wall time, training included."""
    from echoctl import desk

    engine = clocked()
    ws = desk.Workspace.find(folder)
    played = desk.dev(ws, id, units=units, workers=workers, engine=engine)
    shutil.rmtree(played.folder)
    return {"seconds": engine.seconds, "rows": played.rows, "jobs": played.jobs}


PHASES: dict[str, Callable[..., dict[str, float]]] = {
    "freeze": phase_freeze, "exam": phase_exam, "verify": phase_verify, "write": phase_write,
    "scale": phase_scale,
}  # fmt: skip


def run_phase(name: str, folder: Path, *words: object) -> dict[str, float]:
    """Run a phase in a fresh interpreter and return its figures."""
    done = subprocess.run(
        [sys.executable, __file__, "--phase", name, str(folder), *map(str, words)],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    if done.returncode:
        raise SystemExit(f"{name} failed:\n{done.stdout}{done.stderr}")
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return found


# --- what is measured -------------------------------------------------------------------------


def scaling(place: Path, rounds: int, memx: int, *, quick: bool) -> str:
    """Return the table of one worker against two."""
    toy = workspace(
        place / "scale", development=20 if quick else 100, exam=20, chunk=10,
        spin=4_000 if quick else 20_000,
    )  # fmt: skip
    asked = [("CPU-bound toy", toy, "busy", 10)]
    if memx:
        there = place / "memx"
        (there / "contracts").mkdir(parents=True)
        shutil.copy(ROOT / "contracts" / "memx.yaml", there / "contracts")
        asked.append((f"memx, training and development of {memx} macro-seeds", there, "memx", memx))
    rows = []
    for name, folder, id, units in asked:
        run_phase("scale", folder, id, 2, units)  # bytecode and caches of the system
        pairs = []
        for number in range(rounds):
            pair = {}
            for workers in (1, 2) if number % 2 else (2, 1):
                found = run_phase("scale", folder, id, workers, units)
                pair[workers] = found["seconds"]
            pairs.append((pair[1], pair[2], pair[1] / pair[2]))
            print(f"{name}: {pairs[-1]}", file=sys.stderr)
        one, two, ratio = (statistics.median(column) for column in zip(*pairs, strict=True))
        lowest = min(pair[2] for pair in pairs)
        rows.append([
            name, f"{found['jobs']:,.0f}", f"{found['rows']:,.0f}", f"{one:.2f}", f"{two:.2f}",
            f"x{ratio:.2f}", f"x{lowest:.2f}",
        ])  # fmt: skip
    head = ["jobs", "number", "rows", "1 worker, s", "2 workers, s", "ratio", "lowest round"]
    return _report.table(head, rows)


def cost(place: Path, sizes: Sequence[int], rounds: int) -> str:
    """Return the table of the cost of a row.

    *Further* is what a row costs beyond those of the smallest exam: starting workers and an
    interpreter is paid once, so it belongs to no row. Its ratio is to 10,000 rows.
    """
    found = {}
    for size in sizes:
        repeated = []
        for number in range(rounds if size <= FEW_ROWS else 1):
            folder = place / f"cost-{size}-{number}"
            workspace(folder, development=10, exam=size // 20, chunk=CHUNK, spin=0)
            run_phase("freeze", folder)
            exam = run_phase("exam", folder)
            if exam["rows"] != size:
                raise SystemExit(f"{exam['rows']} rows were played where {size} were meant")
            verified = run_phase("verify", folder)
            (folder / "write").mkdir()
            written = run_phase("write", folder / "write", size)
            shutil.rmtree(folder)
            micro = {
                "write": written["write"], "play": exam["play"], "decide": exam["decide"],
                "verify": verified["verify"],
            }  # fmt: skip
            repeated.append({
                **{name: seconds * 1e6 / size for name, seconds in micro.items()},
                "sum": (sum(micro.values()) - micro["write"]) * 1e6 / size,
                "jobs": exam["jobs"], "open": exam["open"], "write_peak": written["peak"],
                "exam_peak": exam["peak"], "verify_peak": verified["peak"],
            })  # fmt: skip
        print(f"{size:,} rows: {repeated}", file=sys.stderr)
        found[size] = {
            name: statistics.median(one[name] for one in repeated) for name in repeated[0]
        }
    least = min(sizes)
    further = {
        size: (one["sum"] * size - found[least]["sum"] * least) / (size - least)
        for size, one in found.items()
        if size > least
    }
    base = further.get(10_000, next(iter(further.values()), 1.0))
    rows = [
        [
            f"{size:,}", f"{one['jobs']:,.0f}", f"{one['open']:.1f}",
            *(f"{one[name]:.1f}" for name in ("write", "play", "decide", "verify")),
            f"{one['sum']:.1f}",
            *(
                (f"{further[size]:.1f}", f"x{further[size] / base:.2f}")
                if size in further
                else ("", "")
            ),
            *(f"{one[name]:.0f}" for name in ("write_peak", "exam_peak", "verify_peak")),
        ]
        for size, one in found.items()
    ]  # fmt: skip
    head = [
        "rows", "jobs", "opening, s", "outcome alone", "jobs and ledger", "verdict", "verify",
        "last three", "further", "to 10,000 rows", "peak MB, outcome", "exam", "verify",
    ]  # fmt: skip
    return _report.table(head, rows)


def start_up(place: Path, rounds: int) -> str:
    """Return the table of whole processes from start to end."""
    there = place / "start"
    (there / "contracts").mkdir(parents=True)
    for path in sorted((ROOT / "contracts").glob("*.yaml")):
        shutil.copy(path, there / "contracts")
    command = str(Path(sys.executable).with_name("echoctl"))
    asked = {
        "an empty Python": [sys.executable, "-c", "pass"],
        "echoctl --help": [command, "--help"],
        "echoctl list": [command, "list", "--workspace", str(there)],
    }
    seconds: dict[str, list[float]] = {name: [] for name in asked}
    for number in range(rounds + 1):
        for name, words in asked.items():
            began = time.perf_counter()
            subprocess.run(words, check=True, stdout=subprocess.DEVNULL)
            if number:  # the first of each fills the system's caches
                seconds[name].append(time.perf_counter() - began)
    rows = [
        [name, f"{statistics.median(all_):.3f}", f"{min(all_):.3f}", f"{max(all_):.3f}"]
        for name, all_ in seconds.items()
    ]
    return _report.table(["process", "median, s", "fastest", "slowest"], rows)


def main() -> None:
    """Measure, print, and write if asked."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n\n")[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--rows", type=int, nargs="*", default=list(SIZES))
    parser.add_argument("--memx", type=int, default=4, help="macro-seeds of memx; 0 leaves it out")
    parser.add_argument("--parts", nargs="*", default=list(PARTS), choices=PARTS)
    parser.add_argument("--quick", action="store_true", help="small and once: is it all alive?")
    parser.add_argument("--write", action="store_true", help="put it into docs/performance.md")
    parser.add_argument("--phase", nargs="+", help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.phase:
        name, folder, *words = asked.phase
        given = [int(word) if word.isdecimal() else word for word in words]
        print(json.dumps(PHASES[name](Path(folder), *given)))
        return
    if asked.quick:
        asked.rounds, asked.rows, asked.memx = 1, list(QUICK), min(asked.memx, 1)
    with tempfile.TemporaryDirectory(prefix="echoctl-bench-") as scratch:
        place = Path(scratch)
        parts = []
        if "scaling" in asked.parts:
            parts += [
                "One worker against two, worker start-up included:", "",
                scaling(place, asked.rounds, asked.memx, quick=asked.quick), "",
            ]  # fmt: skip
        if "cost" in asked.parts:
            parts += [
                f"Microseconds a row, jobs of {CHUNK} rows, two workers; peak memory in MB of the "
                "process that writes one outcome of that many rows, of the exam and of the "
                "verifier:", "",
                cost(place, asked.rows, asked.rounds), "",
            ]  # fmt: skip
        if "start" in asked.parts:
            parts += ["Start-up, whole processes:", "", start_up(place, max(3, 3 * asked.rounds))]
    words = ["--quick"] if asked.quick else ["--rounds", str(asked.rounds)]
    what = f"{os.cpu_count()} cores, medians of {asked.rounds} rounds"
    text = "\n".join([_report.how("runner_speed", [*words, "--write"], what), "", *parts])
    print("\n" + text)
    if asked.write:
        if set(asked.parts) != set(PARTS):
            raise SystemExit("--write wants all --parts, measured in one run")
        _report.write("runner_speed", text)


if __name__ == "__main__":
    main()
