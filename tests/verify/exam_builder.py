"""A small sealed exam made by hand from docs/formats.md, and the tools to forge one.

Nothing here uses the code that seals real exams, so that two readings of that page meet. Only
the contract's canonical form and the verdict come from the rooms that own them: the verifier's
arithmetic is to be compared with theirs.
"""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import zipfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from echoctl import verify
from echoctl.contract import Contract
from echoctl.contract.canonical import canonical_bytes, canonical_json
from echoctl.track import Outcome
from echoctl.verdict import decide

ID = "toy"
MEASURES = ("destroyed", "harm", "success")
ARMS = ("learned", "empty", "shuffled")
REGIMES = ("A1", "A2")
FAMILIES = ("Near", "Far")
EPISODES = 3
ROWS = ("stage", "family", "round", "episode", "seed")

WORKER = b'''"""Plays toy jobs: the protocol of docs/formats.md in a few lines."""

import gzip
import hashlib
import json
import sys


def dump(value):
    return json.dumps(value, separators=(",", ":"), sort_keys=True).encode() + b"\\n"


def harm(arm, unit, regime, family, seed):
    level = {"learned": 1, "empty": 9, "shuffled": 7}[arm]
    return level + (unit * level + seed) % 3


for line in sys.stdin:
    asked = json.loads(line)
    if asked["op"] == "setup":
        measures = asked["measures"]
        print(json.dumps({"ready": True}), flush=True)
        continue
    job = asked["job"]
    for needed in asked["needs"].values():
        with open(needed["path"], "rb") as source:
            assert hashlib.sha256(source.read()).hexdigest() == needed["sha256"]
    columns = ["stage", "family", "round", "episode", "seed", *measures]
    digest = hashlib.sha256(b"echoctl/job/1\\n" + dump(job)[:-1]).hexdigest()
    body = dump({"columns": columns, "job": job["id"], "keys": job["keys"],
                 "job_digest": digest, "schema": "echoctl/outcome/1"})
    keys, rows = job["keys"], 0
    made = {}
    for name, place in asked["makes"].items():
        with open(place, "wb") as out:
            out.write(job["inputs"]["memory"].encode())
        made[name] = hashlib.sha256(job["inputs"]["memory"].encode()).hexdigest()
    for family, seeds in job["inputs"].get("seeds", []):
        for episode, seed in enumerate(seeds):
            hurt = harm(keys["arm"], keys["unit"], keys["regime"], family, seed)
            body += dump(["exam", family, 1, episode, seed, 0, hurt, 10 - hurt])
            rows += 1
    body += dump({"artefacts": made, "digests": {}, "end": True, "rows": rows})
    with open(asked["out"], "wb") as out:
        with gzip.GzipFile(filename="", mode="wb", fileobj=out, mtime=0) as packed:
            packed.write(body)
    print(json.dumps({"at": rows}), flush=True)
    digest = hashlib.sha256(b"echoctl/outcome/1\\n" + body).hexdigest()
    print(json.dumps({"done": {"outcome": digest, "rows": rows, "artefacts": {}, "opened": []}}),
          flush=True)
'''


def dump(value: object) -> bytes:
    """Return canonical bytes of a value with plain ASCII keys."""
    return json.dumps(value, separators=(",", ":"), sort_keys=True, ensure_ascii=False).encode()


def role(name: str, data: bytes) -> str:
    return hashlib.sha256(f"echoctl/{name}/1\n".encode() + data).hexdigest()


def sha(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def packed(data: bytes) -> bytes:
    out = io.BytesIO()
    with gzip.GzipFile(filename="", mode="wb", fileobj=out, mtime=0, compresslevel=6) as target:
        target.write(data)
    return out.getvalue()


def zipped(files: Mapping[str, bytes]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_STORED) as target:
        for name, data in sorted(files.items()):
            entry = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
            entry.external_attr = 0o100644 << 16
            entry.create_system = 3
            target.writestr(entry, data)
    return out.getvalue()


def tupled(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: tupled(inner) for key, inner in value.items()}
    return tuple(tupled(inner) for inner in value) if isinstance(value, list | tuple) else value


def contract(units: int = 7, episodes: int = EPISODES, **more: Any) -> Contract:
    """Return the toy contract: learned is to hurt itself less than empty and shuffled."""
    kinds = {"learned": "treatment", "empty": "control", "shuffled": "control"}
    ratio = {"measure": "harm", "arm": "learned", "to": "empty", "at_most": "0.30"}
    tests = {
        "measure": "harm", "arm": "learned", "below": ["empty", "shuffled"],
        "alpha": "0.05", "correction": "holm", "where": {"regime": "A1"},
    }  # fmt: skip
    least = {"measure": "success", "arm": "learned", "than": ["empty"], "where": {"regime": "A2"}}
    base: dict[str, Any] = {
        "schema": "echoctl/1", "id": ID, "title": "Toy", "track": "toy.py:Toy", "question": "?",
        "does_not_claim": ["anything"], "unit": {"name": "macro", "count": units},
        "arms": [{"id": arm, "kind": kinds[arm], "gloss": arm} for arm in ARMS],
        "regimes": list(REGIMES),
        "worlds": {"exam": {"families": list(FAMILIES), "per_unit": episodes, "sealed": True}},
        "seeds": {"exam": {"base": 2_000_000}, "spare": {"base": 4_000_000, "size": 100}},
        "measures": {
            "harm": {"better": "lower"}, "success": {"better": "higher"},
            "destroyed": {"better": "neither"},
        },
        "predictions": {
            "P1": {"text": "less harm", "all": [{"ratio": ratio}, {"wilcoxon": tests}]},
            "P2": {"text": "no less success", "all": [{"not_lower": least}]},
            "P3": {"text": "shown", "decides": False, "all": [
                {"share": {"measure": "harm", "arm": "learned", "relation": "above",
                           "than": "shuffled", "at_least": "1/2"}},
            ]},
        },
        "invariants": [{"equal": {"measure": "destroyed", "to": 0}}],
        "verdict": {
            "green": ["P1", "P2"],
            "labels": [{"when": {"pass": ["P1"], "fail": ["P3"]}, "text": "as hoped"}],
        },
        "reviews_required": 1, "tests": ["test_toy.py"],
    }  # fmt: skip
    return Contract.model_validate(tupled({**base, **more}))


def harm(arm: str, unit: int, regime: str, family: str, seed: int) -> int:
    """Return the harm of one episode, as the worker above plays it."""
    level = {"learned": 1, "empty": 9, "shuffled": 7}[arm]
    return level + (unit * level + seed) % 3


@dataclass
class Exam:
    """Every file of one exam by its name in the workspace, and the ledger as objects."""

    files: dict[str, bytes] = field(default_factory=dict)
    ledger: list[dict[str, Any]] = field(default_factory=list)
    ident: str = ID

    @property
    def home(self) -> str:
        return f"artifacts/{self.ident}/"

    @property
    def head(self) -> list[Any]:
        lines = [dump(line) for line in self.ledger]
        last = role("ledger", lines[-1]) if lines else role("ledger", self.ident.encode())
        return [len(lines), last]

    def tell(self, event: str, **data: Any) -> None:
        """Append one ledger line."""
        n, prev = self.head
        time = f"2026-12-03T10:{n // 60 % 60:02d}:{n % 60:02d}Z"
        self.ledger.append({"data": data, "event": event, "n": n, "prev": prev, "time": time})

    def relink(self) -> None:
        """Count and chain the ledger again after somebody changed it (a forger would)."""
        lines, self.ledger = self.ledger, []
        for line in lines:
            n, prev = self.head
            data = dict(line["data"])
            if line["event"] == "done":
                data["head"] = [n, prev]
            self.ledger.append({**line, "data": data, "n": n, "prev": prev})
        self.save()

    def save(self) -> None:
        """Write the ledger file."""
        text = b"".join(dump(line) + b"\n" for line in self.ledger)
        self.files[self.home + "ledger.jsonl"] = text

    def find(self, event: str) -> dict[str, Any]:
        """Return the last ledger line of a kind."""
        return next(line for line in reversed(self.ledger) if line["event"] == event)

    def write(self, folder: Path) -> Path:
        """Write every file below a folder."""
        for name, data in self.files.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
        return folder

    @classmethod
    def read(cls, folder: Path, ident: str = ID) -> Exam:
        """Return the exam in a workspace."""
        names = [path for path in folder.rglob("*") if path.is_file()]
        files = {path.relative_to(folder).as_posix(): path.read_bytes() for path in names}
        lines = files[f"artifacts/{ident}/ledger.jsonl"].splitlines()
        return cls(files, [json.loads(line) for line in lines], ident)

    def tree(self) -> verify.Tree:
        """Return the files as a tree that no disk is needed for."""
        return InMemory(dict(self.files))

    def verified(self, **options: Any) -> verify.Report:
        """Return what the verifier says."""
        return verify.verify(self.tree(), self.ident, verify.Options(**options))


class InMemory(verify.Tree):
    """A tree of bytes in memory."""

    def __init__(self, files: dict[str, bytes]) -> None:
        self.files = files

    def names(self) -> list[str]:
        return sorted(self.files)

    def read(self, name: str) -> bytes:
        return self.files[name]

    def odd(self) -> list[str]:
        return []


def build(
    terms: Contract | None = None,
    harm_of: Callable[[str, int, str, str, int], int] = harm,
    *,
    memories: bool = True,
    decided: bool = True,
    reads_as: Contract | None = None,
    by_hand: str = "",
) -> Exam:
    """Return an exam that was sealed, opened, played and (if `decided`) reported.

    With `reads_as` the YAML is another contract's: what people read is not what decides.
    The memory `by_hand` is sealed longer than its training makes it.
    """
    terms = terms or contract()
    exam, ident = Exam(ident=terms.id), terms.id
    canonical = canonical_bytes(terms)
    text = yaml.safe_dump(canonical_json(reads_as or terms), allow_unicode=True)
    written = b"# the contract as it was written\n" + text.encode()
    seeds = _seeds(terms)
    exam.files[f"seeds/{ident}.json"] = dump(seeds) + b"\n"
    exam.tell("preflight", contract=sha(written), canonical=sha(canonical), seeds=seeds["hash"],
              lint="", environment={})  # fmt: skip
    review = b"Two findings.\n"
    exam.files[exam.home + "reviews/1.md"] = review
    exam.tell("review", reviewer="somebody", file="reviews/1.md", hash=sha(review),
              findings=[{"id": "R1", "blocking": True, "text": "seeds?"}])  # fmt: skip
    exam.tell("finding", review=1, id="R1", action="laid out again")
    _freeze(exam, terms, written, canonical, seeds, memories=memories, by_hand=by_hand)
    _claim(exam)
    outcomes = _play(exam, terms, seeds, harm_of)
    if decided:
        _decide(exam, terms, outcomes)
    exam.save()
    return exam


def _seeds(terms: Contract) -> dict[str, Any]:
    following, stage = terms.seeds["exam"].base, terms.worlds["exam"]
    family: dict[str, dict[str, list[list[int]]]] = {name: {} for name in stage.families}
    for unit in range(1, terms.unit.count + 1):
        for name in stage.families:
            family[name][str(unit)] = [list(range(following, following + stage.per_unit))]
            following += stage.per_unit
    base = terms.seeds["exam"].base
    blocks: dict[str, Any] = {"exam": {"base": base, "size": following - base, "family": family}}
    for name, block in terms.seeds.items():
        blocks.setdefault(name, {"base": block.base, "size": block.size, "family": {}})
    body = {"schema": "echoctl/seeds/1", "contract": terms.id, "blocks": blocks}
    return {**body, "hash": role("seeds", dump(body))}


def job_list(terms: Contract, seeds: dict[str, Any], *, memories: bool) -> list[dict[str, Any]]:
    jobs = []
    for unit in range(1, terms.unit.count + 1):
        for regime in terms.regimes:
            for arm in (one.id for one in terms.arms):
                laid = seeds["blocks"]["exam"]["family"]
                inputs = {"seeds": [[name, laid[name][str(unit)][0]] for name in laid]}
                jobs.append({
                    "id": f"{unit:02d}-{regime.lower()}-{arm}", "phase": "exam",
                    "keys": {"arm": arm, "regime": regime, "unit": unit}, "inputs": inputs,
                    "needs": [f"memory-{unit:02d}"] if memories and arm == "learned" else [],
                    "makes": [],
                })  # fmt: skip
    return jobs


def memory(name: str, size: int = 4) -> tuple[bytes, list[Any]]:
    """Return a memory's bytes and its head."""
    prev, out = role("memory", name.encode()), b""
    for n in range(size):
        line = dump({"id": 7, "action": n, "role": "HURT", "n": n, "prev": prev})
        out, prev = out + line + b"\n", role("memory", line)
    return out, [size, prev]


def _freeze(
    exam: Exam, terms: Contract, written: bytes, canonical: bytes, seeds: dict[str, Any],
    *, memories: bool, by_hand: str,
) -> None:  # fmt: skip
    frozen = exam.home + "frozen/"
    test, code = (
        b"def test_toy():\n    assert True\n",
        {"__main__.py": WORKER, "toy.py": b"# toy\n"},
    )
    jobs = job_list(terms, seeds, memories=memories)
    lines = [dump(job) for job in jobs]
    artefacts: dict[str, Any] = {}
    taught = b""
    for name in sorted({name for job in jobs for name in job["needs"]}):
        data, head = memory(name, 5 if name == by_hand else 4)
        artefacts[name] = {"sha256": sha(data), "head": head}
        exam.files[f"{frozen}artefacts/{name}.gz"] = packed(data)
        lesson = {
            "id": f"train-{name}", "phase": "training", "keys": {"unit": 1},
            "inputs": {"memory": memory(name)[0].decode()}, "needs": [], "makes": [name],
        }  # fmt: skip
        taught += dump(lesson) + b"\n"
        outcome = outcome_bytes(
            terms, lesson, role("job", dump(lesson)), [], {name: artefacts[name]["sha256"]}
        )
        exam.tell("training", job=lesson["id"], outcome=role("outcome", outcome),
                  artefacts={name: artefacts[name]})  # fmt: skip
    exam.files[frozen + "contract.yaml"] = written
    exam.files[frozen + "contract.json"] = canonical
    exam.files[frozen + "jobs.jsonl"] = b"".join(line + b"\n" for line in lines)
    exam.files[frozen + "training.jsonl"] = taught
    exam.files[frozen + "code.zip"] = zipped(code)
    exam.files[frozen + "tests/test_toy.py"] = test
    review = next(line["data"] for line in exam.ledger if line["event"] == "review")
    manifest = {
        "schema": "echoctl/manifest/1", "id": terms.id, "contract_yaml": sha(written),
        "contract_json": sha(canonical), "seeds": sha(exam.files[f"seeds/{terms.id}.json"]),
        "code": {"zip": sha(zipped(code)), "files": {name: sha(code[name]) for name in code}},
        "jobs": {
            "file": sha(exam.files[frozen + "jobs.jsonl"]), "count": len(jobs),
            "ids": {job["id"]: role("job", line) for job, line in zip(jobs, lines, strict=True)},
        },
        "training": sha(taught), "artefacts": artefacts, "tests": {"test_toy.py": sha(test)},
        "reviews": [{**review, "answers": [{"id": "R1", "action": "laid out again"}]}],
        "amendments": [], "environment": {"python": "3.11.7"},
        "play": {
            "track": {"module": "toy", "name": "Toy", "folder": None},
            "measures": sorted(terms.measures),
            "permit": {"families": list(FAMILIES), "ranges": [[2_000_000, 2_000_006]]},
        },
        "head": exam.head,
    }  # fmt: skip
    data = dump(manifest) + b"\n"
    exam.files[frozen + "manifest.json"] = data
    exam.tell("freeze", manifest=role("manifest", data), jobs=len(jobs))


def _claim(exam: Exam) -> None:
    freeze = exam.find("freeze")["data"]["manifest"]
    data = dump({
        "schema": "echoctl/claim/1", "id": exam.ident, "freeze": freeze, "head": exam.head,
        "nonce": "0123456789abcdef" * 2, "time": "2026-12-03T10:00:59Z",
    }) + b"\n"  # fmt: skip
    exam.files[exam.home + "exam/claim.json"] = data
    exam.tell("claim", claim=role("claim", data), freeze=freeze)


def outcome_bytes(
    terms: Contract, job: dict[str, Any], digest: str, rows: list[list[Any]],
    made: dict[str, str] | None = None,
) -> bytes:  # fmt: skip
    """Return an outcome's uncompressed bytes."""
    head = {
        "columns": [*ROWS, *sorted(terms.measures)], "job": job["id"], "job_digest": digest,
        "keys": job["keys"], "schema": "echoctl/outcome/1",
    }  # fmt: skip
    end = {"artefacts": made or {}, "digests": {}, "end": True, "rows": len(rows)}
    return b"".join(dump(value) + b"\n" for value in (head, *rows, end))


def _play(
    exam: Exam, terms: Contract, seeds: dict[str, Any],
    harm_of: Callable[[str, int, str, str, int], int],
) -> list[Outcome]:  # fmt: skip
    manifest = json.loads(exam.files[exam.home + "frozen/manifest.json"])
    outcomes = []
    for line in exam.files[exam.home + "frozen/jobs.jsonl"].splitlines():
        job = json.loads(line)
        keys, rows = job["keys"], []
        for family, listed in job["inputs"]["seeds"]:
            for episode, seed in enumerate(listed):
                hurt = harm_of(keys["arm"], keys["unit"], keys["regime"], family, seed)
                rows.append(["exam", family, 1, episode, seed, 0, hurt, 10 - hurt])
        data = outcome_bytes(terms, job, manifest["jobs"]["ids"][job["id"]], rows)
        exam.tell("start", job=job["id"], attempt=1)
        exam.files[f"{exam.home}exam/jobs/{job['id']}.jsonl.gz"] = packed(data)
        exam.tell("done", job=job["id"], outcome=role("outcome", data), rows=len(rows), attempt=1,
                  head=exam.head)  # fmt: skip
        outcomes.append(Outcome(job["id"], keys, (*ROWS, *MEASURES), tuple(map(tuple, rows)), {}))
    exam.files[exam.home + "exam/timings.jsonl"] = b'{"job": "x", "ms": 12.5}\n'
    return outcomes


def _decide(exam: Exam, terms: Contract, outcomes: list[Outcome]) -> None:
    done = [line["data"] for line in exam.ledger if line["event"] == "done"]
    pairs = sorted([data["job"], data["outcome"]] for data in done)
    exam.tell("complete", jobs=len(pairs), results=role("results", dump(pairs)))
    verdict = decide(terms, outcomes)
    exam.files[exam.home + "verdict.json"] = verdict.as_bytes()
    exam.tell("verdict", verdict=role("verdict", verdict.as_bytes()), colour=verdict.colour)
    report = f"# {terms.title}\n\n{verdict.colour}\n".encode()
    exam.files[f"docs/results/{terms.id}.md"] = report
    exam.tell("report", files={f"docs/results/{terms.id}.md": sha(report)})
