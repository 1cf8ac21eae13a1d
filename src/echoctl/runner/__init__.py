"""Jobs in, outcomes out: worker processes, restarted when they die, never a measure on the way.

`echoctl.runner.run` plays jobs on an engine; `echoctl.runner.local` is the engine of this
machine; `echoctl.runner.worker` is the program that plays one job after the other, from the
working tree in development and from the sealed zip in an exam. This package's own file stays
empty of imports, because the sealed code carries it.
"""

from __future__ import annotations
