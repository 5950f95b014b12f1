"""Renders a report as its page.

Lives here: templates, their scripts and styles, and the provenance of every report. Must not live here: the content
of a report.
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
    """The versions on which the results depend."""
    from netspurt import _core

    return {
        "netspurt": version.full(),
        "netspurt._core": _core.version(),
        "python": platform.python_version(),
        **{name: metadata.version(name) for name in ("numpy", "scipy", "polars", "matplotlib")},
        "platform": platform.platform(),
    }


def facts(command: str) -> list[tuple[str, str]]:
    """The provenance of every report: command, time and versions."""
    numbers = ", ".join(f"{name} {number}" for name, number in versions().items())
    return [
        ("command", command),
        ("when", time.strftime("%Y-%m-%d %H:%M %Z")),
        ("versions", numbers),
    ]


def write(path: Path, page: Page) -> None:
    """Writes a self-contained page.

    Raises:
        OSError: the file cannot be written.
    """
    path.write_text(html(page), encoding="utf-8")


def html(page: Page) -> str:
    """A self-contained page as text."""
    return template("result.html.j2").render(page=page, vendored=vendored())


def vendored() -> dict[str, str]:
    """The scripts and styles of zoomable pictures and of tables, for embedding in the page."""
    files = {
        "uplot": UPLOT / "uPlot.iife.min.js",
        "css": UPLOT / "uPlot.min.css",
        "licence": UPLOT / "LICENSE",
        "charts": TEMPLATES / "charts.js",
        "charts_css": TEMPLATES / "charts.css",
        "maps": TEMPLATES / "maps.js",
        "tables": TEMPLATES / "tables.js",
    }
    return {name: file.read_text(encoding="utf-8").strip() for name, file in files.items()}


def template(name: str) -> Template:
    """A template of this folder, with the words and the style common to all pages."""
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
