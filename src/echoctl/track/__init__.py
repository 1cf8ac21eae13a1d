"""What a track is: it plans jobs and plays one of them.

A track is loaded by name, from the entry-point group ``echoctl.tracks`` or from
``path.py:Class`` inside the workspace; only the desk and the runner's worker do that.
Planning is pure: contract and seeds in, jobs out. Playing gets a job and a `Workbench`, yields
tidy rows of integers and strings, and can reach a world only through the workbench's door.
"""

from __future__ import annotations

from echoctl.track.job import Job, Row, Value, job_from_json
from echoctl.track.outcome import Outcome
from echoctl.track.track import Track, Workbench

__all__ = ["Job", "Outcome", "Row", "Track", "Value", "Workbench", "job_from_json"]
