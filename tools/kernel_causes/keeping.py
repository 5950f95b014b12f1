"""Finished steps are kept as JSON, so that a measurement can be interrupted and repeated."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from netspurt.files import output


def write(file: Path, content: Any) -> None:
    """Writes all of the content or nothing."""
    with output.file(file) as stage:
        stage.write_text(json.dumps(content, indent=1), encoding="utf-8")
