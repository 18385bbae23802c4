"""`python -m chiplog`."""

from __future__ import annotations

import sys

from chiplog.cli import main

sys.exit(main())
