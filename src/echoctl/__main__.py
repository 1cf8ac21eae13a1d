"""``python -m echoctl`` is the command ``echoctl``."""

import sys

from echoctl.cli import main

sys.exit(main())
