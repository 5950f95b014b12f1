"""From what a report holds to its page.

Lives here: templates, what lies beside them, and what every report says of its making. Must not live here: what a
report holds.
"""

from __future__ import annotations

import platform
import time
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING

from netspurt import version

if TYPE_CHECKING:
    from jinja2 import Template

    from netspurt.report.blocks import Page

TEMPLATES = Path(__file__).parent / "templates"

UPLOT = Path(__file__).parents[1] / "vendor" / "uplot"


def versions() -> dict[str, str]:
    """What the results depend on."""
    from netspurt import _core

    return {
        "netspurt": version.full(),
        "netspurt._core": _core.version(),
        "python": platform.python_version(),
        **{name: metadata.version(name) for name in ("numpy", "scipy", "polars", "matplotlib")},
        "platform": platform.platform(),
    }


def facts(command: str) -> list[tuple[str, str]]:
    """What every report says of its making: command, time and versions."""
    told = ", ".join(f"{name} {number}" for name, number in versions().items())
    return [
        ("command", command),
        ("when", time.strftime("%Y-%m-%d %H:%M %Z")),
        ("versions", told),
    ]


def write(path: Path, page: Page) -> None:
    """Writes a page that holds everything it shows.

    Raises:
        OSError: the disk says no.
    """
    text = template("result.html.j2").render(page=page, vendored=vendored())
    path.write_text(text, encoding="utf-8")


def vendored() -> dict[str, str]:
    """The scripts and styles of pictures that zoom, to stand in the page itself."""
    files = {
        "uplot": UPLOT / "uPlot.iife.min.js",
        "css": UPLOT / "uPlot.min.css",
        "licence": UPLOT / "LICENSE",
        "charts": TEMPLATES / "charts.js",
        "charts_css": TEMPLATES / "charts.css",
        "maps": TEMPLATES / "maps.js",
    }
    return {name: file.read_text(encoding="utf-8").strip() for name, file in files.items()}


def template(name: str) -> Template:
    """A template of this folder, with the words and the style that all pages share."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    from netspurt.report.grid import grid_of
    from netspurt.studies import words

    environment = Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals["words"] = words
    environment.globals["grid_of"] = grid_of
    environment.globals["style"] = (TEMPLATES / "style.css").read_text(encoding="utf-8")
    return environment.get_template(name)
