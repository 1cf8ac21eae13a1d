"""The second opinion: checks a contract's evidence again, from outside, alone.

    python verify.py BUNDLE_OR_WORKSPACE [ID] [--rerun K] [--signers FILE] [--tsa-ca FILE]
                     [--receipt LINE] [--at-least L1] [--expect green] [--lang es] [--json]

One file, standard library only, and it shares neither code nor algorithm with the program that
wrote the evidence. What it reads is described in docs/formats.md; what must not get past it, in
docs/security.md. Everything that decides is a whole number or a fraction.

Each check has a name. A check *ran* (``ok`` or ``FAILED``), or it is ``not checked`` or
``pending``, with a reason, and neither of these two is ever a pass. The last thing printed is a
short canonical text, the same in every language, that names each check that ran and each that
did not.

Exit codes: 0 everything that could be checked holds (a red verdict is a result); 1 a wish was
not met (no verdict yet, `--expect`, `--at-least`, a re-run that could not be made); 2 usage;
5 the evidence is inconsistent. When it is inconsistent no verdict is named.
"""

from __future__ import annotations

import argparse
import bisect
import contextlib
import datetime
import hashlib
import io
import itertools
import json
import os
import re
import stat
import subprocess
import sys
import tarfile
import tempfile
import zipfile
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any

Json = Any
"""A value that came out of `parse`: objects, lists, strings, integers, booleans, null."""

MAX_INT = 2**53 - 1
MAX_BRUTE = 20
"""Up to here every sign pattern is enumerated; above, sums are counted in a table."""

# --- bytes ----------------------------------------------------------------------------------


class VerifyError(Exception):
    """A check ends here: `key` names the sentence that says why, `facts` fill it."""

    def __init__(self, key: str, *, pending: bool = False, **facts: object) -> None:
        super().__init__(key)
        self.key = key
        self.pending = pending
        self.facts = facts


class Broken(VerifyError):
    """The evidence contradicts itself."""


class NotChecked(VerifyError):
    """A check cannot be made here; `pending` when it waits for something that may still come."""


def canonical(value: Json) -> bytes:
    """Return the RFC 8785 bytes of a value without floats; ValueError where there are none."""
    out: list[str] = []
    _spell(value, out)
    return "".join(out).encode("utf-8")


_quote = json.JSONEncoder(ensure_ascii=False).encode
_flat = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


def _spell(value: Json, out: list[str]) -> None:
    if value is None or value is True or value is False:
        out.append({None: "null", True: "true", False: "false"}[value])
    elif isinstance(value, str):
        out.append(_quote(value))
    elif isinstance(value, int):
        if not -MAX_INT <= value <= MAX_INT:
            raise ValueError(f"an integer beyond 2^53 - 1: {value:.40}")
        out.append(str(value))
    elif isinstance(value, list | tuple):
        for i, inner in enumerate(value):
            out.append("," if i else "[")
            _spell(inner, out)
        out.append("]" if value else "[]")
    elif isinstance(value, dict):
        # RFC 8785 sorts by UTF-16 code units, which Python's own order of strings is not.
        for i, key in enumerate(sorted(value, key=lambda k: k.encode("utf-16-be"))):
            out.append("," if i else "{")
            out.append(_quote(key) + ":")
            _spell(value[key], out)
        out.append("}" if value else "{}")
    else:
        raise ValueError(f"{type(value).__name__} has no canonical bytes")


def parse(data: bytes) -> Json:
    """Return the value of canonical JSON; ValueError for any other spelling of it."""
    value = _loads(data.decode("utf-8"))
    if canonical(value) != data:
        raise ValueError("not in canonical form")
    return value


def _no_float(text: str) -> Json:
    raise ValueError(f"{text[:40]} is not an integer")


def _unique(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
    out = dict(pairs)
    if len(out) != len(pairs):
        raise ValueError("a key is given twice")
    return out


_loads = json.JSONDecoder(
    object_pairs_hook=_unique, parse_float=_no_float, parse_constant=_no_float
).decode


def role_hash(role: str, data: bytes) -> str:
    """Return H(role, data) of docs/formats.md in hex."""
    return hashlib.sha256(f"echoctl/{role}/1\n".encode("ascii") + data).hexdigest()


def plain_hash(data: bytes) -> str:
    """Return the hex SHA-256."""
    return hashlib.sha256(data).hexdigest()


def unpacked(data: bytes) -> Iterator[bytes]:
    """Yield the uncompressed lines of a gzip file written as docs/formats.md says.

    One member, no name, no clock, nothing behind it. Memory does not grow with the content.
    """
    if data[:10] != b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff" and (
        data[:9] != b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x02" or data[9:10] != b"\xff"
    ):
        raise ValueError("not a gzip file without name and clock")
    engine = zlib.decompressobj(wbits=31)
    rest, tail = data, b""
    while not engine.eof:
        piece = engine.decompress(rest, 1 << 16)
        rest = engine.unconsumed_tail
        if not piece and not rest and not engine.eof:
            raise ValueError("the compressed data end too early")
        *lines, tail = (tail + piece).split(b"\n")
        yield from lines
    if engine.unused_data:
        raise ValueError("something follows the compressed data")
    if tail:
        raise ValueError("the last line has no end")


# --- where the evidence lies ----------------------------------------------------------------


class Tree:
    """Named files: a folder, or an archive read without unpacking it anywhere."""

    root: Path | None = None

    def names(self) -> list[str]:
        """Return every file's name with ``/`` between folders, sorted."""
        raise NotImplementedError

    def read(self, name: str) -> bytes:
        """Return a file's bytes; KeyError where there is none."""
        raise NotImplementedError

    def odd(self) -> list[str]:
        """Return the names of what is not a plain file: symlinks, devices, doubled entries."""
        raise NotImplementedError


class Folder(Tree):
    """A workspace, or an unpacked bundle. Only the parts that can be evidence are listed."""

    PARTS = ("artifacts", "seeds", "docs/results")

    def __init__(self, root: Path) -> None:
        self.root = root
        self._names: list[str] = []
        self._odd: list[str] = []
        for part in self.PARTS:
            top = root / part
            if top.is_symlink():
                self._odd.append(part)
            elif top.is_dir():
                self._walk(top)
        self._names.sort()

    def _walk(self, top: Path) -> None:
        for entry in os.scandir(top):
            path = top / entry.name
            name = path.relative_to(self.root or path).as_posix()
            mode = entry.stat(follow_symlinks=False).st_mode
            if stat.S_ISDIR(mode):
                self._walk(path)
            elif stat.S_ISREG(mode) and _tame(name):
                self._names.append(name)
            else:
                self._odd.append(name)

    def names(self) -> list[str]:
        """Return the names of the plain files."""
        return self._names

    def read(self, name: str) -> bytes:
        """Return a file's bytes."""
        if name not in self._names[bisect.bisect_left(self._names, name) :][:1]:
            raise KeyError(name)
        return (Path(self.root or ".") / name).read_bytes()

    def odd(self) -> list[str]:
        """Return what is no plain file."""
        return sorted(self._odd)


class Archive(Tree):
    """A bundle: zip or tar. A leading folder that all entries share is taken off."""

    def __init__(self, path: Path) -> None:
        self._odd: list[str] = []
        self._files: dict[str, bytes] = {}
        unpack = self._zip if zipfile.is_zipfile(path) else self._tar
        for name, data in unpack(path):
            if name in self._files or not _tame(name):
                self._odd.append(name)
            else:
                self._files[name] = data
        tops = {name.split("/")[0] for name in self._files}
        if len(tops) == 1 and not tops & {"artifacts", "seeds", "docs"}:
            cut = len(next(iter(tops))) + 1
            self._files = {name[cut:]: data for name, data in self._files.items()}

    def _zip(self, path: Path) -> Iterator[tuple[str, bytes]]:
        with zipfile.ZipFile(path) as bundle:
            for entry in bundle.infolist():
                kind = stat.S_IFMT(entry.external_attr >> 16)
                if kind not in (0, stat.S_IFREG, stat.S_IFDIR):
                    self._odd.append(entry.filename)
                elif not entry.is_dir():
                    yield entry.filename, bundle.read(entry)

    def _tar(self, path: Path) -> Iterator[tuple[str, bytes]]:
        with tarfile.open(path) as bundle:
            for entry in bundle:
                source = bundle.extractfile(entry) if entry.isreg() else None
                if source is not None:
                    yield entry.name.removeprefix("./"), source.read()
                elif not entry.isdir():
                    self._odd.append(entry.name)

    def names(self) -> list[str]:
        """Return the names of the entries."""
        return sorted(self._files)

    def read(self, name: str) -> bytes:
        """Return an entry's bytes."""
        return self._files[name]

    def odd(self) -> list[str]:
        """Return what is no plain entry."""
        return sorted(self._odd)


def _tame(name: str) -> bool:
    parts = name.split("/")
    return name.isprintable() and "\\" not in name and not {"", ".", ".."} & set(parts)


# --- exact statistics, by other roads -------------------------------------------------------


def doubled_ranks(sizes: Sequence[int]) -> list[int]:
    """Return twice the mid-rank of each size: 2 * (how many are smaller) + (how many equal) + 1."""
    order = sorted(sizes)
    return [bisect.bisect_left(order, s) + bisect.bisect_right(order, s) + 1 for s in sizes]


def sums_of_subsets(weights: Sequence[int]) -> Counter[int]:
    """Return how many subsets have each sum: every sign pattern, counted."""
    if len(weights) <= MAX_BRUTE:
        sums = [0]
        for weight in weights:
            sums += [total + weight for total in sums]
        return Counter(sums)
    # Above, tie groups multiply: t equal weights give each multiple a binomial count of times.
    table = Counter({0: 1})
    for weight, ties in sorted(Counter(weights).items()):
        ways, choose = [], 1
        for taken in range(ties + 1):
            ways.append((taken * weight, choose))
            choose = choose * (ties - taken) // (taken + 1)
        grown: Counter[int] = Counter()
        for total, count in table.items():
            for step, many in ways:
                grown[total + step] += count * many
        table = grown
    return table


def signed_rank_p(
    gains: Sequence[int], *, two_sided: bool = False, pratt: bool = False
) -> Fraction:
    """Return the exact Wilcoxon p that gains are positive; zeros dropped, or ranked (`pratt`).

    `gains` holds one integer difference a unit, positive where the claim is favoured.
    """
    kept = list(gains) if pratt else [gain for gain in gains if gain]
    ranks = doubled_ranks([abs(gain) for gain in kept])
    signed = [(gain > 0, rank) for gain, rank in zip(kept, ranks, strict=True) if gain]
    weights = [rank for _, rank in signed]
    won = sum(rank for up, rank in signed if up)
    table = sums_of_subsets(weights)
    if two_sided:
        middle = sum(weights)
        hits = sum(n for s, n in table.items() if abs(2 * s - middle) >= abs(2 * won - middle))
    else:
        hits = sum(n for s, n in table.items() if s >= won)
    return Fraction(hits, 2 ** len(weights))


def holm(ps: Sequence[Fraction], alpha: Fraction) -> tuple[list[Fraction], list[bool]]:
    """Return adjusted p values and rejections, by closed testing over every subset.

    A hypothesis falls when every intersection that holds it falls under Bonferroni; its adjusted
    p is the largest of theirs. Above twelve tests only the worst subset of each size is looked
    at, which is the same maximum.
    """
    m = len(ps)
    adjusted = []
    for i in range(m):
        others = sorted(ps[:i] + ps[i + 1 :] if isinstance(ps, list) else [*ps[:i], *ps[i + 1 :]])
        if m <= 12:
            families: Iterable[tuple[Fraction, ...]] = itertools.chain.from_iterable(
                itertools.combinations(others, size) for size in range(m)
            )
        else:
            families = (tuple(others[m - 1 - size :]) for size in range(m))
        worst = max((len(f) + 1) * min(ps[i], *f, Fraction(1)) for f in families)
        adjusted.append(min(worst, Fraction(1)))
    return adjusted, [p <= alpha for p in adjusted]


# --- outcomes, added up ---------------------------------------------------------------------


@dataclass
class Cell:
    """The rows of one job in one stage, family and round."""

    job: str
    unit: int
    arm: str
    regime: str
    stage: str
    family: str
    round: int
    rows: int = 0
    episodes: list[range] = field(default_factory=list)
    """The episodes that were seen, as runs of consecutive ones."""
    sums: dict[str, int] = field(default_factory=dict)
    highs: dict[str, int] = field(default_factory=dict)
    lows: dict[str, int] = field(default_factory=dict)

    def fold(self, measures: Sequence[str], columns: Sequence[tuple[int, ...]]) -> None:
        """Add the columns of some rows."""
        for name, values in zip(measures, columns, strict=True):
            high, low = max(values), min(values)
            if high > MAX_INT or low < -MAX_INT:
                raise ValueError(f"{name} is beyond 2^53 - 1")
            self.sums[name] = self.sums.get(name, 0) + sum(values)
            self.highs[name] = max(self.highs.get(name, high), high)
            self.lows[name] = min(self.lows.get(name, low), low)

    def value(self, measure: str, aggregate: str) -> int:
        """Return the cell's sum, maximum or minimum of a measure."""
        return {"sum": self.sums, "max": self.highs, "min": self.lows}[aggregate][measure]


@dataclass
class Told:
    """The rows in which a measure took one value: their units, how many, other measures' sums."""

    units: set[int]
    rows: int
    sums: list[int]


@dataclass
class Table:
    """Every cell of every job, the contract beside them, and the jobs' named digests."""

    contract: Json
    cells: list[Cell] = field(default_factory=list)
    digests: dict[str, tuple[str, dict[str, str]]] = field(default_factory=dict)
    """Job -> (arm, its digests)."""
    logs: list[tuple[Json, dict[tuple[str, Any, int], Told]]] = field(default_factory=list)
    """Each log that the contract asks to see, and its counts by (arm, name, value)."""

    def select(self, where: Json, arm: str | None) -> list[Cell]:
        """Return the cells that a filter takes; Broken where it takes none."""
        taken = [
            cell for cell in self.cells if (arm is None or cell.arm == arm) and takes(where, cell)
        ]
        if not taken:
            raise Broken("empty_filter", arm=arm or "*", where=_show(where))
        return taken

    def join(self, measure: str, cells: Iterable[Cell]) -> int:
        """Return a measure's aggregate over some cells, as the contract says rows add up."""
        how = self.contract["measures"][measure]["aggregate"]
        values = [cell.value(measure, how) for cell in cells]
        return sum(values) if how == "sum" else max(values) if how == "max" else min(values)

    def by(self, key: str, measure: str, cells: Iterable[Cell]) -> dict[Any, int]:
        """Return a measure's aggregate for each unit, round or job."""
        groups: dict[Any, list[Cell]] = {}
        for cell in cells:
            groups.setdefault(getattr(cell, key), []).append(cell)
        return {name: self.join(measure, group) for name, group in sorted(groups.items())}

    def units(self, measure: str, arm: str, where: Json) -> dict[int, int]:
        """Return one number a unit; Broken unless exactly the contract's units are there."""
        cells = self.select(where, arm)
        found: dict[int, int] = self.by("unit", measure, cells)
        count = max(units_of(self.contract, cell.stage) for cell in cells)
        if set(found) != set(range(1, count + 1)):
            raise Broken("units", arm=arm, found=len(found), count=count)
        return found

    def total(self, measure: str, arm: str, where: Json) -> int:
        """Return an arm's total: its units' numbers, added."""
        return sum(self.units(measure, arm, where).values())

    def scale(self, measure: str) -> int:
        """Return by how much a measure's stored integers are larger than its values."""
        return int(self.contract["measures"][measure]["scale"])

    def amount(self, measure: str, stored: int) -> Fraction:
        """Return a stored integer in the measure's own units."""
        return Fraction(stored, self.scale(measure))


def takes(where: Json, cell: Cell) -> bool:
    """Say whether a filter takes a cell."""
    return all(
        getattr(cell, key) in value if isinstance(value, list) else getattr(cell, key) == value
        for key, value in where.items()
        if value is not None
    )


def units_of(contract: Json, stage: str) -> int:
    """Return how many units a stage plays."""
    return int(contract["worlds"][stage].get("units") or contract["unit"]["count"])


def _show(value: Json) -> str:
    return json.dumps(value, ensure_ascii=False, sort_keys=True)


# --- the menu of checks ---------------------------------------------------------------------

Found = dict[str, Any]
"""What a check comes to: ``passed`` and the numbers that decided."""


def exact(text: Json) -> Fraction:
    """Return the rational that contract.json writes as ``num/den`` (or as an integer)."""
    if isinstance(text, bool) or not re.fullmatch(r"-?[0-9]+(/[1-9][0-9]*)?", str(text)):
        raise ValueError(f"not a fraction: {text!r:.40}")
    return Fraction(str(text))


def bounds(spec: Json, top: int, bottom: int) -> bool:
    """Say whether top / bottom keeps ``at_most`` and ``at_least``, in whole numbers."""
    good = True
    if spec["at_most"] is not None:
        limit = exact(spec["at_most"])
        good &= top * limit.denominator <= limit.numerator * bottom
    if spec["at_least"] is not None:
        limit = exact(spec["at_least"])
        good &= top * limit.denominator >= limit.numerator * bottom
    return good


def gate_wilcoxon(spec: Json, table: Table) -> Found:
    """Judge a family of exact tests: each must reject, under Holm where the contract says so."""
    alpha = exact(spec["alpha"])
    sides = [(s, rival) for s in ("below", "above", "differs_from") for rival in spec[s]]
    own = table.units(spec["measure"], spec["arm"], spec["where"])
    tests: list[Found] = []
    for side, rival in sides:
        other = table.units(spec["measure"], rival, spec["where"])
        sign = -1 if side == "below" else 1
        gains = [sign * (own[unit] - other[unit]) for unit in own]
        p = signed_rank_p(gains, two_sided=side == "differs_from")
        tests.append({
            "rival": rival,
            "direction": side,
            "arm_total": table.amount(spec["measure"], sum(own.values())),
            "rival_total": table.amount(spec["measure"], sum(other.values())),
            "wins": sum(gain > 0 for gain in gains),
            "ties": sum(gain == 0 for gain in gains),
            "losses": sum(gain < 0 for gain in gains),
            "p": p,
            "by_unit": [
                [u, table.amount(spec["measure"], own[u]), table.amount(spec["measure"], other[u])]
                for u in own
            ],
            "estimates": estimates(gains, sign, table.scale(spec["measure"]), side),
        })  # fmt: skip
    ps = [test["p"] for test in tests]
    adjusted, rejected = holm(ps, alpha)
    if spec["correction"] == "none":
        adjusted, rejected = ps, [p <= alpha for p in ps]
    for i, test in enumerate(tests):
        step = 1 + sum((p, j) < (ps[i], i) for j, p in enumerate(ps))
        fair = alpha if spec["correction"] == "none" else alpha / (len(ps) - step + 1)
        test.update(step=step, threshold=fair, adjusted=adjusted[i], rejected=rejected[i])
    return {
        "kind": "wilcoxon", "passed": bool(tests) and all(rejected), "arm": spec["arm"],
        "alpha": alpha, "correction": spec["correction"], "family": len(tests), "tests": tests,
    }  # fmt: skip


def estimates(gains: Sequence[int], sign: int, scale: int, side: str) -> Found:
    """Return what is shown beside a p; none of it decides."""
    n = len(gains)
    walsh = sorted(gains[i] + gains[j] for i in range(n) for j in range(i, n))
    median = walsh[len(walsh) // 2] + walsh[(len(walsh) - 1) // 2]
    kept = [gain for gain in gains if gain]
    ranks = doubled_ranks([abs(gain) for gain in kept])
    balance = sum(rank if gain > 0 else -rank for gain, rank in zip(kept, ranks, strict=True))
    shown: Found = {}
    if n <= MAX_BRUTE:
        # Which sums of the absolute gains are at least (as extreme as) the one that was found.
        sizes, won = [abs(gain) for gain in gains], sum(gain for gain in gains if gain > 0)
        sums, middle = sums_of_subsets(sizes), sum(sizes)
        far = abs(2 * won - middle)
        hits = [
            count
            for total, count in sums.items()
            if (abs(2 * total - middle) >= far if side == "differs_from" else total >= won)
        ]
        shown["sign_flip"] = Fraction(sum(hits), 2**n)
    return shown | {
        "mean_difference": Fraction(sign * sum(gains), n * scale),
        "hodges_lehmann": Fraction(sign * median, 4 * scale),
        "rank_biserial": Fraction(balance, sum(ranks)) if kept else Fraction(0),
        "improvement": Fraction(sum(2 * (g > 0) + (g == 0) for g in gains), 2 * n),
        "pratt": signed_rank_p(gains, two_sided=side == "differs_from", pratt=True),
    }


def gate_ratio(spec: Json, table: Table) -> Found:
    """Judge an arm's total against a control's; zero passes only if the contract says so."""
    own = table.total(spec["measure"], spec["arm"], spec["where"])
    other = table.total(spec["measure"], spec["to"], spec["where"])
    passed = bounds(spec, own, other)
    if other == 0:
        passed = spec["if_control_zero"] == "pass_if_zero" and own == 0
    return {
        "kind": "ratio", "passed": passed, "arm": spec["arm"], "to": spec["to"],
        "arm_total": table.amount(spec["measure"], own),
        "control_total": table.amount(spec["measure"], other),
        "ratio": Fraction(own, other) if other else None,
    }  # fmt: skip


def gate_totals(spec: Json, table: Table, relation: str) -> Found:
    """Judge whether an arm's total is not lower (not higher) than each rival's."""
    own = table.total(spec["measure"], spec["arm"], spec["where"])
    where = spec["against"] or spec["where"]
    others = {rival: table.total(spec["measure"], rival, where) for rival in spec["than"]}
    holds = {r: own >= o if relation == "not_lower" else own <= o for r, o in others.items()}
    return {
        "kind": "totals", "passed": all(holds.values()), "relation": relation,
        "arm": spec["arm"], "arm_total": table.amount(spec["measure"], own),
        "rivals": [
            {"rival": r, "total": table.amount(spec["measure"], o), "holds": holds[r]}
            for r, o in others.items()
        ],
    }  # fmt: skip


def gate_monotone(spec: Json, table: Table) -> Found:
    """Judge the longest run of strict moves from round to round in which the guard holds."""
    rounds = range(spec["first_round"], spec["last_round"] + 1)

    def series(measure: str) -> list[int]:
        return [
            table.total(measure, spec["arm"], {**spec["where"], "round": number})
            for number in rounds
        ]

    totals, guard = series(spec["measure"]), spec["guard"]
    watched = series(guard["measure"]) if guard else []
    step = -1 if spec["direction"] == "decreasing" else 1
    marks = ""
    for i in range(len(totals) - 1):
        moves = (totals[i + 1] - totals[i]) * step > 0
        rise = watched[i + 1] - watched[i] if guard else 0
        kept = not guard or (rise <= 0 if guard["may_not"] == "rise" else rise >= 0)
        marks += "x" if moves and kept else " "
    longest = max(map(len, marks.split(" ")))
    return {
        "kind": "monotone", "passed": longest >= spec["in_a_row"], "arm": spec["arm"],
        "direction": spec["direction"], "longest": longest, "needed": spec["in_a_row"],
        "totals": [table.amount(spec["measure"], total) for total in totals],
        "guard_totals": [table.amount(guard["measure"], t) for t in watched] if guard else [],
    }  # fmt: skip


def gate_share(spec: Json, table: Table) -> Found:
    """Judge the share of units in which a relation holds."""
    own = table.units(spec["measure"], spec["arm"], spec["where"])
    if spec["than"] is not None:
        other = table.units(spec["measure"], spec["than"], spec["where"])
    else:
        other = dict.fromkeys(own, spec["value"])
    signs = {
        "below": {-1}, "above": {1}, "not_below": {0, 1}, "not_above": {-1, 0}, "equal": {0},
    }[spec["relation"]]  # fmt: skip
    gaps = {unit: own[unit] - other[unit] - spec["plus"] for unit in own}
    misses = [unit for unit, gap in gaps.items() if (gap > 0) - (gap < 0) not in signs]
    hits = len(own) - len(misses)
    return {
        "kind": "share", "passed": bounds(spec, hits, len(own)), "arm": spec["arm"],
        "relation": spec["relation"], "than": spec["than"], "hits": hits, "units": len(own),
        "misses": misses,
    }  # fmt: skip


def gate_rate(spec: Json, table: Table) -> Found:
    """Judge hits of tried, such as packets lost of packets sent; nothing tried never passes."""
    hits = table.total(spec["hits"], spec["arm"], spec["where"])
    tried = table.total(spec["of"], spec["arm"], spec["where"])
    top = hits * table.scale(spec["of"])
    bottom = tried * table.scale(spec["hits"])
    return {
        "kind": "rate", "passed": tried > 0 and bounds(spec, top, bottom), "arm": spec["arm"],
        "of": spec["of"], "hits": table.amount(spec["hits"], hits),
        "tried": table.amount(spec["of"], tried),
        "rate": Fraction(top, bottom) if tried > 0 else None,
    }  # fmt: skip


def gate_count(spec: Json, table: Table) -> Found:
    """Judge a bound on a total, or on what every unit, job or row holds."""
    cells, measure = table.select(spec["where"], spec["arm"]), spec["measure"]
    if spec["every"] == "row":
        values = [c.lows[measure] for c in cells] + [c.highs[measure] for c in cells]
    elif spec["every"] == "total":
        values = [table.join(measure, cells)]
    elif spec["every"] == "job":
        values = list(table.by("job", measure, cells).values())
    else:
        arms = {cell.arm for cell in cells}
        values = [v for a in arms for v in table.units(measure, a, spec["where"]).values()]
    low, high = min(values), max(values)
    good = (spec["at_most"] is None or high <= spec["at_most"]) and (
        spec["at_least"] is None or low >= spec["at_least"]
    )
    return {
        "kind": "count", "passed": good, "arm": spec["arm"], "every": spec["every"],
        "low": table.amount(measure, low), "high": table.amount(measure, high),
    }  # fmt: skip


def gate_equal(spec: Json, table: Table) -> Found:
    """Judge whether every row holds one value."""
    cells, measure = table.select(spec["where"], spec["arm"]), spec["measure"]
    seen = {c.lows[measure] for c in cells} | {c.highs[measure] for c in cells}
    return {
        "kind": "equal", "passed": seen == {spec["to"]}, "arm": spec["arm"],
        "to": table.amount(measure, spec["to"]),
        "worst": table.amount(measure, max(seen, key=lambda v: (abs(v - spec["to"]), -v))),
    }  # fmt: skip


def gate_identical(spec: Json, table: Table) -> Found:
    """Judge whether two named digests agree in every job that records them; one must."""
    first, second = spec["digests"]
    pairs = [
        (job, digests.get(first), digests.get(second))
        for job, (arm, digests) in sorted(table.digests.items())
        if spec["arm"] in (None, arm) and (first in digests or second in digests)
    ]
    differing = [job for job, one, other in pairs if one != other]
    return {
        "kind": "identical", "passed": bool(pairs) and not differing, "arm": spec["arm"],
        "digests": [first, second], "jobs": len(pairs), "differing": len(differing),
    }  # fmt: skip


GATES: dict[str, Callable[[Json, Table], Found]] = {
    "wilcoxon": gate_wilcoxon,
    "ratio": gate_ratio,
    "not_lower": lambda spec, table: gate_totals(spec, table, "not_lower"),
    "not_higher": lambda spec, table: gate_totals(spec, table, "not_higher"),
    "monotone": gate_monotone,
    "share": gate_share,
    "rate": gate_rate,
    "count": gate_count,
    "equal": gate_equal,
    "identical": gate_identical,
}


def judge(check: Json, table: Table) -> Found:
    """Return what one check, or a combination of checks, comes to."""
    given = [(kind, spec) for kind, spec in check.items() if spec is not None]
    if len(given) != 1:
        raise Broken("menu", found=_show(sorted(kind for kind, _ in given)))
    kind, spec = given[0]
    if kind in GATES:
        return GATES[kind](spec, table)
    if kind not in ("all", "any", "not"):
        raise Broken("menu", found=kind)
    parts = [judge(part, table) for part in ([spec] if kind == "not" else spec)]
    passes = [part["passed"] for part in parts]
    passed = {"all": all(passes), "any": any(passes), "not": not all(passes)}[kind]
    return {"kind": "combined", "passed": passed, "how": kind, "parts": parts}


def verdict_of(table: Table) -> Found:
    """Return the verdict that the contract's own rule gives, with every number that decided."""
    contract = table.contract
    played = {cell.arm for cell in table.cells}
    optional = {arm["id"] for arm in contract["arms"] if arm["optional"]}
    predictions: dict[str, Found] = {}
    for name, prediction in contract["predictions"].items():
        result: Found = {"id": name, "decides": prediction["decides"], "text": prediction["text"]}
        if not prediction["decides"] and (_arms_of(prediction["all"]) & optional) - played:
            result |= {"passed": None}
        else:
            checks = [judge(check, table) for check in prediction["all"]]
            passed = bool(checks) and all(check["passed"] for check in checks)
            result |= {"passed": passed, "checks": checks}
        predictions[name] = result
    invariants = [judge(check, table) for check in contract["invariants"]]
    needs = contract["verdict"]["green"]
    if not needs or not all(predictions[name]["decides"] for name in needs):
        raise Broken("green_rule")
    green = all(predictions[name]["passed"] for name in needs)
    green &= all(check["passed"] for check in invariants)
    labels = [
        rule["text"]
        for rule in contract["verdict"]["labels"]
        if all(predictions[name]["passed"] is True for name in rule["when"]["pass"])
        and all(predictions[name]["passed"] is False for name in rule["when"]["fail"])
    ]
    return {
        "schema": "echoctl/verdict/1", "id": contract["id"], "title": contract["title"],
        "colour": "green" if green else "red", "mark": "", "green_needs": needs,
        "predictions": list(predictions.values()), "invariants": invariants, "labels": labels,
        "unit": contract["unit"]["name"], "units": len({cell.unit for cell in table.cells}),
        "jobs": len(table.digests), "rows": sum(cell.rows for cell in table.cells),
        "table": cube(table), **({"exhibits": shown} if (shown := exhibited(table)) else {}),
    }  # fmt: skip


def _arms_of(value: Json) -> set[str]:
    """Return every arm that some checks name."""
    if isinstance(value, list):
        return {arm for inner in value for arm in _arms_of(inner)}
    if not isinstance(value, dict):
        return set()
    found: set[str] = set()
    for key, inner in value.items():
        if key in ("arm", "to", "than", "below", "above", "differs_from"):
            names = inner if isinstance(inner, list) else [inner]
            found |= {name for name in names if isinstance(name, str)}
        else:
            found |= _arms_of(inner)
    return found


def cube(table: Table) -> list[Found]:
    """Return the full table: a line for each stage, family, regime, arm and round."""
    groups: dict[tuple[str, str, str, str, int], list[Cell]] = {}
    for cell in table.cells:
        key = (cell.stage, cell.family, cell.regime, cell.arm, cell.round)
        groups.setdefault(key, []).append(cell)
    lines = []
    place = {arm["id"]: i for i, arm in enumerate(table.contract["arms"])}
    for key in sorted(groups, key=lambda k: (*k[:3], place[k[3]], k[4])):
        cells = groups[key]
        line: Found = dict(zip(("stage", "family", "regime", "arm", "round"), key, strict=True))
        line |= {"units": len({c.unit for c in cells}), "rows": sum(c.rows for c in cells)}
        line |= {"totals": {}, "means": {}}
        for measure in sorted(table.contract["measures"]):
            each = table.by("unit", measure, cells).values()
            line["totals"][measure] = table.amount(measure, table.join(measure, cells))
            line["means"][measure] = table.amount(measure, sum(each)) / len(each)
        lines.append(line)
    return lines


def asked(contract: Json, kind: str) -> list[Json]:
    """Return the exhibits of one kind that the contract asks to see, in its order."""
    return [exhibit[kind] for exhibit in contract.get("exhibits", []) if exhibit.get(kind)]


def tell(table: Table, cell: Cell, row: dict[str, int]) -> None:
    """Count a row in every log that it belongs to."""
    for spec, lines in table.logs:
        if (
            row[spec["measure"]] == 0
            or (spec["only"] and not any(row[name] for name in spec["only"]))
            or (spec["arms"] and cell.arm not in spec["arms"])
            or not takes(spec["where"], cell)
        ):
            continue
        key = (cell.arm, getattr(cell, spec["by"]), row[spec["measure"]])
        line = lines.setdefault(key, Told(set(), 0, [0] * len(spec["beside"])))
        line.units.add(cell.unit)
        line.rows += 1
        line.sums = [s + row[n] for s, n in zip(line.sums, spec["beside"], strict=True)]


def exhibited(table: Table) -> list[Found]:
    """Return the numbers of the exhibits, but films, that the contract asks to see."""
    told, found = iter(table.logs), []
    for exhibit in table.contract.get("exhibits", []):
        if spec := exhibit.get("curve"):
            found.append(_curve(spec, table))
        elif spec := exhibit.get("table"):
            found.append(_lines_of(spec, table))
        elif exhibit.get("log"):
            found.append(_log(*next(told), table))
        elif spec := exhibit.get("published"):
            found.append(_published(spec, table))
    return found


def _by_arm(spec: Json, where: Json, key: str, table: Table) -> dict[str, dict[Any, list[Cell]]]:
    """Return arm -> name -> cells, arms in the contract's order."""
    out: dict[str, dict[Any, list[Cell]]] = {}
    for arm in (arm["id"] for arm in table.contract["arms"]):
        if spec["arms"] and arm not in spec["arms"]:
            continue
        for cell in table.cells:
            if cell.arm == arm and takes(where, cell):
                out.setdefault(arm, {}).setdefault(getattr(cell, key), []).append(cell)
    return out


def _curve(spec: Json, table: Table) -> Found:
    measure, lines = spec["measure"], _by_arm(spec, spec["where"], "round", table)
    rounds = sorted({number for line in lines.values() for number in line})
    return {
        "kind": "curve", "measure": measure, "rounds": rounds,
        "lines": [
            {"arm": arm, "totals": [
                table.amount(measure, table.join(measure, line[n])) if n in line else None
                for n in rounds
            ]}
            for arm, line in lines.items()
        ],
    }  # fmt: skip


def _lines_of(spec: Json, table: Table) -> Found:
    after = _by_arm(spec, spec["where"], spec["by"], table)
    compared = spec["against"] is not None
    before = _by_arm(spec, spec["against"], spec["by"], table) if compared else {}
    lines = []
    for arm in (arm["id"] for arm in table.contract["arms"]):
        now, then = after.get(arm, {}), before.get(arm, {})
        for name in sorted({*now, *then}):
            new, old = now.get(name, []), then.get(name, [])
            rows = [sum(cell.rows for cell in cells) for cells in (new, old)]
            line: Found = {"arm": arm, "name": name, "rows": rows[0], "totals": [], "moves": []}
            line |= {"rows_before": rows[1] if compared else None, "before": []}
            for measure in spec["measures"]:
                pair = [table.join(measure, cells) if cells else None for cells in (new, old)]
                line["totals"].append(_amount(table, measure, pair[0]))
                if compared:
                    line["before"].append(_amount(table, measure, pair[1]))
                    line["moves"].append(_move(table, measure, pair, rows))
            lines.append(line)
    return {"kind": "table", "measures": spec["measures"], "by": spec["by"], "lines": lines}


def _published(spec: Json, table: Table) -> Found:
    """Return published means beside the same ones of this exam."""
    lines: list[Found] = []
    for figure in spec["figures"]:
        measure = figure["measure"]
        each = table.by("unit", measure, table.select(figure["where"], figure["arm"])).values()
        here = table.amount(measure, sum(each)) / len(each) if each else None
        lines.append({
            "measure": measure, "arm": figure["arm"], "published": exact(figure["mean"]),
            "here": here, "units": len(each),
        })  # fmt: skip
    return {"kind": "published", "lines": lines}


def _amount(table: Table, measure: str, stored: int | None) -> Fraction | None:
    return None if stored is None else table.amount(measure, stored)


def _move(table: Table, measure: str, pair: Sequence[int | None], rows: Sequence[int]) -> str:
    """Say whether a measure got better, worse, higher or lower; sums are compared row for row."""
    new, old = pair
    if new is None or old is None:
        return ""
    declared = table.contract["measures"][measure]
    summed = declared["aggregate"] == "sum"
    gain = new * rows[1] - old * rows[0] if summed else new - old
    if gain == 0:
        return "same"
    if declared["better"] == "neither":
        return "higher" if gain > 0 else "lower"
    return "better" if (gain > 0) == (declared["better"] == "higher") else "worse"


def _log(spec: Json, lines: dict[tuple[str, Any, int], Told], table: Table) -> Found:
    place = {arm["id"]: i for i, arm in enumerate(table.contract["arms"])}
    ordered = sorted(
        lines.items(),
        key=lambda item: (
            place[item[0][0]], item[0][1], -len(item[1].units), -item[1].rows, item[0][2],
        ),
    )  # fmt: skip
    return {
        "kind": "log", "measure": spec["measure"], "by": spec["by"], "beside": spec["beside"],
        "lines": [
            {
                "arm": arm, "name": name, "value": value, "units": len(line.units),
                "rows": line.rows, "beside": list(map(table.amount, spec["beside"], line.sums)),
            }
            for (arm, name, value), line in ordered
        ],
    }  # fmt: skip


def differences(mine: Json, theirs: Json, path: str) -> Iterator[tuple[str, str, str]]:
    """Yield (place, recomputed, written) wherever a verdict file says something else.

    Only what `mine` has is compared, so that texts and what is merely shown may be richer.
    """
    if isinstance(mine, dict) and isinstance(theirs, dict):
        for key, value in mine.items():
            if key in theirs:
                yield from differences(value, theirs[key], f"{path}.{key}" if path else key)
            else:
                yield f"{path}.{key}", _brief(value), "-"
    elif _named(mine) and isinstance(theirs, list):
        # contract.json has its predictions in the order of their names, a verdict as written.
        yield from differences(_by_id(mine), _by_id(theirs), path)
    elif isinstance(mine, list) and isinstance(theirs, list) and len(mine) == len(theirs):
        for i, (one, other) in enumerate(zip(mine, theirs, strict=True)):
            yield from differences(one, other, f"{path}[{i}]")
    elif isinstance(mine, Fraction):
        if not _same_number(mine, theirs):
            yield path, str(mine), _brief(theirs)
    elif mine != theirs or type(mine) is not type(theirs):
        yield path, _brief(mine), _brief(theirs)


def _named(value: Json) -> bool:
    return isinstance(value, list) and any(isinstance(v, dict) and "id" in v for v in value)


def _by_id(values: list[Json]) -> dict[str, Json]:
    found = {str(value["id"]): value for value in values}
    return found | {"#": len(values)}


def _same_number(mine: Fraction, theirs: Json) -> bool:
    """Say whether a written number is this one: its exact text, its decimal to five digits."""
    if isinstance(theirs, str):
        return Fraction(theirs) == mine
    if "value" in theirs:  # a p, also as k / 2^n
        if Fraction(int(theirs["k"]), 2 ** int(theirs["n"])) != mine:
            return False
        theirs = theirs["value"]
    near = abs(Fraction(theirs["decimal"]) - mine) * 100_000 <= abs(mine)
    return near and Fraction(theirs["exact"]) == mine


def _brief(value: Json) -> str:
    text = str(value) if isinstance(value, Fraction) else json.dumps(value, default=str)
    return text if len(text) <= 60 else text[:57] + "..."


# --- one contract's evidence ----------------------------------------------------------------


@dataclass(frozen=True)
class Line:
    """One ledger line, and the hash of the line before it (the head that it was written on)."""

    n: int
    event: str
    data: dict[str, Json]
    time: str
    prev: str

    @property
    def head(self) -> list[Json]:
        """Return the ledger head before this line."""
        return [self.n, self.prev]


@dataclass
class Options:
    """What whoever verifies brings along."""

    rerun: int = 0
    python: str = sys.executable
    signers: Path | None = None
    tsa_ca: Path | None = None
    receipts: tuple[str, ...] = ()


@dataclass
class Check:
    """How one check ended: ``ok``, ``failed``, ``not checked`` or ``pending``."""

    name: str
    state: str = "ok"
    reason: tuple[str, dict[str, object]] | None = None
    said: list[tuple[str, dict[str, object]]] = field(default_factory=list)
    """What was found, as (key of a sentence, its facts); on failure, what is wrong."""


class Case:
    """One contract's evidence and what is known about it so far."""

    def __init__(self, tree: Tree, ident: str, options: Options) -> None:
        self.tree = tree
        self.id = ident
        self.options = options
        self.home = f"artifacts/{ident}/"
        self.names = [
            name
            for name in tree.names()
            if name.startswith((self.home, f"docs/results/{ident}/"))
            or name == f"seeds/{ident}.json"
            or re.fullmatch(rf"docs/results/{re.escape(ident)}\.[a-z]+", name)
        ]
        self.present = set(self.names)
        self.checks: dict[str, Check] = {}
        self.now = Check("")
        self.ledger: list[Line] = []
        self.end: list[Json] = []
        self.manifest: dict[str, Json] = {}
        self.contract: dict[str, Json] = {}
        self.seeds: dict[str, Json] = {}
        self.jobs: dict[str, dict[str, Json]] = {}
        self.lessons: dict[str, dict[str, Json]] = {}
        self.table = Table({})
        self.freeze = ""
        self.claim = ""
        self.results = ""
        self.colour = ""
        self.grade = "L0"
        self.rehearsal = False

    def wrong(self, key: str, **facts: object) -> None:
        """Record that something is wrong and go on looking."""
        self.now.state = "failed"
        self.now.said.append((key, facts))

    def note(self, key: str, **facts: object) -> None:
        """Record something worth telling that is not wrong."""
        self.now.said.append((key, facts))

    def read(self, name: str) -> bytes:
        """Return a file of this contract; Broken where it is missing."""
        if name not in self.present:
            raise Broken("missing", file=name)
        return self.tree.read(name)

    def sealed(self, name: str, sha: str, role: str | None = None) -> bytes:
        """Return a file's bytes after comparing its hash.

        Line endings that a checkout turned into CRLF are put back and named: no file of ours
        holds a bare carriage return, so nothing can hide behind that.
        """
        data = self.read(name)

        def hashed(content: bytes) -> str:
            return role_hash(role, content) if role else plain_hash(content)

        if hashed(data) == sha:
            return data
        plain = data.replace(b"\r\n", b"\n")
        if plain != data and hashed(plain) == sha:
            self.note("line_ends", file=name)
            return plain
        raise Broken("hash", file=name, want=sha[:12], found=hashed(data)[:12])

    def lines(self, name: str) -> list[bytes]:
        """Return a text file's lines; Broken where the last one has no end."""
        data = self.read(name)
        if b"\r\n" in data:
            self.note("line_ends", file=name)
            data = data.replace(b"\r\n", b"\n")
        *lines, tail = data.split(b"\n")
        if tail:
            raise Broken("torn", file=name, line=len(lines) + 1)
        return lines

    def value(self, data: bytes, name: str) -> dict[str, Json]:
        """Return the object that a canonical file with a final newline holds."""
        try:
            if not data.endswith(b"\n"):
                raise ValueError("no final newline")
            value = parse(data[:-1])
            if not isinstance(value, dict):
                raise ValueError("not an object")
        except (ValueError, RecursionError) as problem:
            raise Broken("malformed", file=name, why=str(problem)[:120]) from None
        return value

    def events(self, *kinds: str) -> list[Line]:
        """Return the ledger lines of some kinds, in order."""
        return [line for line in self.ledger if line.event in kinds]

    def one(self, kind: str) -> Line | None:
        """Return the only line of a kind, or None; Broken where there are several."""
        found = self.events(kind)
        if len(found) > 1:
            raise Broken("twice", event=kind, lines=_show([line.n for line in found]))
        return found[0] if found else None

    def need(self, kind: str, key: str) -> Line:
        """Return the only line of a kind; NotChecked where the track has not come that far."""
        line = self.one(kind)
        if line is None:
            raise NotChecked(key)
        return line


# What may lie beside the sealed files without being evidence.
_HARMLESS = re.compile(r"(^|/)(__pycache__/[^/]+|\.DS_Store|\.[^/]+\.part|\.?lock)$")
_KNOWN = re.compile(
    r"(ledger\.jsonl(\.torn-[0-9]+)?|(reviews|amendments|dev|witness)/.+|frozen/.+|verdict\.json"
    r"|exam/(claim\.json|timings\.jsonl|quarantine/.+|jobs/[^/]+\.jsonl\.gz))"
)


def check_files(case: Case) -> None:
    """Check: only plain files with plain names, and none whose place nobody knows."""
    for name in case.tree.odd():
        top = name.split("/")
        if name.startswith(case.home) or len(top) == 1 or top[0] not in ("artifacts", "docs"):
            case.wrong("odd_file", file=name)
    for name in case.names:
        inside = name.removeprefix(case.home)
        if (
            name.startswith(case.home)
            and not _HARMLESS.search(name)
            and not _KNOWN.fullmatch(inside)
        ):
            case.wrong("stray", file=name)
    case.note("files", count=len(case.names))


def check_ledger(case: Case) -> None:
    """Check: every line is canonical, counted, and holds the hash of the line before it."""
    name = case.home + "ledger.jsonl"
    prev = role_hash("ledger", case.id.encode())
    for n, raw in enumerate(case.lines(name)):
        try:
            line = parse(raw)
            if sorted(line) != ["data", "event", "n", "prev", "time"] or line["n"] != n:
                raise ValueError("not a ledger line of that number")
            if not isinstance(line["data"], dict) or not isinstance(line["event"], str):
                raise ValueError("not a ledger line")
        except (ValueError, TypeError, RecursionError) as problem:
            raise Broken("bad_line", line=n + 1, why=str(problem)[:120]) from None
        if line["prev"] != prev:
            raise Broken("unlinked", line=n + 1, want=prev[:12], found=str(line["prev"])[:12])
        case.ledger.append(Line(n, line["event"], line["data"], line["time"], prev))
        prev = role_hash("ledger", raw)
    case.end = [len(case.ledger), prev]
    case.note("ledger", lines=len(case.ledger), head=prev[:12])


# From which phases an event may come, and to which it leads. Phases only grow.
_DRAFT, _WORK, _REVIEWED, _FROZEN, _OPEN, _COMPLETE, _DECIDED, _CLOSED = range(8)
_MOVES: dict[str, tuple[set[int], int]] = {
    "preflight": ({_DRAFT, _WORK, _REVIEWED}, _WORK),
    "amendment": ({_WORK, _REVIEWED}, _WORK),
    "review": ({_WORK, _REVIEWED}, _REVIEWED),
    "finding": ({_REVIEWED}, _REVIEWED),
    "training": ({_WORK, _REVIEWED}, _WORK),
    "closure": ({_DRAFT, _WORK, _REVIEWED, _FROZEN}, _CLOSED),
    "freeze": ({_WORK, _REVIEWED}, _FROZEN),
    "claim": ({_FROZEN}, _OPEN),
    "start": ({_OPEN}, _OPEN),
    "done": ({_OPEN}, _OPEN),
    "complete": ({_OPEN}, _COMPLETE),
    "verdict": ({_COMPLETE}, _DECIDED),
    "report": ({_DECIDED}, _DECIDED),
    "verification": ({_DECIDED}, _DECIDED),
    "incident": (set(range(_CLOSED)), _DRAFT),
}
_TIME = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z")


def check_order(case: Case) -> None:
    """Check: the events come in an order that the life of a contract allows; no clock runs back."""
    phase, last = _DRAFT, ""
    for line in case.ledger:
        allowed, leads = _MOVES.get(line.event, (set(), 0))
        if phase not in allowed:
            raise Broken("move", line=line.n + 1, event=line.event)
        phase = max(phase, leads)
        try:
            if not _TIME.fullmatch(line.time):
                raise ValueError(line.time)
            datetime.datetime.strptime(line.time, "%Y-%m-%dT%H:%M:%SZ")
        except (ValueError, TypeError):
            case.wrong("time", line=line.n + 1, time=str(line.time)[:40])
            continue
        if line.time < last and line.data.get("kind") != "clock":
            case.wrong("clock", line=line.n + 1, time=line.time, before=last)
        last = line.time
    for line in case.events("incident"):
        case.note("incident", kind=line.data.get("kind"), job=line.data.get("job") or "-")
    first = case.ledger[0] if case.ledger else None
    case.rehearsal = bool(
        first and first.event == "incident" and first.data.get("kind") == "rehearsal"
    )


def check_manifest(case: Case) -> None:
    """Check: the ledger's freeze id is the hash of the manifest, written on its head."""
    line = case.one("freeze")
    name = case.home + "frozen/manifest.json"
    if line is None:
        if name in case.present or case.home + "exam/claim.json" in case.present:
            raise Broken("unrecorded", file=name, event="freeze")
        raise NotChecked("not_frozen")
    case.freeze = str(line.data["manifest"])
    manifest = case.value(case.sealed(name, case.freeze, "manifest"), name)
    if (manifest["schema"], manifest["id"]) != ("echoctl/manifest/1", case.id):
        raise Broken("not_this", file=name, found=_show([manifest["schema"], manifest["id"]]))
    if manifest["head"] != line.head:
        raise Broken("head", file=name, want=_show(line.head), found=_show(manifest["head"]))
    if manifest["jobs"]["count"] != line.data["jobs"]:
        raise Broken("counts", what="jobs", want=line.data["jobs"], found=manifest["jobs"]["count"])
    case.manifest = manifest
    case.note("freeze", id=case.freeze)


def check_sealed(case: Case) -> None:
    """Check: every sealed file has its hash, and nothing else lies among them."""
    manifest, frozen = case.manifest, case.home + "frozen/"
    shas = {
        frozen + "contract.yaml": manifest["contract_yaml"],
        frozen + "contract.json": manifest["contract_json"],
        frozen + "jobs.jsonl": manifest["jobs"]["file"],
        frozen + "training.jsonl": manifest["training"],
        f"seeds/{case.id}.json": manifest["seeds"],
        **{f"{frozen}tests/{test}": sha for test, sha in manifest["tests"].items()},
    }
    for name, sha in shas.items():
        try:
            case.sealed(name, sha)
        except Broken as problem:
            case.wrong(problem.key, **problem.facts)
    zipped = {frozen + "manifest.json", frozen + "code.zip"}
    packed = {f"{frozen}artefacts/{name}.gz" for name in manifest["artefacts"]}
    for name in case.names:
        if name.startswith(frozen) and name not in {*shas, *zipped, *packed}:
            (case.note if _HARMLESS.search(name) else case.wrong)("stray", file=name)
    case.note("sealed", count=len(shas) + len(packed) + 1)


def check_code(case: Case) -> None:
    """Check: the sealed zip holds exactly the listed files, each with its hash."""
    name = case.home + "frozen/code.zip"
    data, listed = case.read(name), case.manifest["code"]["files"]
    if plain_hash(data) != case.manifest["code"]["zip"]:
        case.wrong("hash", file=name, want=case.manifest["code"]["zip"][:12],
                   found=plain_hash(data)[:12])  # fmt: skip
    with zipfile.ZipFile(io.BytesIO(data)) as code:
        inside = code.namelist()
        if inside != sorted(listed):
            odd = sorted(set(inside) ^ set(listed)) or ["order"]
            raise Broken("zip_names", odd=_show(odd[:5]))
        for entry in code.infolist():
            if plain_hash(code.read(entry)) != listed[entry.filename]:
                case.wrong("zip_file", file=entry.filename)
            if entry.date_time != (1980, 1, 1, 0, 0, 0) or entry.compress_type or entry.extra:
                case.wrong("zip_entry", file=entry.filename)
    case.note("code", count=len(inside))


def check_contract(case: Case) -> None:
    """Check: the contract is this track's; preflight and amendments lead to its bytes."""
    name = case.home + "frozen/contract.json"
    data = case.sealed(name, case.manifest["contract_json"])
    contract = parse(data.removesuffix(b"\n"))
    if (contract["schema"], contract["id"]) != ("echoctl/1", case.id):
        raise Broken("not_this", file=name, found=_show([contract["schema"], contract["id"]]))
    case.contract = contract
    current = None
    for line in case.events("preflight", "amendment"):
        if line.event == "amendment":
            if current not in (None, line.data["from"]):
                case.wrong("amended", line=line.n + 1)
            current = line.data["to"]
        else:
            if current not in (None, line.data["contract"]):
                case.wrong("amended", line=line.n + 1)
            current = line.data["contract"]
    if current is not None and current != case.manifest["contract_yaml"]:
        case.wrong("amended", line=case.need("freeze", "not_frozen").n + 1)


def check_reviews(case: Case) -> None:
    """Check: reviews and amendments are the ledger's, their files whole, none left open."""
    answers: dict[int, list[Json]] = {}
    for line in case.events("finding"):
        answer = {"id": line.data["id"], "action": line.data["action"]}
        answers.setdefault(line.data["review"], []).append(answer)
    reviews = []
    for line in case.events("review"):
        given = answers.pop(line.n, [])
        reviews.append({**line.data, "answers": given})
        closed = {answer["id"] for answer in given if str(answer["action"]).strip()}
        for finding in line.data["findings"]:
            if finding["blocking"] and finding["id"] not in closed:
                case.wrong("open_finding", id=finding["id"])
        _evidence(case, "reviews/", str(line.data["file"]), line.data["hash"])
    if answers:
        case.wrong("lost_answer", line=min(answers) + 1)
    amendments = [line.data for line in case.events("amendment")]
    for number, data in enumerate(amendments):
        _evidence(case, "amendments/", str(data["file"]), data["diff"])
        for which, sha in ((number, data["from"]), (number + 1, data["to"])):
            if f"{case.home}amendments/{which}.yaml" in case.present:
                _evidence(case, "amendments/", f"amendments/{which}.yaml", sha)
    for what, mine in (("reviews", reviews), ("amendments", amendments)):
        if case.manifest[what] != mine:
            case.wrong("recorded", what=what)
    wanted = case.contract.get("reviews_required", 0)
    if len(reviews) < wanted:
        case.wrong("counts", what="reviews", want=wanted, found=len(reviews))
    case.note("reviews", reviews=len(reviews), amendments=len(amendments))


def _evidence(case: Case, folder: str, name: str, sha: str) -> None:
    path = next((p for p in (case.home + name, case.home + folder + name) if p in case.present), "")
    try:
        case.sealed(path or case.home + folder + name.rpartition("/")[2], sha)
    except Broken as problem:
        case.wrong(problem.key, **problem.facts)


def check_requires(case: Case) -> None:
    """Check: the tracks that this one rests on came out as required; memories are theirs."""
    absent = []
    for required in case.contract["requires"]:
        track = required["track"]
        home, here = f"artifacts/{track}/", set(case.tree.names())
        if not {home + "ledger.jsonl", home + "frozen/manifest.json"} <= here:
            absent.append(track)
            continue
        lines = [
            _loads(line.decode()) for line in case.tree.read(home + "ledger.jsonl").splitlines()
        ]
        colours = [line["data"]["colour"] for line in lines if line["event"] == "verdict"]
        if colours != [required["verdict"]]:
            case.wrong("required", track=track)
        theirs = _loads(case.tree.read(home + "frozen/manifest.json").decode())["artefacts"]
        mine = {
            name.removeprefix(track + "."): known
            for name, known in case.manifest["artefacts"].items()
        }
        shared = set(theirs) & set(mine)
        if required["artefacts"] and not shared:
            case.wrong("inherited", name="-", track=track)
        for name in sorted(shared):
            if required["artefacts"] and theirs[name] != mine[name]:
                case.wrong("inherited", name=name, track=track)
    if absent:
        raise NotChecked("required_absent", tracks=", ".join(absent))
    case.note("requires", count=len(case.contract["requires"]))


def laid_out(contract: Json) -> dict[str, Json]:
    """Return the seed blocks that a contract fixes: unit, round, family, episode, one by one."""
    blocks: dict[str, Json] = {}
    for name, block in contract["seeds"].items():
        stage, supply = contract["worlds"].get(name), itertools.count(block["base"])
        family: dict[str, dict[str, list[list[int]]]] = {}
        if stage is not None:
            rounds = 1 if stage["same_each_round"] else stage["rounds"]
            units = [str(unit) for unit in range(1, units_of(contract, name) + 1)]
            family = {f: {u: [[] for _ in range(rounds)] for u in units} for f in stage["families"]}
            for unit, r in itertools.product(units, range(rounds)):
                for one in _families(stage, r):
                    family[one][unit][r] = list(itertools.islice(supply, stage["per_unit"]))
        held = next(supply) - block["base"]
        size = held if block["size"] is None and stage is not None else block["size"] or 0
        if held > size:
            raise Broken("block_small", block=name, held=held, size=size)
        blocks[name] = {"base": block["base"], "size": size, "family": family}
    return blocks


def _families(stage: Json, r: int) -> list[str]:
    """Return the families that a stage plays in its round number `r`, counted from 0."""
    return list(stage["families_by_round"][r] if stage["families_by_round"] else stage["families"])


def check_seeds(case: Case) -> None:
    """Check: the published seeds are those that the contract lays out, one for one."""
    name = f"seeds/{case.id}.json"
    found = case.value(case.sealed(name, case.manifest["seeds"]), name)
    body = {key: value for key, value in found.items() if key != "hash"}
    if found.get("hash") != role_hash("seeds", canonical(body)):
        raise Broken("hash", file=name, want=str(found.get("hash"))[:12],
                     found=role_hash("seeds", canonical(body))[:12])  # fmt: skip
    mine = {"schema": "echoctl/seeds/1", "contract": case.id, "blocks": laid_out(case.contract)}
    for where, want, got in itertools.islice(differences(mine, body, ""), 3):
        case.wrong("seed", where=where, want=want, found=got)
    if canonical(mine) != canonical(body) and case.now.state == "ok":
        case.wrong("seed", where="blocks", want="", found="")
    case.seeds = mine["blocks"] if isinstance(mine["blocks"], dict) else {}
    for line in case.events("preflight"):
        known = line.data["seeds"] in (found["hash"], case.manifest["seeds"])
        if line.data.get("contract") == case.manifest["contract_yaml"] and not known:
            case.wrong("recorded", what="seeds")
    case.note("seeds", count=sum(
        len(seeds) for block in case.seeds.values() for units in block["family"].values()
        for rounds in units.values() for seeds in rounds
    ))  # fmt: skip


def check_disjoint(case: Case) -> None:
    """Check: no seed belongs to two blocks, of this contract or of another whose seeds are here."""
    ranges = [
        (b["base"], b["base"] + b["size"], f"{case.id}.{name}") for name, b in case.seeds.items()
    ]
    others = 0
    for name in case.tree.names():
        if re.fullmatch(r"seeds/[^/]+\.json", name) and name != f"seeds/{case.id}.json":
            others += 1
            blocks = _loads(case.tree.read(name).decode())["blocks"]
            ranges += [
                (b["base"], b["base"] + b["size"], f"{name[6:-5]}.{block}")
                for block, b in blocks.items()
            ]
    filled = sorted(r for r in ranges if r[0] < r[1])
    for one, other in itertools.pairwise(filled):
        mine = {one[2].split(".")[0], other[2].split(".")[0]}
        if other[0] < one[1] and case.id in mine:
            case.wrong("overlap", one=one[2], other=other[2], seed=other[0])
    case.note("disjoint", blocks=len(case.seeds), others=others)


def check_jobs(case: Case) -> None:
    """Check: the job list is the sealed one, and every job lies inside the contract."""
    listed, name = case.manifest["jobs"], case.home + "frozen/jobs.jsonl"
    arms = {arm["id"] for arm in case.contract["arms"]}
    units = max(units_of(case.contract, stage) for stage in case.contract["worlds"])
    for n, raw in enumerate(case.lines(name), start=1):
        job = parse(raw)
        ident = str(job["id"])
        if ident in case.jobs or not re.fullmatch(r"[a-z0-9][a-z0-9_.-]{0,99}", ident):
            raise Broken("job_name", line=n, job=ident[:100])
        if listed["ids"].get(ident) != role_hash("job", raw):
            case.wrong("job_digest", job=ident)
        keys = job["keys"]
        if (
            job["phase"] != "exam" or keys.get("arm") not in arms
            or type(keys.get("unit")) is not int or not 1 <= keys["unit"] <= units
            or ("regime" in keys and keys["regime"] not in case.contract["regimes"])
        ):  # fmt: skip
            case.wrong("job_keys", job=ident, keys=_show(keys))
        for needed in job["needs"]:
            if needed not in case.manifest["artefacts"]:
                case.wrong("job_needs", job=ident, name=needed)
        case.jobs[ident] = job
    if set(case.jobs) != set(listed["ids"]) or len(case.jobs) != listed["count"]:
        odd = sorted(set(case.jobs) ^ set(listed["ids"]))
        raise Broken("job_set", odd=_show(odd[:5]), count=listed["count"])
    play = case.manifest["play"]
    if play["measures"] != sorted(case.contract["measures"]):
        case.wrong("recorded", what="measures")
    known = {family for stage in case.contract["worlds"].values() for family in stage["families"]}
    if not set(play["permit"]["families"]) <= known:
        case.wrong("recorded", what="families")
    owned = [range(b["base"], b["base"] + b["size"]) for b in case.seeds.values()]
    for first, past in play["permit"]["ranges"]:
        if not any(first in block and past - 1 in block for block in owned):
            case.wrong("permit", first=first, past=past)
    case.note("jobs", count=len(case.jobs))


def check_claim(case: Case) -> None:
    """Check: the claim names this freeze and was written on the head before its own line."""
    line, name = case.one("claim"), case.home + "exam/claim.json"
    if line is None:
        if name in case.present:
            raise Broken("unrecorded", file=name, event="claim")
        raise NotChecked("not_opened")
    case.claim = str(line.data["claim"])
    claim = case.value(case.sealed(name, case.claim, "claim"), name)
    if sorted(claim) != ["freeze", "head", "id", "nonce", "schema", "time"]:
        raise Broken("malformed", file=name, why="keys")
    if (claim["schema"], claim["id"]) != ("echoctl/claim/1", case.id):
        raise Broken("not_this", file=name, found=_show([claim["schema"], claim["id"]]))
    for what, said in (("claim.json", claim["freeze"]), ("ledger", line.data["freeze"])):
        if said != case.freeze:
            raise Broken("other_freeze", what=what, want=case.freeze[:12], found=str(said)[:12])
    if claim["head"] != line.head:
        raise Broken("head", file=name, want=_show(line.head), found=_show(claim["head"]))
    if not re.fullmatch(r"[0-9a-f]{32}", str(claim["nonce"])) or not _TIME.fullmatch(claim["time"]):
        raise Broken("malformed", file=name, why="nonce, time")
    case.note("claim", id=case.claim)


def check_receipts(case: Case) -> None:
    """Check: every job was started, then received exactly once, and the count is the sealed one."""
    started: dict[str, int] = {}
    done: dict[str, Line] = {}
    for line in case.events("start", "done"):
        job, attempt = str(line.data["job"]), line.data["attempt"]
        if job not in case.jobs:
            raise Broken("foreign_job", line=line.n + 1, job=job[:100])
        if job in done:
            raise Broken("job_again", line=line.n + 1, job=job)
        if line.event == "start":
            if attempt != started.get(job, 0) + 1:
                case.wrong("attempt", line=line.n + 1, job=job)
            started[job] = attempt
            continue
        if attempt != started.get(job):
            case.wrong("attempt", line=line.n + 1, job=job)
        if line.data["head"] != line.head:
            case.wrong("head", file=f"done {job}", want=_show(line.head),
                       found=_show(line.data["head"]))  # fmt: skip
        done[job] = line
    prefix, suffix = case.home + "exam/jobs/", ".jsonl.gz"
    here = {
        name.removeprefix(prefix).removesuffix(suffix)
        for name in case.names
        if name.startswith(prefix) and name.endswith(suffix) and not _HARMLESS.search(name)
    }
    for job in sorted(here - set(started)):
        case.wrong("unstarted", job=job)
    for job in sorted(set(done) - here):
        case.wrong("missing", file=f"{prefix}{job}{suffix}")
    missing = sorted(set(case.jobs) - set(done))
    complete = case.one("complete")
    late = [n for n in ("verdict.json",) if case.home + n in case.present]
    if complete is None:
        if late or any(name.startswith("docs/results/") for name in case.names):
            raise Broken("undecided_files", missing=len(missing), count=len(case.jobs))
        raise NotChecked("not_complete", done=len(done), count=len(case.jobs))
    if missing:
        raise Broken("jobs_missing", missing=_show(missing[:5]), count=len(missing))
    pairs = sorted([job, line.data["outcome"]] for job, line in done.items())
    case.results = role_hash("results", canonical(pairs))
    if complete.data["results"] != case.results or complete.data["jobs"] != len(done):
        raise Broken("results", want=str(complete.data["results"])[:12], found=case.results[:12])
    again = sum(attempt - 1 for attempt in started.values())
    case.note("receipts", count=len(done), again=again)


def check_outcomes(case: Case) -> None:
    """Check: each outcome is the received one, whole and strict; each seed is its sealed one."""
    table = Table(case.contract)
    table.logs = [(spec, {}) for spec in asked(case.contract, "log")]
    for line in case.events("done"):
        job = case.jobs[line.data["job"]]
        name = f"{case.home}exam/jobs/{job['id']}.jsonl.gz"
        try:
            rows = read_outcome(case, name, job, table, str(line.data["outcome"]))
            if rows != line.data["rows"]:
                raise Broken("counts", what=f"rows {job['id']}", want=line.data["rows"], found=rows)
        except Broken as problem:
            case.wrong(problem.key, **problem.facts)
        except (ValueError, KeyError, IndexError, TypeError, zlib.error) as problem:
            case.wrong("malformed", file=name, why=f"{type(problem).__name__}: {problem}"[:160])
    case.table = table
    case.note("outcomes", jobs=len(table.digests), rows=sum(cell.rows for cell in table.cells))


def read_outcome(case: Case, name: str, job: Json, table: Table, sealed: str) -> int:
    """Fold one outcome file into the table and return how many rows it holds."""
    measures = sorted(case.contract["measures"])
    columns = ["stage", "family", "round", "episode", "seed", *measures]
    hashed = hashlib.sha256(b"echoctl/outcome/1\n")
    source = unpacked(case.read(name))
    first = next(source)
    hashed.update(first + b"\n")
    head = {
        "columns": columns, "job": job["id"], "keys": job["keys"], "schema": "echoctl/outcome/1",
        "job_digest": case.manifest["jobs"]["ids"][job["id"]],
    }  # fmt: skip
    if first != canonical(head):
        raise Broken("outcome_head", file=name)
    cells: dict[tuple[str, str, int], tuple[Cell, list[int], set[int], list[tuple[int, ...]]]] = {}
    end, count = None, 0
    for raw in source:
        hashed.update(raw + b"\n")
        if end is not None:
            raise ValueError("lines follow the end")
        text = raw.decode("utf-8")
        row = _loads(text)
        if type(row) is dict:
            end = parse(raw)
            continue
        # Rows are flat lists of integers and words, for which this is the canonical spelling.
        if _flat(row) != text or len(row) != len(columns) or set(map(type, row[2:])) != {int}:
            raise ValueError(f"row {count} is not {len(columns)} whole numbers and words")
        stage, family, number, episode, seed = row[:5]
        key = (stage, family, number)
        if key not in cells:
            fresh = _cell(case, job, *key)
            cells[key] = (fresh, _seeds(case, fresh), set(), [])
        cell, seeds, seen, buffer = cells[key]
        if episode < 0 or episode in seen:
            raise Broken("episode_again", job=job["id"], row=count, episode=episode)
        if seeds[episode] != seed:
            raise Broken("row_seed", job=job["id"], row=count, episode=episode, seed=seed,
                         want=seeds[episode])  # fmt: skip
        seen.add(episode)
        buffer.append(tuple(row[5:]))
        if table.logs:
            tell(table, cell, dict(zip(measures, row[5:], strict=True)))
        if len(buffer) >= 4096:
            cell.fold(measures, list(zip(*buffer, strict=True)))
            buffer.clear()
        count += 1
    if (
        end is None
        or sorted(end) != ["artefacts", "digests", "end", "rows"]
        or end["end"] is not True
    ):
        raise Broken("outcome_end", file=name)
    if end["rows"] != count:
        raise Broken("counts", what=f"rows {job['id']}", want=end["rows"], found=count)
    if hashed.hexdigest() != sealed:
        raise Broken("hash", file=name, want=sealed[:12], found=hashed.hexdigest()[:12])
    for cell, _, seen, buffer in cells.values():
        if buffer:
            cell.fold(measures, list(zip(*buffer, strict=True)))
        cell.rows, cell.episodes = len(seen), _runs(seen)
        table.cells.append(cell)
    table.digests[job["id"]] = (job["keys"]["arm"], end["digests"])
    return count


def _runs(numbers: Iterable[int]) -> list[range]:
    """Return numbers as runs of consecutive ones, in order."""
    out: list[range] = []
    for number in sorted(numbers):
        if out and out[-1].stop == number:
            out[-1] = range(out[-1].start, number + 1)
        else:
            out.append(range(number, number + 1))
    return out


def _cell(case: Case, job: Json, stage: str, family: str, number: int) -> Cell:
    keys = job["keys"]
    return Cell(job["id"], keys["unit"], keys["arm"], keys.get("regime", ""), stage, family, number)


def _seeds(case: Case, cell: Cell) -> list[int]:
    """Return the sealed seeds of a cell, in episode order."""
    stage = case.contract["worlds"][cell.stage]
    r = cell.round - stage["first_round"]
    if not 0 <= r < stage["rounds"]:
        raise Broken("row_round", job=cell.job, stage=cell.stage, round=cell.round)
    units = case.seeds[cell.stage]["family"][cell.family]
    rounds: list[list[int]] = units[str(min(cell.unit, len(units)))]
    return rounds[0 if stage["same_each_round"] else r]


def check_coverage(case: Case) -> None:
    """Check: every sealed world was played by every unit, arm and regime, exactly once."""
    played: dict[tuple[object, ...], list[range]] = {}
    for cell in case.table.cells:
        key = (cell.unit, cell.arm, cell.regime, cell.stage, cell.family, cell.round)
        played.setdefault(key, []).extend(cell.episodes)
    for where, runs in played.items():
        runs.sort(key=lambda run: run.start)
        if any(run.stop > later.start for run, later in itertools.pairwise(runs)):
            case.wrong("played_twice", where=_show(list(where)))
    case.note("coverage", count=sum(len(run) for runs in played.values() for run in runs))
    contract = case.contract
    absent = {arm["id"] for arm in contract["arms"] if arm["optional"]}
    absent -= {cell.arm for cell in case.table.cells}
    for name, stage in contract["worlds"].items():
        if not stage["sealed"]:
            continue
        arms = stage["arms"] or [arm["id"] for arm in contract["arms"]]
        arms = [arm for arm in arms if arm not in absent]
        regimes = stage["regimes"] or contract["regimes"] or [""]
        for unit, arm, regime, r in itertools.product(
            range(1, units_of(contract, name) + 1), arms, regimes, range(stage["rounds"])
        ):
            for family in _families(stage, r):
                key = (unit, arm, regime, name, family, r + stage["first_round"])
                runs = played.get(key, [])
                broken = any(run.stop != later.start for run, later in itertools.pairwise(runs))
                if not runs or broken or (runs[0].start, runs[-1].stop) != (0, stage["per_unit"]):
                    case.wrong("unplayed", where=_show(list(key)))


def check_memories(case: Case) -> None:
    """Check: each trained memory is one whole chain that ends where it was sealed.

    The sealed training jobs are those that the ledger records, and each made what it was to make.
    """
    for raw in case.lines(case.home + "frozen/training.jsonl"):
        job = parse(raw)
        case.lessons[str(job["id"])] = job
    gave = {str(line.data["job"]): line.data for line in case.events("training")}
    if set(gave) != set(case.lessons):
        raise Broken("job_set", odd=_show(sorted(set(gave) ^ set(case.lessons))[:5]),
                     count=len(case.lessons))  # fmt: skip
    trained: dict[str, Json] = {}
    for ident, job in case.lessons.items():
        made = gave[ident]["artefacts"]
        if job["phase"] != "training" or set(job["makes"]) != set(made) or set(made) & set(trained):
            case.wrong("recorded", what=ident)
        trained |= made
    chains = 0
    for name, known in case.manifest["artefacts"].items():
        if name in trained and trained[name] != known:
            case.wrong("recorded", what=name)
        path = f"{case.home}frozen/artefacts/{name}.gz"
        lines = list(unpacked(case.read(path)))
        found = plain_hash(b"".join(line + b"\n" for line in lines))
        if found != known["sha256"]:
            case.wrong("hash", file=path, want=known["sha256"][:12], found=found[:12])
        if known["head"] is None:
            if lines[:1] and _chained(lines[0]):
                case.wrong("headless", name=name)
            continue
        chains += 1
        # An inherited memory (TRACK.NAME) keeps the chain, and so the name, that its maker gave it.
        born = name if name in trained else name.partition(".")[2] or name
        prev = role_hash("memory", born.encode())
        for n, raw in enumerate(lines):
            record = parse(raw)
            if (record["n"], record["prev"]) != (n, prev):
                raise Broken("memory", name=name, line=n + 1)
            if record.get("destroyed", 0) != 0:
                case.wrong("destroyed", name=name, line=n + 1)
            prev = role_hash("memory", raw)
        if known["head"] != [len(lines), prev]:
            case.wrong(
                "head", file=path, want=_show(known["head"]), found=_show([len(lines), prev])
            )
    case.note("memories", count=chains, others=len(case.manifest["artefacts"]) - chains)


def _chained(raw: bytes) -> bool:
    """Say whether a line looks like the first of a chain."""
    try:
        record = parse(raw)
    except (ValueError, RecursionError):
        return False
    return isinstance(record, dict) and {"n", "prev"} <= set(record)


def check_verdict(case: Case) -> None:
    """Check: every statistic and gate again from the rows; the verdict file says exactly that."""
    line, name = case.one("verdict"), case.home + "verdict.json"
    mine = verdict_of(case.table)
    if line is None:
        if name in case.present:
            raise Broken("unrecorded", file=name, event="verdict")
        raise NotChecked("not_decided")
    theirs = case.value(case.sealed(name, str(line.data["verdict"]), "verdict"), name)
    mine["mark"] = "REHEARSAL" if case.rehearsal else ""
    mine["notes"] = [
        f"{one.data['job']}: {one.data['text']}"
        for one in case.events("incident")
        if one.data["kind"] == "differs"
    ]
    found = list(differences(mine, theirs, ""))
    for where, want, said in found[:5]:
        case.wrong("verdict", where=where, want=_hushed(want), found=_hushed(said))
    if line.data["colour"] != mine["colour"]:
        case.wrong("recorded", what="colour")
    case.colour = mine["colour"]
    tests = sum(1 for _ in _leaves(mine))
    case.note("decided", predictions=len(mine["predictions"]), checks=tests)


def _leaves(found: Json) -> Iterator[Found]:
    for value in found.values() if isinstance(found, dict) else found:
        if isinstance(value, dict | list):
            yield from _leaves(value)
    if isinstance(found, dict) and "kind" in found and found["kind"] != "combined":
        yield found


def check_report(case: Case) -> None:
    """Check: the report's files are the recorded ones."""
    lines = case.events("report")
    here = {name for name in case.names if name.startswith("docs/results/")}
    if not lines:
        if here:
            raise Broken("unrecorded", file=min(here), event="report")
        raise NotChecked("no_report")
    files = lines[-1].data["files"]
    for path, sha in files.items():
        try:
            _trace(case, path, case.sealed(path, sha))
        except Broken as problem:
            case.wrong(problem.key, **problem.facts)
    for path in sorted(here - set(files)):
        case.wrong("stray", file=path)
    case.note("report", count=len(files))


def _hushed(text: str) -> str:
    """Return a value to show; a colour is never named while the evidence contradicts itself."""
    return "another colour" if text.strip('"') in _COLOURS.values() else text


_BLOCK = re.compile(rb'<script[^>]* id="report-data"[^>]*>(.*?)</script>', re.DOTALL)
_COLOURS = {"GREEN": "green", "VERDE": "green", "RED": "red", "ROJO": "red"}


def _trace(case: Case, path: str, data: bytes) -> None:
    """Compare what a report carries for programs, or names in its title, with what was found."""
    if block := _BLOCK.search(data):
        said = json.loads(block[1])
        sealed = parse(case.read(case.home + "verdict.json").replace(b"\r\n", b"\n")[:-1])
        for where, want, found in itertools.islice(differences(sealed, said["verdict"], ""), 3):
            case.wrong("untraced", file=path, where=where, want=_hushed(want), found=_hushed(found))
        if not set(said["evidence"]["receipts"]) <= set(receipts_of(case).values()):
            case.wrong("untraced", file=path, where="receipts", want=case.freeze[:12], found="?")
    title = data.split(b"\n", 1)[0].decode("utf-8", "replace")
    words = [_COLOURS[word] for word in re.findall(r"[A-Z]+", title) if word in _COLOURS]
    if path.endswith(".md") and words and words[-1] != case.colour:
        case.wrong("untraced", file=path, where="title", want="-", found=_hushed(words[-1]))


# --- the contract as people read it ---------------------------------------------------------


class Yaml:
    """Reads a contract's YAML: block and flow collections, plain, quoted and block texts.

    The contract language has no anchors, tags or directives, so neither has this. Runs of white
    space count as one blank. What it does not understand is a ValueError: nothing is guessed.
    """

    def __init__(self, text: str) -> None:
        self.lines = text.removeprefix("\ufeff").replace("\r\n", "\n").split("\n")
        self.at = 0

    def read(self) -> Json:
        """Return the document's value."""
        value = self._node(-1)
        if self._peek()[0] >= 0:
            raise ValueError(f"line {self.at + 1} fits no level above it")
        return value

    def _peek(self, *, comments: bool = False) -> tuple[int, str]:
        """Return the next line's indentation and text; blank lines and comments are passed."""
        while self.at < len(self.lines):
            line = self.lines[self.at].rstrip(" \t\r")
            text = line.lstrip(" ")
            if text and (comments or text[0] != "#"):
                if text[0] in "\t&*!%@`?" or text in ("---", "..."):
                    raise ValueError(f"line {self.at + 1} begins with what no contract has")
                return len(line) - len(text), text
            self.at += 1
        return -1, ""

    def _node(self, parent: int) -> Json:
        indent, text = self._peek()
        if indent <= parent:
            return None
        if _dashed(text):
            return self._list(indent)
        if _KEY.match(text):
            return self._map(indent)
        self.at += 1
        return self._value(text, parent)

    def _list(self, indent: int) -> list[Json]:
        out = []
        while (found := self._peek())[0] == indent and _dashed(found[1]):
            rest = found[1][1:].lstrip(" ")
            if _dashed(rest) or _KEY.match(rest):
                # What follows the dash is a block of its own, indented as it stands.
                self.lines[self.at] = " " * (indent + len(found[1]) - len(rest)) + rest
                out.append(self._node(indent))
                continue
            self.at += 1
            out.append(self._value(rest, indent))
        return out

    def _map(self, indent: int) -> dict[str, Json]:
        out: dict[str, Json] = {}
        while (found := self._peek())[0] == indent:
            match = _KEY.match(found[1])
            if match is None:
                raise ValueError(f"line {self.at + 1} has no key")
            key = _plain_key(match[1])
            if key in out:
                raise ValueError(f"line {self.at + 1}: {key} is given twice")
            self.at += 1
            rest = match[2] or ""
            here, text = self._peek() if rest[:1] in ("", "#") else (-1, "")
            # A list may stand under its key without being indented.
            below = indent - 1 if here == indent and _dashed(text) else indent
            out[key] = self._value(rest, below)
        return out

    def _value(self, text: str, parent: int) -> Json:
        """Return the value of which `text` is the first line; the rest lies deeper than parent."""
        if text[:1] in ("", "#"):
            return self._node(parent)
        if text[0] in "|>":
            words = []
            while self._peek(comments=True)[0] > parent:
                words += _words(self.lines[self.at])
                self.at += 1
            return " ".join(words)
        while text[0] in "[{\"'":
            try:
                value, end = _flow(text, 0)
            except EOFError:
                if self._peek()[0] <= parent:
                    raise ValueError(f"line {self.at}: never closed") from None
                text += " " + self._peek()[1]
                self.at += 1
                continue
            if text[end:].strip(" \t\r")[:1] not in ("", "#"):
                raise ValueError(f"line {self.at}: something follows a closed value")
            return value
        words = _words(_uncommented(text))
        single = True
        while self._peek()[0] > parent:
            words += _words(_uncommented(self._peek()[1]))
            single = False
            self.at += 1
        return _scalar(" ".join(words)) if single else " ".join(words)


_KEY = re.compile(r"""("(?:[^"\\]|\\.)*"|'(?:[^']|'')*'|[\w.~/+-][^:#"'{}\[\]]*?) *:(?: +(.*)|)$""")
_PLAIN = re.compile(r"(?:[^,\[\]{}:#]|:(?=[^\s,\[\]{}])|(?<=\S)#)*")


def _dashed(text: str) -> bool:
    return text == "-" or text.startswith("- ")


def _plain_key(text: str) -> str:
    return str(_flow(text, 0)[0]) if text[0] in "\"'" else text


def _words(text: str) -> list[str]:
    """Split at YAML's white space only: a no-break space is a character like any other."""
    return [word for word in re.split(r"[ \t\r\n]+", text) if word]


def _uncommented(text: str) -> str:
    return re.split(r"\s#", text, maxsplit=1)[0]


def _scalar(text: str) -> Json:
    if text[:1] in ("&", "*", "!", "%", "@", "`") or re.search(r":(\s|$)", text):
        raise ValueError(f"not a plain text: {text[:40]}")
    if text in ("", "~", "null", "Null", "NULL"):
        return None
    if text.lower() in ("true", "false") and text in (text.lower(), text.upper(), text.title()):
        return text.lower() == "true"
    if re.fullmatch(r"[-+]?(0|[1-9][0-9]*)", text):
        return int(text)
    return text


def _flow(text: str, at: int) -> tuple[Json, int]:
    """Return the value at a place inside brackets, and where it ends; EOFError if it goes on."""
    at += len(text[at:]) - len(text[at:].lstrip(" \t\n"))
    if at >= len(text):
        raise EOFError
    if text[at] in "\"'":
        quoted = re.compile(r'"((?:[^"\\]|\\.)*)"' if text[at] == '"' else r"'((?:[^']|'')*)'")
        found = quoted.match(text, at)
        if found is None:
            raise EOFError
        inside = found[1].replace("''", "'") if text[at] == "'" else json.loads(found[0])
        return " ".join(_words(inside)), found.end()
    if text[at] not in "[{":
        plain = _PLAIN.match(text, at)
        assert plain is not None
        return _scalar(plain[0].strip(" \t\n")), plain.end()
    pairs: dict[str, Json] = {}
    items: list[Json] = []
    closing = "]" if text[at] == "[" else "}"
    at += 1
    while True:
        at += len(text[at:]) - len(text[at:].lstrip(" \t\n"))
        if text[at : at + 1] == closing:
            return (items if closing == "]" else pairs), at + 1
        item, at = _flow(text, at)
        if closing == "}":
            at += len(text[at:]) - len(text[at:].lstrip(" \t\n"))
            value, key = None, _spelled_key(item)
            if text[at : at + 1] == ":":
                value, at = _flow(text, at + 1)
            if key in pairs:
                raise ValueError(f"{key} is given twice")
            pairs[key] = value
        else:
            items.append(item)
        at += len(text[at:]) - len(text[at:].lstrip(" \t\n"))
        if at >= len(text):
            raise EOFError
        if text[at] not in "," + closing:
            raise ValueError(f"a bracket holds {text[at:][:20]!r} without a comma")
        at += text[at] == ","


def _spelled_key(value: Json) -> str:
    return value if isinstance(value, str) else json.dumps(value)


_EXACT = ("at_most", "at_least", "alpha", "mean")
_DEFAULTS: dict[str, Json] = {
    "lang": "en", "correction": "none", "if_control_zero": "fail", "direction": "decreasing",
    "plus": 0, "every": "total", "aggregate": "sum", "better": "neither", "scale": 1,
    "decides": True, "rounds": 1, "first_round": 1, "episode": 0, "unit": 1, "each": "family",
    "reviews_required": 1, "monotone.first_round": 0, "requires.verdict": "green",
}  # fmt: skip
"""What a key means where the contract leaves it out; anything empty is a default too."""


def said_otherwise(written: Json, sealed: Json, path: str) -> Iterator[tuple[str, str, str]]:
    """Yield (place, written, sealed) wherever contract.json says what the YAML does not say."""
    key, parent = path.rpartition(".")[2], path.rpartition(".")[0].rpartition(".")[2]
    if isinstance(written, dict) and isinstance(sealed, dict):
        for name in sorted({*written, *sealed}):
            here = f"{path}.{name}" if path else name
            if name not in sealed:
                yield here, _brief(written[name]), "-"
            elif name in written:
                yield from said_otherwise(written[name], sealed[name], here)
            elif not _default(name, sealed[name], key):
                yield here, "-", _brief(sealed[name])
    elif isinstance(written, list) and isinstance(sealed, list) and len(written) == len(sealed):
        for one, other in zip(written, sealed, strict=True):
            yield from said_otherwise(one, other, path)
    elif written is None and _default(key, sealed, parent):
        pass
    elif isinstance(sealed, str) and key in _EXACT:
        if _rational(written) != exact(sealed):
            yield path, _brief(written), sealed
    elif isinstance(sealed, str) and isinstance(written, str):
        if " ".join(written.split()) != " ".join(sealed.split()):
            yield path, _brief(written), _brief(sealed)
    elif written != sealed or type(written) is not type(sealed):
        yield path, _brief(written), _brief(sealed)


def _default(name: str, value: Json, parent: str) -> bool:
    if isinstance(value, dict):
        return all(_default(key, inner, name) for key, inner in value.items())
    wanted = _DEFAULTS.get(f"{parent}.{name}", _DEFAULTS.get(name))
    return value is None or value in ("", []) or value is False or value == wanted


def _rational(written: Json) -> Fraction:
    text = str(written).strip()
    percent = text.endswith("%")
    value = Fraction(text.removesuffix("%").replace(",", ".").replace(" ", ""))
    return value / 100 if percent else value


def check_yaml(case: Case) -> None:
    """Check: the contract that people read says what the canonical one says."""
    name = case.home + "frozen/contract.yaml"
    try:
        written = Yaml(case.read(name).decode("utf-8")).read()
    except (ValueError, IndexError, RecursionError) as problem:
        raise NotChecked("yaml_odd", why=str(problem)[:120]) from None
    for where, said, sealed in itertools.islice(said_otherwise(written, case.contract, ""), 5):
        case.wrong("yaml", where=where, want=_hushed(said), found=_hushed(sealed))


# --- what somebody outside vouches for ------------------------------------------------------

GRADES = ("L0", "L1", "L2", "L3")


def receipts_of(case: Case) -> dict[str, str]:
    """Return the receipt lines that this evidence stands for."""
    return {
        "freeze": f"echoctl-freeze {case.id} {case.freeze}",
        "claim": f"echoctl-claim {case.id} {case.claim}",
    }


def raise_grade(case: Case, grade: str) -> None:
    """Lift the evidence grade; it never falls."""
    case.grade = max(case.grade, grade)


def check_receipt(case: Case) -> None:
    """Check: the receipt lines that somebody kept outside are those of this evidence."""
    given = [line.split() for text in case.options.receipts for line in text.splitlines()]
    mine = [words for words in given if len(words) == 3 and words[1] == case.id]
    if not mine:
        raise NotChecked("no_receipt")
    for words in mine:
        kind = words[0].removeprefix("echoctl-")
        want = receipts_of(case).get(kind)
        if want is None:
            raise Broken("receipt_kind", found=words[0][:40])
        if " ".join(words) != want:
            case.wrong("receipt_other", kind=kind, want=words[2][:12], found=want.split()[2][:12])
    case.note("receipt", count=len(mine))


def _call(
    words: Sequence[str], folder: Path | None = None, stdin: bytes = b""
) -> tuple[int, bytes]:
    """Run a program without a shell and return its exit code and output; -1 if it is not here."""
    quiet = {"LC_ALL": "C", "TZ": "UTC", "GIT_OPTIONAL_LOCKS": "0", "GIT_TERMINAL_PROMPT": "0"}
    # A stranger's repository must not make git run or fetch anything.
    quiet |= {"GIT_ALLOW_PROTOCOL": "none", "GIT_NO_LAZY_FETCH": "1"}
    try:
        done = subprocess.run(
            words, cwd=folder, input=stdin, capture_output=True, check=False, timeout=120,
            env={**os.environ, **quiet},
        )  # fmt: skip
    except (OSError, subprocess.TimeoutExpired):
        return -1, b""
    return done.returncode, done.stdout + done.stderr if done.returncode else done.stdout


def check_git(case: Case) -> None:
    """Check: a commit with the freeze and without the claim is an ancestor of the claim's (L1)."""
    root = case.tree.root
    if root is None:
        raise NotChecked("no_git")

    def git(*words: str, stdin: bytes = b"") -> str | None:
        tame = ("core.fsmonitor=false", "core.hooksPath=/dev/null", "log.showSignature=false")
        settings = [word for one in tame for word in ("-c", one)]
        code, out = _call(("git", *settings, *words), root, stdin)
        return None if code else out.decode("utf-8", "replace").strip()

    prefix = git("rev-parse", "--show-prefix")
    if prefix is None:
        raise NotChecked("no_git")

    def holding(name: str) -> list[str]:
        blob = git("hash-object", "--stdin", "--no-filters", stdin=case.read(name))
        seen = (git("log", "--all", "--format=%H", "--", name) or "").split()
        return [
            c for c in seen if git("rev-parse", "--verify", "-q", f"{c}:{prefix}{name}") == blob
        ]

    manifest, claim = case.home + "frozen/manifest.json", case.home + "exam/claim.json"
    receipt = receipts_of(case)["freeze"]
    freezes = set(holding(manifest))
    freezes |= set((git("log", "--all", "--format=%H", "-F", f"--grep={receipt}") or "").split())
    tags = git("for-each-ref", "refs/tags", "--format=%(objectname) %(*objectname)") or ""
    for tag, *target in (line.split() for line in tags.splitlines()):
        if target and receipt in (git("cat-file", "-p", tag) or ""):
            freezes.add(target[0])
    if not freezes:
        raise NotChecked("git_none")
    claims = holding(claim)
    if not claims:
        raise NotChecked("git_claim", pending=True)
    early = [f for f in freezes if git("cat-file", "-e", f"{f}:{prefix}{claim}") is None]
    for one in early:
        for other in claims:
            if one != other and git("merge-base", "--is-ancestor", one, other) is not None:
                raise_grade(case, "L1")
                case.note("git", freeze=one[:12], claim=other[:12])
                return
    raise NotChecked("git_order")


def check_ssh(case: Case) -> None:
    """Check: both receipts carry an SSH signature of a signer whom the verifier trusts (L2)."""
    wanted = [case.home + f"witness/{kind}.txt.sig" for kind in ("freeze", "claim")]
    here = [name for name in wanted if name in case.present]
    if not here:
        raise NotChecked("no_signature")
    with tempfile.TemporaryDirectory() as place:
        sig, who = Path(place, "sig"), case.options.signers
        for name in here:
            text = _witnessed(case, name.removesuffix(".sig"))
            sig.write_bytes(case.read(name))
            tool = ("ssh-keygen", "-Y")
            code, said = _call(
                (*tool, "check-novalidate", "-n", "echoctl", "-s", str(sig)), stdin=text
            )
            if code == -1:
                raise NotChecked("no_tool", tool="ssh-keygen")
            if code:
                raise Broken("signature", file=name)
            case.note("signed", file=name.rpartition("/")[2], by=said.decode().split()[-1])
            if who is None:
                continue
            found = _call((*tool, "find-principals", "-s", str(sig), "-f", str(who)))[1].split()
            if not found or _call(
                (*tool, "verify", "-f", str(who), "-I", found[0].decode(), "-n", "echoctl",
                 "-s", str(sig)), stdin=text,
            )[0]:  # fmt: skip
                raise Broken("signer", file=name)
    if who is None:
        raise NotChecked("no_signers")
    if here != wanted:
        raise NotChecked("half", pending=True)
    raise_grade(case, "L2")


def check_time(case: Case) -> None:
    """Check: both receipts carry a time stamp of an authority whom the verifier trusts (L3)."""
    wanted = [case.home + f"witness/{kind}.txt.tsr" for kind in ("freeze", "claim")]
    here = [name for name in wanted if name in case.present]
    if not here:
        raise NotChecked("no_stamp")
    times, authority = [], case.options.tsa_ca
    with tempfile.TemporaryDirectory() as place:
        reply, data = Path(place, "tsr"), Path(place, "data")
        for name in here:
            data.write_bytes(_witnessed(case, name.removesuffix(".tsr")))
            reply.write_bytes(case.read(name))
            code, said = _call(("openssl", "ts", "-reply", "-in", str(reply), "-text"))
            if code == -1:
                raise NotChecked("no_tool", tool="openssl")
            text = said.decode("utf-8", "replace")
            found = re.search(
                r"Time stamp: (\w{3} +\d+ \d\d:\d\d:\d\d)(?:\.\d+)? (\d{4}) GMT", text
            )
            digest = "".join(re.findall(r"^ +[0-9a-f]{4} - ((?:[0-9a-f]{2}[ -])+)", text, re.M))
            if found is None or plain_hash(data.read_bytes()) not in re.sub(r"[ -]", "", digest):
                raise Broken("stamp", file=name)
            times.append(datetime.datetime.strptime(" ".join(found.groups()), "%b %d %H:%M:%S %Y"))
            case.note("stamped", file=name.rpartition("/")[2], time=f"{times[-1].isoformat()}Z")
            if authority is None:
                continue
            words = ("openssl", "ts", "-verify", "-data", str(data), "-in", str(reply))
            if _call((*words, "-CAfile", str(authority), "-untrusted", str(authority)))[0]:
                raise Broken("stamp", file=name)
    if len(times) == 2 and times[0] > times[1]:
        raise Broken("stamp_order", freeze=str(times[0]), claim=str(times[1]))
    if authority is None:
        raise NotChecked("no_authority")
    if here != wanted:
        raise NotChecked("half", pending=True)
    raise_grade(case, "L3")


def _witnessed(case: Case, name: str) -> bytes:
    """Return a witness's text after proving that it is this evidence's receipt."""
    data = case.read(name)
    kind = name.rpartition("/")[2].removesuffix(".txt")
    if data.replace(b"\r\n", b"\n") != receipts_of(case)[kind].encode() + b"\n":
        raise Broken("witness_text", file=name)
    return data


def check_witness(case: Case) -> None:
    """Check: what lies in the witness folder names this freeze and this claim."""
    here = [name for name in case.names if name.startswith(case.home + "witness/")]
    here = [name for name in here if not _HARMLESS.search(name)]
    if not here:
        raise NotChecked("no_witness")
    for name in here:
        kind, _, rest = name.rpartition("/")[2].partition(".")
        if kind not in ("freeze", "claim") or rest not in ("txt", "txt.sig", "txt.tsr"):
            case.wrong("stray", file=name)
        elif rest == "txt":
            _witnessed(case, name)
        elif name.rpartition(".")[0] not in case.present:
            case.wrong("missing", file=name.rpartition(".")[0])
    case.note("witness", count=len(here))


# --- playing some jobs again ----------------------------------------------------------------


OUTSIDE = "answers_from_outside"
"""The digest of a job that asked somebody outside (a language model): it cannot be repeated."""


def unrepeatable(table: Table) -> set[str]:
    """Return the jobs that say so, of arms that decide nothing: of others it is no excuse."""
    reported = {arm["id"] for arm in table.contract["arms"] if arm["kind"] == "reported"}
    return {
        job
        for job, (arm, digests) in table.digests.items()
        if arm in reported and OUTSIDE in digests
    }


def drawn(case: Case, jobs: Iterable[str], count: int) -> list[str]:
    """Return the jobs to play again: nobody could know them before the results were sealed."""
    keyed = sorted(jobs, key=lambda job: role_hash("rerun", f"{case.results} {job}".encode()))
    return keyed[:count]


def check_rerun(case: Case) -> None:
    """Check: jobs drawn by the hash of the results give the same bytes from the sealed code.

    As many training jobs are drawn beside them: a memory is what the sealed training makes.
    """
    if case.options.rerun <= 0:
        raise NotChecked("rerun_unasked")
    with tempfile.TemporaryDirectory() as home:
        folder = Path(home)
        code = folder / "code.zip"
        code.write_bytes(case.read(case.home + "frozen/code.zip"))
        play, count = case.manifest["play"], case.options.rerun
        told = unrepeatable(case.table)
        chosen = drawn(case, set(case.jobs) - told, count)
        taught = drawn(case, case.lessons, count)
        kind = {"kind": "rehearsal"} if case.rehearsal else {"kind": "exam"}
        permit = {**kind, **play["permit"], "claim": None if case.rehearsal else case.claim}
        asked: list[Json] = [{
            "op": "setup", "track": play["track"], "measures": play["measures"], "sealed": True,
            "root": str(code), "permit": permit,
        }]  # fmt: skip
        todo = [(case.jobs[job], folder / f"exam-{job}", _compare_outcome) for job in chosen]
        todo += [(case.lessons[job], folder / f"lesson-{job}", _compare_lesson) for job in taught]
        asked += [_asked(case, job, place) for job, place, _ in todo]
        answers = _converse(case, code, asked)[1:]
        for (job, place, compare), answer in zip(todo, answers, strict=True):
            if "failed" in answer:
                why = str(answer["failed"].get("why"))[:200]
                case.wrong("rerun_failed", job=job["id"], why=why)
            else:
                compare(case, job["id"], place)
    case.note("rerun", jobs=_show([*chosen, *taught]))
    if told:
        case.note("rerun_told", count=len(told))


def _asked(case: Case, job: Json, place: Path) -> Json:
    """Return the request to play a job inside a new folder."""
    place.mkdir()
    needs = {}
    for i, name in enumerate(job["needs"]):
        path = place / f"need{i}"
        packed = case.read(f"{case.home}frozen/artefacts/{name}.gz")
        path.write_bytes(zlib.decompress(packed, wbits=31))
        needs[name] = {"path": str(path), "sha256": case.manifest["artefacts"][name]["sha256"]}
    makes = {name: str(place / f"make{i}") for i, name in enumerate(job["makes"])}
    return {"op": "play", "job": job, "out": str(place / "out"), "needs": needs, "makes": makes}


def _compare_outcome(case: Case, job: str, place: Path) -> None:
    mine = list(unpacked((place / "out").read_bytes()))
    theirs = list(unpacked(case.read(f"{case.home}exam/jobs/{job}.jsonl.gz")))
    if mine != theirs:
        pairs = enumerate(zip(mine, theirs, strict=False))
        row = next((n for n, (a, b) in pairs if a != b), min(len(mine), len(theirs)))
        case.wrong("rerun_differs", job=job, line=row + 1)


def _compare_lesson(case: Case, job: str, place: Path) -> None:
    gave = [line.data for line in case.events("training") if line.data["job"] == job][-1]
    body = b"".join(line + b"\n" for line in unpacked((place / "out").read_bytes()))
    if role_hash("outcome", body) != gave["outcome"]:
        case.wrong("rerun_lesson", job=job, what="outcome")
    for i, name in enumerate(case.lessons[job]["makes"]):
        if plain_hash((place / f"make{i}").read_bytes()) != gave["artefacts"][name]["sha256"]:
            case.wrong("rerun_lesson", job=job, what=name)


def _converse(case: Case, code: Path, asked: Sequence[Json]) -> list[Json]:
    """Run one worker from the sealed zip and return its last answer to each request."""
    empty = code.parent / "empty"
    empty.mkdir()
    clean = {k: v for k, v in os.environ.items() if not k.startswith(("PYTHON", "ECHOCTL_"))}
    answers: list[Json] = []
    with (empty.parent / "stderr").open("w+b") as errors:
        try:
            worker = subprocess.Popen(
                [case.options.python, "-P", str(code)], cwd=empty, env=clean, encoding="utf-8",
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors,
            )  # fmt: skip
        except OSError as problem:
            raise NotChecked("rerun_impossible", why=str(problem)) from None
        with worker:
            assert worker.stdin is not None
            assert worker.stdout is not None
            for request in asked:
                try:
                    worker.stdin.write(json.dumps(request) + "\n")
                    worker.stdin.flush()
                    while "at" in (answer := json.loads(worker.stdout.readline() or "null") or {}):
                        pass
                except (OSError, ValueError):
                    answer = {}
                if not answer or (not answers and "ready" not in answer):
                    worker.kill()
                    errors.seek(0)
                    last = errors.read().decode("utf-8", "replace").strip().splitlines()[-1:]
                    why = str(answer.get("failed", {}).get("why", *last or ["no answer"]))
                    raise NotChecked("rerun_impossible", why=why[:200])
                answers.append(answer)
            with contextlib.suppress(OSError):
                worker.stdin.close()
    return answers


# --- all of it ------------------------------------------------------------------------------

CHECKS: tuple[tuple[str, Callable[[Case], None], tuple[str, ...]], ...] = (
    ("files", check_files, ()),
    ("ledger", check_ledger, ()),
    ("order", check_order, ("ledger",)),
    ("manifest", check_manifest, ("ledger",)),
    ("sealed", check_sealed, ("manifest",)),
    ("code", check_code, ("manifest",)),
    ("contract", check_contract, ("manifest",)),
    ("yaml", check_yaml, ("contract", "sealed")),
    ("requires", check_requires, ("contract",)),
    ("reviews", check_reviews, ("contract",)),
    ("seeds", check_seeds, ("contract",)),
    ("disjoint", check_disjoint, ("seeds",)),
    ("jobs", check_jobs, ("seeds",)),
    ("memories", check_memories, ("manifest",)),
    ("claim", check_claim, ("manifest",)),
    ("receipts", check_receipts, ("jobs", "claim")),
    ("outcomes", check_outcomes, ("receipts",)),
    ("coverage", check_coverage, ("outcomes",)),
    ("verdict", check_verdict, ("coverage", "order")),
    ("report", check_report, ("verdict",)),
    ("rerun", check_rerun, ("outcomes", "code", "memories")),
    ("receipt", check_receipt, ("manifest",)),
    ("witness", check_witness, ("manifest",)),
    ("git", check_git, ("manifest", "claim")),
    ("ssh", check_ssh, ("manifest", "claim")),
    ("time", check_time, ("manifest", "claim")),
)
"""Every check: its name, what it does, and which others must have passed before it."""

_MALFORMED = (
    ValueError, LookupError, TypeError, AttributeError, ArithmeticError, RecursionError,
    OSError, EOFError, StopIteration, RuntimeError, zlib.error, zipfile.BadZipFile,
    NotImplementedError,
)  # fmt: skip
"""What reading evidence that somebody twisted can raise: all of it is the evidence's fault."""


@dataclass
class Report:
    """What the verifier found about one contract."""

    case: Case

    @property
    def failed(self) -> list[Check]:
        """Return the checks that failed."""
        return [check for check in self.case.checks.values() if check.state == "failed"]

    @property
    def decided(self) -> bool:
        """Return whether there is a verdict and nothing contradicts it."""
        return not self.failed and bool(self.case.colour)

    @property
    def canonical_text(self) -> str:
        """Return the short text that names each check that ran and each that did not."""
        case = self.case
        lines = [
            "echoctl-verification 1", f"id {case.id}", f"freeze {case.freeze or '-'}",
            f"claim {case.claim or '-'}", f"results {case.results or '-'}",
        ]  # fmt: skip
        for check in case.checks.values():
            because = f" ({check.reason[0]})" if check.reason else ""
            state = {"ok": "ran ok", "failed": "ran FAILED"}.get(check.state, check.state)
            lines.append(f"{check.name}: {state}{because}")
        if not self.failed:
            lines.append(f"grade {case.grade}")
            mark = "REHEARSAL " if case.rehearsal else ""
            lines.append(f"verdict {mark}{case.colour}" if case.colour else "verdict none")
        lines.append(f"failures {len(self.failed)}")
        return "\n".join(lines) + "\n"

    def as_json(self) -> dict[str, Json]:
        """Return everything as one JSON value."""
        case = self.case
        return {
            "id": case.id, "freeze": case.freeze, "claim": case.claim, "results": case.results,
            "failures": len(self.failed), "decided": self.decided,
            "colour": case.colour if self.decided else None,
            "grade": case.grade if not self.failed else None, "rehearsal": case.rehearsal,
            "checks": [
                {
                    "name": check.name, "state": check.state,
                    "reason": say(*check.reason, "en") if check.reason else "",
                    "said": [say(key, facts, "en") for key, facts in check.said],
                }
                for check in case.checks.values()
            ],
            "text": self.canonical_text,
            "summary": plain_hash(self.canonical_text.encode()),
        }  # fmt: skip


def verify(
    tree: Tree, ident: str, options: Options | None = None, only: Sequence[str] = ()
) -> Report:
    """Check one contract's evidence again and return what was found. Writes nothing.

    With `only`, the named checks and those that they need; a verdict then needs ``verdict``.
    """
    case = Case(tree, ident, options or Options())
    wanted = set(only)
    for name, _, needs in reversed(CHECKS):
        wanted |= set(needs) if name in wanted else set()
    for name, check, needs in CHECKS:
        if only and name not in wanted:
            continue
        case.now = case.checks[name] = Check(name)
        lacking = [other for other in needs if case.checks[other].state != "ok"]
        if lacking:
            case.now.state = "not checked"
            case.now.reason = ("needs", {"other": lacking[0]})
            continue
        try:
            check(case)
        except Broken as problem:
            case.wrong(problem.key, **problem.facts)
        except NotChecked as problem:
            # What was found to be wrong before the check ended early stays wrong.
            if case.now.state != "failed":
                case.now.state = "pending" if problem.pending else "not checked"
            case.now.reason = (problem.key, problem.facts)
        except _MALFORMED as problem:
            case.wrong("malformed", file=name, why=f"{type(problem).__name__}: {problem}"[:160])
    return Report(case)


def open_tree(path: Path) -> Tree:
    """Return the workspace or bundle at a path; ValueError, in words, where there is neither."""
    if path.is_dir():
        return Folder(path)
    if not path.is_file():
        raise ValueError(f"{path}: nothing is there")
    try:
        return Archive(path)
    except (tarfile.TarError, zipfile.BadZipFile, OSError, EOFError, zlib.error) as problem:
        raise ValueError(f"{path}: neither a workspace nor a bundle ({problem})") from None


def idents(tree: Tree, *, decided: bool) -> list[str]:
    """Return the contracts that have evidence here; only those that say to be decided if asked.

    A verdict file or a report says so too: a ledger that lost its tail must not hide a track.
    """
    found: dict[str, bool] = {}
    for name in tree.names():
        match = re.match(r"(?:artifacts|docs/results)/([a-z][a-z0-9_]{1,39})(?=[./])", name)
        if match:
            end = name.startswith("docs/") or name == f"artifacts/{match[1]}/verdict.json"
            if name == f"artifacts/{match[1]}/ledger.jsonl":
                end = b'"event":"verdict"' in tree.read(name)
            found[match[1]] = found.get(match[1], False) or end
    return [ident for ident, end in sorted(found.items()) if end or not decided]


# --- words ----------------------------------------------------------------------------------

_WORDS = """\
#files = plain files in known places
  = archivos corrientes en sitios conocidos
#ledger = every ledger line holds the one before
  = cada línea del libro encadena la anterior
#order = events in a lawful order
  = sucesos en un orden permitido
#manifest = the freeze id is the manifest's hash
  = el sello es el hash del manifiesto
#sealed = sealed files are the sealed ones
  = los archivos sellados son los sellados
#code = the code zip holds what was listed
  = el zip de código contiene lo listado
#contract = the contract is the frozen one
  = el contrato es el congelado
#yaml = the contract that people read says the same
  = el contrato que se lee dice lo mismo
#requires = the tracks that this one rests on
  = las pistas en las que se apoya esta
#reviews = reviews and amendments
  = revisiones y enmiendas
#seeds = seeds follow from the contract
  = las semillas se siguen del contrato
#disjoint = seed blocks are disjoint
  = los bloques de semillas son disjuntos
#jobs = the job list is the sealed one
  = la lista de trabajos es la sellada
#memories = trained memories are whole chains
  = las memorias son cadenas enteras
#claim = one claim, of this freeze
  = una apertura, de este sello
#receipts = every job received exactly once
  = cada trabajo recibido una sola vez
#outcomes = outcomes are the received ones
  = los resultados son los recibidos
#coverage = every sealed world played once
  = cada mundo sellado se jugó una vez
#verdict = every statistic and gate again
  = cada estadístico y cada puerta, otra vez
#report = the report's files
  = los archivos del informe
#rerun = jobs played again
  = trabajos jugados otra vez
#receipt = receipts kept outside
  = resguardos guardados fuera
#witness = witness files name this evidence
  = los testigos nombran esta evidencia
#git = git: freeze before claim (L1)
  = git: sello antes que apertura (L1)
#ssh = SSH signatures (L2)
  = firmas SSH (L2)
#time = outside time stamps (L3)
  = sellos de tiempo externos (L3)
files = {count} files
  = {count} archivos
ledger = {lines} lines, head {head}…
  = {lines} líneas, cabeza {head}…
incident = incident recorded: {kind} (job {job})
  = incidencia anotada: {kind} (trabajo {job})
freeze = freeze {id}
  = sello {id}
claim = claim {id}
  = apertura {id}
sealed = {count} files
  = {count} archivos
code = {count} files
  = {count} archivos
requires = {count} tracks
  = {count} pistas
reviews = {reviews} reviews, {amendments} amendments
  = {reviews} revisiones, {amendments} enmiendas
seeds = {count} seeds laid out again
  = {count} semillas trazadas otra vez
disjoint = {blocks} blocks, {others} other contracts
  = {blocks} bloques, {others} contratos más
jobs = {count} jobs
  = {count} trabajos
memories = {count} memories, {others} other artefacts
  = {count} memorias, {others} artefactos más
receipts = {count} jobs, {again} attempts repeated
  = {count} trabajos, {again} intentos repetidos
outcomes = {jobs} outcomes, {rows} rows
  = {jobs} resultados, {rows} filas
coverage = {count} episodes
  = {count} episodios
decided = {predictions} predictions, {checks} checks
  = {predictions} predicciones, {checks} comprobaciones
report = {count} files
  = {count} archivos
rerun = same bytes: {jobs}
  = los mismos bytes: {jobs}
receipt = {count} receipts compared
  = {count} resguardos comparados
witness = {count} files
  = {count} archivos
git = {freeze} is an ancestor of {claim}
  = {freeze} es antepasado de {claim}
signed = {file} is signed by {by}
  = {file} lleva la firma de {by}
stamped = {file} is stamped {time}
  = {file} lleva el sello de {time}
line_ends = only the line endings of {file} differ (a CRLF checkout)
  = en {file} solo cambian los finales de línea (copia con CRLF)
needs = needs the check '{other}'
  = necesita la comprobación '{other}'
not_frozen = not frozen yet
  = aún sin congelar
not_opened = the exam was not opened yet
  = el examen aún no se ha abierto
not_complete = the exam has {done} of {count} jobs
  = el examen tiene {done} de {count} trabajos
not_decided = not decided yet
  = aún sin decidir
no_report = no report yet
  = aún sin informe
rerun_told = {count} jobs heard answers from outside and cannot be played again
  = {count} trabajos oyeron respuestas de fuera y no se pueden volver a jugar
rerun_unasked = not asked for: --rerun K
  = no se ha pedido: --rerun K
rerun_impossible = the sealed code does not run here: {why}
  = el código sellado no arranca aquí: {why}
yaml_odd = the YAML holds something that this reader leaves to others: {why}
  = el YAML contiene algo que este lector deja a otros: {why}
required_absent = their evidence is not here: {tracks}
  = su evidencia no está aquí: {tracks}
no_receipt = none given: --receipt LINE
  = no se ha dado ninguno: --receipt LÍNEA
no_witness = no witness files
  = no hay archivos de testigo
no_git = no git repository here
  = aquí no hay repositorio git
git_none = no commit or tag holds the freeze
  = ningún commit ni etiqueta contiene el sello
git_claim = the claim is in no commit yet
  = la apertura aún no está en ningún commit
git_order = no commit with the freeze precedes the claim's
  = ningún commit con el sello precede al de la apertura
no_signature = no signatures
  = no hay firmas
no_signers = whose signatures count was not said: --signers FILE
  = falta decir de quién valen las firmas: --signers ARCHIVO
no_stamp = no time stamps
  = no hay sellos de tiempo
no_authority = which authority counts was not said: --tsa-ca FILE
  = falta decir qué autoridad vale: --tsa-ca ARCHIVO
no_tool = {tool} is not installed here
  = {tool} no está instalado aquí
half = only one of the two receipts has one
  = solo uno de los dos resguardos lo lleva
odd_file = {file} is no plain file with a plain name
  = {file} no es un archivo corriente con nombre corriente
stray = {file} is not part of what was sealed
  = {file} no es parte de lo sellado
missing = {file} is missing
  = falta {file}
hash = {file} was changed: its hash is {found}…, sealed was {want}…
  = {file} se cambió: su hash es {found}…, se selló {want}…
torn = {file}: line {line} has no end
  = {file}: la línea {line} no termina
malformed = {file} is not as it was written: {why}
  = {file} no está como se escribió: {why}
bad_line = ledger line {line} is no ledger line: {why}
  = la línea {line} del libro no es tal: {why}
unlinked = ledger line {line} does not follow the one before: {found}… for {want}…
  = la línea {line} del libro no sigue a la anterior: {found}… por {want}…
twice = '{event}' is recorded more than once (lines {lines})
  = '{event}' consta más de una vez (líneas {lines})
move = ledger line {line}: '{event}' cannot come here
  = línea {line} del libro: '{event}' no puede venir aquí
time = ledger line {line}: {time} is no time
  = línea {line} del libro: {time} no es una hora
clock = ledger line {line}: the clock ran back from {before} to {time}, unsaid
  = línea {line} del libro: el reloj volvió de {before} a {time} sin decirlo
unrecorded = {file} is here, the ledger has no '{event}': its tail was cut
  = {file} está aquí, el libro no tiene '{event}': le falta la cola
undecided_files = a verdict or a report is here; the ledger lacks {missing} of {count} jobs
  = hay veredicto o informe; al libro le faltan {missing} de {count} trabajos
not_this = {file} belongs to something else: {found}
  = {file} es de otra cosa: {found}
head = {file} was written on another ledger: {found}, not {want}
  = {file} se escribió sobre otro libro: {found}, no {want}
counts = {what}: {found} where {want} were fixed
  = {what}: hay {found} donde se fijaron {want}
zip_names = the code zip holds other names than listed: {odd}
  = el zip de código tiene otros nombres que los listados: {odd}
zip_file = {file} in the code zip was changed
  = se cambió {file} en el zip de código
zip_entry = {file} in the code zip carries a date or is compressed
  = {file} en el zip de código lleva fecha o está comprimido
amended = ledger line {line}: the contract changed without an amendment
  = línea {line} del libro: el contrato cambió sin enmienda
yaml = at {where} the YAML says {want} and the canonical contract {found}
  = en {where} el YAML dice {want} y el contrato canónico {found}
required = this rests on {track}, whose verdict is not the required one
  = esta se apoya en {track}, cuyo veredicto no es el exigido
inherited = artefact {name} is not the one that {track} sealed
  = el artefacto {name} no es el que selló {track}
open_finding = the blocking finding {id} was never acted on
  = el hallazgo bloqueante {id} quedó sin atender
lost_answer = an answer names ledger line {line}, which is no review
  = una respuesta nombra la línea {line} del libro, que no es una revisión
recorded = {what}: two records disagree
  = {what}: dos constancias no coinciden
block_small = seed block {block} holds {held} seeds in a range of {size}
  = el bloque {block} tiene {held} semillas en un rango de {size}
seed = seeds: {where} is {found}, the contract lays out {want}
  = semillas: {where} es {found}, el contrato fija {want}
overlap = seed {seed} belongs to both {one} and {other}
  = la semilla {seed} es de {one} y de {other}
job_name = job list, line {line}: {job} is no fresh job id
  = lista de trabajos, línea {line}: {job} no es un id nuevo
job_digest = job {job} is not the sealed one
  = el trabajo {job} no es el sellado
job_keys = job {job} is outside the contract: {keys}
  = el trabajo {job} está fuera del contrato: {keys}
job_needs = job {job} needs {name}, which was not sealed
  = el trabajo {job} necesita {name}, que no se selló
job_set = job list and manifest differ: {odd} (sealed: {count})
  = la lista de trabajos y el manifiesto difieren: {odd} (sellados: {count})
permit = the permit covers seeds {first} to {past}, which no block holds
  = el permiso cubre semillas {first} a {past}, que no están en ningún bloque
other_freeze = the claim in {what} is of another freeze: {found}…, not {want}…
  = la apertura en {what} es de otro sello: {found}…, no {want}…
foreign_job = ledger line {line}: {job} was never sealed
  = línea {line} del libro: {job} no se selló
job_again = ledger line {line}: job {job} is recorded again
  = línea {line} del libro: el trabajo {job} consta otra vez
attempt = ledger line {line}: the attempts at {job} do not count up
  = línea {line} del libro: los intentos de {job} no cuadran
unstarted = a result of {job} is here, but the ledger never started it
  = hay un resultado de {job}, pero el libro no lo empezó
jobs_missing = {count} jobs were never received: {missing}; an exam excludes none
  = {count} trabajos sin recibir: {missing}; un examen no excluye ninguno
results = the results' hash is {found}…, recorded is {want}…
  = el hash de los resultados es {found}…, consta {want}…
outcome_head = {file} is not of this job, or names other columns
  = {file} no es de este trabajo, o nombra otras columnas
outcome_end = {file} has no end
  = {file} no termina
episode_again = job {job}, row {row}: episode {episode} is counted again
  = trabajo {job}, fila {row}: el episodio {episode} se cuenta otra vez
row_seed = job {job}, row {row}: episode {episode} has seed {seed}, not the sealed {want}
  = trabajo {job}, fila {row}: el episodio {episode} lleva {seed}, no la sellada {want}
row_round = job {job}: stage {stage} has no round {round}
  = trabajo {job}: la etapa {stage} no tiene ronda {round}
played_twice = worlds were counted twice: {where}
  = hay mundos contados dos veces: {where}
unplayed = sealed worlds were not played: {where}
  = hay mundos sellados sin jugar: {where}
headless = artefact {name} is a chain, and the freeze did not seal its head
  = el artefacto {name} es una cadena y el sello no guardó su cabeza
memory = memory {name}, line {line}: the chain is broken
  = memoria {name}, línea {line}: cadena rota
destroyed = memory {name}, line {line}: something was destroyed
  = memoria {name}, línea {line}: se destruyó algo
empty_filter = no row passes the filter {where} of arm {arm}
  = ninguna fila pasa el filtro {where} del brazo {arm}
units = arm {arm} has {found} units of {count}
  = el brazo {arm} tiene {found} unidades de {count}
menu = a check is none of the menu: {found}
  = una comprobación no es del menú: {found}
green_rule = the verdict's rule rests on nothing that decides
  = la regla del veredicto no se apoya en nada que decida
verdict = the verdict says {found} at {where}; recomputed: {want}
  = el veredicto dice {found} en {where}; recalculado: {want}
untraced = {file} says {found} at {where}; the evidence says {want}
  = {file} dice {found} en {where}; la evidencia dice {want}
receipt_other = the {kind} receipt kept outside says {want}…, this evidence {found}…
  = el resguardo de {kind} dice {want}…, esta evidencia {found}…
receipt_kind = {found} is no receipt
  = {found} no es un resguardo
witness_text = {file} is not this evidence's receipt
  = {file} no es el resguardo de esta evidencia
signature = {file} does not sign its receipt
  = {file} no firma su resguardo
signer = {file} is signed by none of the signers that were named
  = {file} no lo firma nadie de los nombrados
stamp = {file} does not stamp its receipt, or is not of that authority
  = {file} no sella su resguardo, o no es de esa autoridad
stamp_order = the claim was stamped {claim}, before the freeze ({freeze})
  = la apertura se selló {claim}, antes que el contrato ({freeze})
rerun_failed = job {job} does not play again: {why}
  = el trabajo {job} no se deja jugar otra vez: {why}
rerun_differs = job {job} gives other bytes, from line {line} on
  = el trabajo {job} da otros bytes, desde la línea {line}
rerun_lesson = training job {job} gives another {what}
  = el trabajo de entrenamiento {job} da otro {what}
.ok = ok
  = bien
.failed = FAILED
  = FALLA
.not checked = not checked
  = sin comprobar
.pending = pending
  = pendiente
.bad = the evidence is inconsistent: {count} checks failed
  = la evidencia es incoherente: fallan {count} comprobaciones
.open = nothing contradicts itself, and there is no verdict yet
  = nada se contradice, y aún no hay veredicto
.good = verified · verdict {colour}{mark}
  = verificado · veredicto {colour}{mark}
.green = GREEN
  = VERDE
.red = RED
  = ROJO
.L0 = evidence L0: self-attested; whoever rewrites everything here could have made it all
  = evidencia L0: su propia palabra; quien lo reescriba todo pudo fabricarlo
.L1 = evidence L1: a git commit holds the freeze before the claim; copies outside make it firm
  = evidencia L1: un commit contiene el sello antes que la apertura; valen las copias de fuera
.L2 = evidence L2: both receipts are signed by a signer you named
  = evidencia L2: ambos resguardos llevan la firma de alguien que has nombrado
.L3 = evidence L3: an authority you named stamped the freeze, then the claim
  = evidencia L3: una autoridad que has nombrado selló el contrato y luego la apertura
.nothing = nothing is decided here
  = aquí no hay nada decidido
.expected = expected {want}, found {found}
  = se esperaba {want}, se encontró {found}
"""
WORDS: dict[str, tuple[str, str]] = {
    key: (english, spanish)
    for key, english, spanish in re.findall(r"^(\S.*?) = (.*)\n  = (.*)$", _WORDS, re.MULTILINE)
}
"""Every sentence in English and in Spanish."""


def say(key: str, facts: Mapping[str, object], lang: str) -> str:
    """Return a sentence with its facts filled in; what evidence says is shown without controls."""
    safe = {
        name: "".join(c if c.isprintable() else "?" for c in str(v)) for name, v in facts.items()
    }
    return WORDS[key][lang == "es"].format(**safe)


def told(report: Report, lang: str) -> str:
    """Return the report as lines for a reader, ending in the canonical text."""
    case, lines = report.case, []
    for check in case.checks.values():
        word = say("." + check.state, {}, lang)
        found = [say(key, facts, lang) for key, facts in check.said]
        if check.reason:
            found.insert(0, say(*check.reason, lang))
        title = say("#" + check.name, {}, lang)
        first = "" if check.state == "failed" else "; ".join(found[:1])
        lines.append(f"  {word:<13} {title}" + (f": {first}" if first else ""))
        rest = found if check.state == "failed" else found[1:]
        lines += [f"  {'':<13}   {one}" for one in rest[:20]]
    if report.failed:
        end = say(".bad", {"count": len(report.failed)}, lang)
    elif not report.decided:
        end = say(".open", {}, lang)
    else:
        mark = " (REHEARSAL)" if case.rehearsal else ""
        end = say(".good", {"colour": say("." + case.colour, {}, lang), "mark": mark}, lang)
        end += "\n" + say("." + case.grade, {}, lang)
    return "\n".join([case.id, *lines, "", end, "", report.canonical_text])


def exit_code(report: Report, *, expect: str | None, at_least: str, rerun: int) -> tuple[int, str]:
    """Return 0, 1 or 5, and which wish was not met."""
    if report.failed:
        return 5, ""
    if not report.decided:
        return 1, ""
    case = report.case
    if expect and case.colour != expect:
        return 1, f"{expect}/{case.colour}"
    if case.grade < at_least:
        return 1, f"{at_least}/{case.grade}"
    return (1 if rerun and case.checks["rerun"].state != "ok" else 0), ""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the verifier on command-line words and return its exit code."""
    parser = argparse.ArgumentParser(
        prog="verify.py", description="Check a contract's evidence again, from outside."
    )
    parser.add_argument("path", type=Path, help="workspace or bundle")
    parser.add_argument("id", nargs="?", help="contract; without it, every decided one")
    again = "play K jobs again; this runs the sealed code on this machine"
    parser.add_argument("--rerun", type=int, default=0, metavar="K", help=again)
    where = "interpreter with the packages of the freeze, for --rerun"
    parser.add_argument("--python", default=sys.executable, metavar="EXE", help=where)
    parser.add_argument("--signers", type=Path, metavar="FILE", help="allowed signers (ssh-keygen)")
    parser.add_argument(
        "--tsa-ca", type=Path, metavar="FILE", help="certificate of the time authority"
    )
    parser.add_argument("--receipt", action="append", default=[], metavar="LINE",
                        help="a receipt line kept outside, or a file of them")  # fmt: skip
    parser.add_argument("--expect", choices=("green", "red"))
    parser.add_argument("--at-least", choices=GRADES, default="L0", metavar="GRADE")
    parser.add_argument("--lang", choices=("en", "es"), default="en")
    parser.add_argument("--json", action="store_true", help="print one JSON value")
    try:
        given = parser.parse_args(argv)
    except SystemExit as end:
        return 2 if end.code else 0
    receipts = tuple(
        Path(r).read_text("utf-8") if not r.startswith("echoctl-") and Path(r).is_file() else r
        for r in given.receipt
    )
    options = Options(given.rerun, given.python, given.signers, given.tsa_ca, receipts)
    try:
        tree = open_tree(given.path)
        which = [given.id] if given.id else idents(tree, decided=True)
        if given.id and given.id not in idents(tree, decided=False):
            raise ValueError(f"{given.path}: no evidence of {given.id!r} here")
    except ValueError as problem:
        print(f"usage (2): {problem}", file=sys.stderr)
        return 2
    worst, reports = 0, []
    for ident in which:
        report = verify(tree, ident, options)
        code, unmet = exit_code(
            report, expect=given.expect, at_least=given.at_least, rerun=given.rerun
        )
        worst = max(worst, code)
        reports.append(report.as_json() | {"exit": code})
        if not given.json:
            with contextlib.suppress(BrokenPipeError):
                print(told(report, given.lang))
                if unmet:
                    want, _, found = unmet.partition("/")
                    print(say(".expected", {"want": want, "found": found}, given.lang))
    if not which and not given.json:
        print(say(".nothing", {}, given.lang))
    if given.json:
        print(json.dumps({"exit": worst, "contracts": reports}, ensure_ascii=False, indent=1))
    return worst


if __name__ == "__main__":
    sys.exit(main())
