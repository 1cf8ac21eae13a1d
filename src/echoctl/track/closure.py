"""The import closure of a track: every project module its jobs can import, found by reading.

No module is run. Imports are followed wherever they stand in a file, inside functions too,
except under ``if TYPE_CHECKING``. "Project" means the package echoctl, the track's own top-level
package and, for a workspace track, the files beside it; what comes from elsewhere (NumPy,
MiniGrid) is in the manifest by version and the hash of its code, not copied.
"""

from __future__ import annotations

import ast
import importlib.util
import io
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import echoctl
from echoctl.errors import Refused, UsageError
from echoctl.track.loading import TrackSource

MAIN = "__main__.py"
_MAIN_SOURCE = b"from echoctl.runner.worker import main\n\nmain()\n"
"""The zip is a program: ``python -P code.zip`` is a worker (docs/formats.md)."""


@dataclass(frozen=True)
class _Found:
    """A module's file on disk, its path in the archive and whether it is a package."""

    file: Path
    archive: str
    package: bool


@dataclass
class _Roots:
    """Where project modules are looked for: a folder and its prefix inside the archive."""

    places: list[tuple[Path, str, str | None]] = field(default_factory=list)
    """(folder, archive prefix, the one top-level name that counts there, or None for all)."""

    def find(self, module: str) -> _Found | None:
        """Return where a project module lies, or None where it is none of ours."""
        top, *rest = module.split(".")
        for folder, prefix, only in self.places:
            if only is not None and only != top:
                continue
            base = folder.joinpath(top, *rest)
            inside = "/".join([*([prefix] if prefix else []), top, *rest])
            if (base / "__init__.py").is_file():
                return _Found(base / "__init__.py", inside + "/__init__.py", package=True)
            if base.with_suffix(".py").is_file():
                return _Found(base.with_suffix(".py"), inside + ".py", package=False)
        return None


def code_roots(source: TrackSource, workspace: Path) -> list[tuple[Path, str, str | None]]:
    """Return the folders in which the project's modules lie (see `_Roots.places`)."""
    places: list[tuple[Path, str, str | None]] = []
    if source.folder is not None:
        places.append((workspace / source.folder, source.folder, None))
    places.append((Path(echoctl.__file__).resolve().parent.parent, "", "echoctl"))
    top = source.module.partition(".")[0]
    if source.folder is None and top != "echoctl":
        spec = importlib.util.find_spec(top)
        if spec is None or spec.origin is None:
            raise UsageError(f"the track's package {top} is not a plain package", "install it")
        here = Path(spec.origin).resolve().parent
        places.append((here.parent if spec.submodule_search_locations else here, "", top))
    return places


def code_closure(
    source: TrackSource, workspace: Path, also: Sequence[str] = ()
) -> dict[str, bytes]:
    """Return ``archive path -> bytes`` of everything the track's jobs can import.

    `also` names further modules that the zip must carry, such as the worker that plays jobs.
    Refused for a symlink, UsageError for a file that does not parse.
    """
    roots = _Roots(code_roots(source, workspace))
    files: dict[str, bytes] = {MAIN: _MAIN_SOURCE}
    seen: set[str] = set()
    waiting = [source.module, *also]
    if roots.find(source.module) is None:
        raise UsageError(f"the track's module {source.module} has no source file", "install it")
    while waiting:
        module = waiting.pop()
        if module in seen:
            continue
        seen.add(module)
        found = roots.find(module)
        if found is None:
            continue
        if _is_linked(found.file, roots):
            raise Refused(
                f"{found.archive} is a symlink: what it points to cannot be sealed",
                "put the file itself there",
            )
        data = found.file.read_bytes()
        files[found.archive] = data
        if found.package:
            files.update(_package_data(found))
        waiting.extend(parents_of(module))
        waiting.extend(imports_of(data, module, package=found.package, name=found.archive))
    return dict(sorted(files.items()))


def _package_data(found: _Found) -> dict[str, bytes]:
    """Return the files beside a package's modules that are no Python, such as tables."""
    prefix = found.archive.removesuffix("__init__.py")
    return {
        prefix + file.name: file.read_bytes()
        for file in sorted(found.file.parent.iterdir())
        if file.is_file()
        and not file.is_symlink()
        and file.suffix not in {".py", ".pyc"}
        and not file.name.startswith(".")
    }


def _is_linked(file: Path, roots: _Roots) -> bool:
    """Return whether the file or a folder between it and its root is a symlink."""
    tops = {folder for folder, _, _ in roots.places}
    while file not in tops and file != file.parent:
        if file.is_symlink():
            return True
        file = file.parent
    return False


def parents_of(module: str) -> list[str]:
    """Return the packages that importing a module runs first: ``a.b.c`` gives a, a.b."""
    parts = module.split(".")
    return [".".join(parts[:end]) for end in range(1, len(parts))]


def imports_of(data: bytes, module: str, *, package: bool, name: str = "") -> set[str]:
    """Return every module name that a source file may import, submodules guessed included."""
    try:
        tree = ast.parse(data)
    except (SyntaxError, ValueError) as problem:
        raise UsageError(f"{name or module} does not parse: {problem}", "mend it") from None
    here = module if package else module.rpartition(".")[0]
    found: set[str] = set()
    for node in _running(tree):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = _absolute(here, node.level, node.module)
            found.add(base)
            found.update(f"{base}.{alias.name}" for alias in node.names if alias.name != "*")
        elif isinstance(node, ast.Call) and (named := _dynamic(node)):
            found.add(named)
    for one in list(found):
        found.update(parents_of(one))
    return found - {""}


def _running(node: ast.AST) -> Iterator[ast.AST]:
    """Yield the nodes that can run: all but the bodies of ``if TYPE_CHECKING``."""
    yield node
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.If) and _only_for_types(child.test):
            for rest in child.orelse:
                yield from _running(rest)
        else:
            yield from _running(child)


def _only_for_types(test: ast.expr) -> bool:
    return (isinstance(test, ast.Name) and test.id == "TYPE_CHECKING") or (
        isinstance(test, ast.Attribute) and test.attr == "TYPE_CHECKING"
    )


def _absolute(here: str, level: int, module: str | None) -> str:
    if level == 0:
        return module or ""
    parts = here.split(".") if here else []
    base = parts[: len(parts) - (level - 1)]
    return ".".join([*base, *([module] if module else [])])


def _dynamic(call: ast.Call) -> str | None:
    """Return the literal name in ``import_module("a.b")`` or ``__import__("a.b")``."""
    function = call.func
    called = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
    if called not in {"import_module", "__import__"} or not call.args:
        return None
    first = call.args[0]
    if isinstance(first, ast.Constant) and isinstance(first.value, str):
        return first.value.lstrip(".") or None
    return None


def build_zip(files: Mapping[str, bytes]) -> bytes:
    """Return a zip whose bytes depend on nothing but `files`.

    Stored entries sorted by name, dated 1980-01-01, mode 0644, made on "Unix".
    """
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_STORED) as archive:
        for name in sorted(files):
            entry = zipfile.ZipInfo(name, date_time=(1980, 1, 1, 0, 0, 0))
            entry.create_system = 3
            entry.external_attr = 0o100644 << 16
            entry.compress_type = zipfile.ZIP_STORED
            archive.writestr(entry, files[name])
    return buffer.getvalue()
