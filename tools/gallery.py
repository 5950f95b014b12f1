"""Makes the gallery: a page of scenarios with a picture and three sentences each.

The comment at the top of each file in examples/gallery/ has a title, three sentences, and the commands that draw the
panels of its picture. `--page` writes docs/gallery.md; `--out DIR` draws the pictures, as the documentation site does.
"""

from __future__ import annotations

import argparse
import re
import shlex
import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from netspurt.plot import Chart

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "examples" / "gallery"
PAGE = ROOT / "docs" / "gallery.md"

ORDER = (
    *("bufferbloat", "bbr-beside-cubic", "l4s", "small-window", "initial-window", "nagle"),
    *("wifi", "leo-handover", "policer", "reordering", "incast", "pmtu-black-hole"),
)

TIMEOUT = "RTO"
"""A trace of round-trip times that is a hundred times as high as they are."""

HEAD = """# Gallery

Twelve classic effects, each as a scenario of a few lines. Run the commands to draw the pictures yourself, change a
value with `--set`, or open the scenarios in `netspurt lab`, which lists them under *Gallery*. The files are in
[`examples/gallery/`](../examples/gallery/bufferbloat.toml). The pictures are drawn when the site is built;
`make gallery` draws them into `gallery/`.
"""


@dataclass(frozen=True)
class Entry:
    """A scenario of the gallery: what its comment says."""

    name: str
    title: str
    text: str
    commands: tuple[str, ...]


def read(name: str) -> Entry:
    """The comment at the top of a scenario."""
    text = (FOLDER / f"{name}.toml").read_text(encoding="utf-8")
    lines = [line.removeprefix("#").removeprefix(" ") for line in text.split("\n\n")[0].splitlines()]
    words = [line for line in lines[1:] if line and not line.startswith("    ")]
    commands = tuple(line.strip() for line in lines if line.startswith("    "))
    return Entry(name, lines[0], " ".join(words), commands)


def entries() -> list[Entry]:
    """All, in the order of the page."""
    return [read(name) for name in ORDER]


def picture_of(entry: Entry) -> str:
    """The place of a picture in the site."""
    return f"reference/gallery-{entry.name}.svg"


def page() -> str:
    """The page as Markdown."""
    parts = [HEAD]
    for entry in entries():
        commands = "\n".join(entry.commands)
        picture = f"![{entry.title}]({picture_of(entry)})"
        parts.append(f"\n## {entry.title}\n\n{entry.text}\n\n{picture}\n\n```sh\n{commands}\n```\n")
    return "".join(parts)


def draw(entry: Entry) -> Figure:
    """The panels that the commands of a scenario draw, side by side."""
    sys.path.insert(0, str(ROOT / "python"))
    from netspurt import plot
    from netspurt.cli.entry import parser
    from netspurt.inputs.source import of_path
    from netspurt.plot.drawing import draw_panels

    charts = []
    for command in entry.commands:
        options = parser(("plot",)).parse_args(shlex.split(command)[1:], argparse.Namespace())
        source = of_path(ROOT / options.what, 1, options.settings)
        chart = {
            "round-trips": lambda source, options: plot.round_trips_chart(source, options.flow),
            "throughput": lambda source, options: plot.throughput_chart(source),
            "queues": lambda source, options: plot.queues_chart(source, options.link),
            "time-sequence": lambda source, options: plot.time_sequence_chart(source, options.flow),
        }[options.picture](source, options)
        settings = [f"{path.rpartition('.')[2]} = {value}" for path, value in options.settings]
        # What differs between the panels.
        whole = "as in the file" if "--set" in " ".join(entry.commands) else options.flow
        words = settings[0] if settings else whole
        charts.append(replace(chart, title=words))
    return draw_panels(alike(charts))


def alike(charts: list[Chart]) -> list[Chart]:
    """The charts with one colour for each name, one upper end, and without what would hide the rest."""
    import numpy as np

    styles: dict[str, tuple[str, Any]] = {}
    highs = []
    for chart in charts:
        for trace in chart.traces:
            styles.setdefault(trace.name, (trace.colour, trace.dash))
            if trace.name != TIMEOUT and trace.y.size:
                highs.append(float(np.nanpercentile(trace.y, 98)))
    tops = [chart.y.top for chart in charts if chart.y.top is not None]
    # A single ACK of much data is a spike of throughput.
    top = 1.2 * max(highs) if charts[0].name == "throughput" else max(tops, default=None)
    done = []
    for chart in charts:
        traces = [
            replace(trace, colour=styles[trace.name][0], dash=styles[trace.name][1])
            for trace in chart.traces
            if trace.name != TIMEOUT
        ]
        done.append(replace(chart, traces=traces, y=replace(chart.y, top=top)))
    return done


def pictures() -> dict[str, str]:
    """The pictures of the page, as SVG, by the name of the scenario."""
    return {entry.name: svg(entry) for entry in entries()}


def svg(entry: Entry) -> str:
    """One picture; its text is paths, so that it needs no fonts."""
    sys.path.insert(0, str(ROOT / "python"))
    from netspurt.plot.files import svg as as_svg

    text = as_svg(draw(entry), entry.name)
    return re.sub(r"^<svg ", '<svg role="img" ', text)


def main() -> int:
    """Writes the page, or the pictures."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--page", action="store_true", help="write docs/gallery.md")
    parser.add_argument("--out", type=Path, metavar="DIR", help="draw the pictures there")
    options = parser.parse_args()
    if options.page:
        PAGE.write_text(page(), encoding="utf-8")
    if options.out:
        options.out.mkdir(parents=True, exist_ok=True)
        for name, text in pictures().items():
            (options.out / f"{name}.svg").write_text(text, encoding="utf-8")
            print(options.out / f"{name}.svg")
    return 0


if __name__ == "__main__":
    sys.exit(main())
