from __future__ import annotations

from pathlib import Path

import pytest
from memx_bench import find, jobs_of, play_all


@pytest.fixture(scope="session")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the trained memories of the first macro."""
    folder = tmp_path_factory.mktemp("memories")
    jobs = jobs_of("training")
    for memory in ("aprendida", "ortogonal"):
        play_all(find(jobs, memory, "A1"), folder)
    return folder
