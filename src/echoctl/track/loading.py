"""Where a track's class lives, and the one way to load it.

A contract names its track as an entry point of the group ``echoctl.tracks`` (``memx``) or as
``path.py:Class`` inside the workspace. The same `TrackSource` is loaded from the working tree
in development and from the sealed zip in an exam; only the roots differ.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import entry_points
from pathlib import Path, PurePosixPath

from echoctl.errors import UsageError
from echoctl.track.track import Track

GROUP = "echoctl.tracks"


@dataclass(frozen=True)
class TrackSource:
    """A module and a class in it; `folder` is where a workspace track's file lies.

    A workspace track is imported by its file's name with its own folder first on the path, so
    that it can import the files beside it; `folder` is relative to the workspace, with ``/``,
    and None for an installed track.
    """

    module: str
    name: str
    folder: str | None = None

    def as_json(self) -> dict[str, str | None]:
        """Return what travels to a worker and into the manifest."""
        return {"module": self.module, "name": self.name, "folder": self.folder}


def source_from_json(value: Mapping[str, str | None]) -> TrackSource:
    """Return the source that `TrackSource.as_json` wrote."""
    return TrackSource(str(value["module"]), str(value["name"]), value["folder"])


def find_track(spec: str, workspace: Path) -> TrackSource:
    """Return where a contract's ``track`` lives; UsageError where it lives nowhere."""
    path, colon, name = spec.partition(":")
    if not colon:
        return _installed(spec)
    file = PurePosixPath(path)
    if file.is_absolute() or ".." in file.parts or file.suffix != ".py":
        raise UsageError(
            f"track {spec!r} is not a file inside the workspace",
            "write it as path.py:Class, relative to the workspace",
        )
    if not (workspace / file).is_file():
        raise UsageError(f"track {spec!r}: there is no {path} in this workspace", "mend its path")
    if not file.stem.isidentifier() or not name.isidentifier():
        raise UsageError(f"track {spec!r} does not name a module and a class", "rename the file")
    if file.stem in sys.stdlib_module_names or file.stem == "echoctl":
        raise UsageError(f"track {spec!r} hides the module {file.stem}", "rename the file")
    folder = file.parent.as_posix()
    return TrackSource(file.stem, name, "" if folder == "." else folder)


def _installed(spec: str) -> TrackSource:
    found = entry_points(group=GROUP)
    for entry in found:
        if entry.name == spec:
            return TrackSource(entry.module, entry.attr)
    known = ", ".join(sorted({entry.name for entry in found})) or "none"
    raise UsageError(
        f"no installed track is called {spec!r} (installed: {known})",
        "name one of these, or a file of the workspace as path.py:Class",
    )


def import_track(source: TrackSource, root: str) -> Track:
    """Import the class and return its instance.

    `root` is the folder or zip in which a workspace track's folder lies; an installed track
    does not need it. UsageError where the class is missing or no Track.
    """
    if source.folder is not None:
        place = f"{root}/{source.folder}" if source.folder else root
        if place not in sys.path:
            sys.path.insert(0, place)
        _forget(source.module, place)
    try:
        found = getattr(importlib.import_module(source.module), source.name)
    except (ImportError, AttributeError, SyntaxError) as problem:
        raise UsageError(
            f"track {source.module}:{source.name} does not load: {problem}", "mend the track"
        ) from problem
    if not (isinstance(found, type) and issubclass(found, Track)):
        raise UsageError(
            f"{source.module}:{source.name} is no Track", "inherit echoctl.track.Track"
        )
    return found()


def load_track(spec: str, workspace: Path) -> Track:
    """Load a contract's track from the working tree (desk only; house rule 1)."""
    return import_track(find_track(spec, workspace), str(workspace))


def _forget(module: str, place: str) -> None:
    """Drop what workspace tracks left loaded, so that what is imported is what the files say.

    UsageError where the file's name is taken by a module that is none of theirs.
    """
    _places.add(place)
    for other in list(_places):
        for name, value in list(sys.modules.items()):
            top = name.partition(".")[0]
            if top == "echoctl":
                # In the sealed zip a track of the workspace's own folder lies beside the package.
                continue
            file = str(getattr(value, "__file__", ""))
            if file.startswith((f"{other}/{top}.py", f"{other}/{top}/")):
                del sys.modules[name]
        if other != place:
            sys.path[:] = [entry for entry in sys.path if entry != other]
            _places.discard(other)
    if module in sys.modules:
        raise UsageError(
            f"the track's file {module}.py has the name of a module that is in use",
            "rename the file",
        )
    importlib.invalidate_caches()


_places: set[str] = set()
"""Folders of workspace tracks that this process put on its path."""
