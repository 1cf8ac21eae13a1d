"""A track for the runner's tests: each job does what its inputs say."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from echoctl.track import Job, Row, Track, Workbench

if TYPE_CHECKING:
    from echoctl.contract import Contract
    from echoctl.contract.seeds import Seeds


class BenchTrack(Track):
    id = "bench"

    def plan(self, contract: Contract, seeds: Seeds, phase: str) -> Sequence[Job]:
        return []

    def play(self, job: Job, bench: Workbench) -> Iterator[Row]:
        inputs: Any = job.inputs
        for row in range(inputs.get("rows", 3)):
            if "die_once" in inputs and row == 1 and not Path(inputs["die_once"]).exists():
                Path(inputs["die_once"]).touch()
                os.kill(os.getpid(), signal.SIGKILL)
            if inputs.get("die"):
                os._exit(7)
            if inputs.get("raise"):
                raise RuntimeError("what a track may raise")
            if "errno" in inputs:
                raise OSError(inputs["errno"], os.strerror(inputs["errno"]))
            if inputs.get("print"):
                print("what a track may print")
            if inputs.get("nap"):
                time.sleep(inputs["nap"] / 1000)
            if "open" in inputs:
                Path(inputs["open"]).read_bytes()
            if "data" in inputs:
                bench.digest(f"data{row}", bench.data(inputs["data"]).decode())
            if inputs.get("where") and row == 0:
                ours = sorted(
                    n for n in sys.modules if n.split(".")[0] in {"echoctl", "bench_track"}
                )
                files = {str(sys.modules[name].__file__).split("!")[0] for name in ours}
                bench.digest("where", "|".join(sorted({f[: f.find(".zip") + 4] for f in files})))
            if inputs.get("missing"):
                import echoctl.contract  # noqa: F401
            if inputs.get("world"):
                bench.world("LavaGapS7", inputs["world"], ("A1",), "development")
            harm: Any = inputs.get("harm", row)
            yield {
                "stage": "s", "family": "f", "round": 1, "episode": row, "seed": row, "harm": harm
            }  # fmt: skip
