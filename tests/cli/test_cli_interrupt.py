from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from commands import Run, act


@pytest.mark.skipif(os.name != "posix", reason="signals to a group of processes")
def test_ctrl_c_in_an_exam_ends_with_4_and_the_command_it_names_resumes_it(
    run: Run, toy: Path
) -> None:
    path = toy / "contracts" / "toy.yaml"
    path.write_text(path.read_text() + "settings: {nap: 20}\nreviews_required: 0\n")
    act(toy, "preflight", "toy")
    act(toy, "freeze", "toy")
    process = subprocess.Popen(
        [sys.executable, "-m", "echoctl", "exam", "toy", "--workers", "2"],
        cwd=toy, start_new_session=True, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    ledger = toy / "artifacts" / "toy" / "ledger.jsonl"
    deadline = time.monotonic() + 60
    while b'"event":"done"' not in ledger.read_bytes() and time.monotonic() < deadline:
        time.sleep(0.02)
    os.killpg(process.pid, signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 4, err
    assert "Traceback" not in err
    assert "GREEN" not in out + err
    assert "echoctl exam toy --resume" in err
    assert run("status", "toy", "-w", toy, "--json").json["state"] == "opened"
    assert run("exam", "toy", "-w", toy).code == 3
    ran = run("exam", "toy", "--resume", "-w", toy)
    assert ran.code == 0
    assert "GREEN" in ran.out
