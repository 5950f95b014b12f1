"""Plots as files: SVG inside a page, and separate SVG, PDF and PNG files.

Lives here: formats. Must not live here: the content of plots.
"""

from __future__ import annotations

import io
import re
from pathlib import Path

import matplotlib as mpl
from matplotlib.figure import Figure

from netspurt.errors import RequestError
from netspurt.files import output
from netspurt.plot.looks import RC

DOTS = 150
"""Dots per inch; in SVG and PDF it affects only rasterised parts."""


def save(figure: Figure, name: str | Path) -> None:
    """Writes a plot atomically, in the format of the file name's suffix.

    Raises:
        RequestError: the suffix is not a known format.
        OutputError: the file cannot be written.
        TypeError: ``figure`` is none, as a chart before ``draw()``.
    """
    if not hasattr(figure, "savefig"):
        raise TypeError(f"save() writes a matplotlib figure, not {type(figure).__name__}")
    path = Path(name)
    form = path.suffix.lstrip(".")
    # Drawn in memory first: matplotlib's PDF compressor fails badly on a full disk.
    drawn = io.BytesIO()
    # The file must be reproducible: no date.
    metadata = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}.get(form)
    try:
        with mpl.rc_context({**RC, "svg.hashsalt": "netspurt"}):
            figure.savefig(drawn, format=form, dpi=DOTS, metadata=metadata)
    except ValueError:
        raise RequestError(
            f"cannot write a '{path.suffix}' file: the name must end in .svg, .pdf or .png"
        ) from None
    with output.file(path) as stage:
        stage.write_bytes(drawn.getbuffer())


def svg(figure: Figure, name: str) -> str:
    """The figure as an SVG element for a page.

    Args:
        figure: any.
        name: a word unique in the page; it keeps the element's internal references unique.
    """
    text = io.StringIO()
    with mpl.rc_context({**RC, "svg.hashsalt": name}):
        figure.savefig(text, format="svg", dpi=DOTS, metadata={"Date": None, "Creator": None})
    whole = text.getvalue()
    whole = re.sub(r"<metadata>.*?</metadata>", "", whole, flags=re.DOTALL)
    whole = whole[whole.index("<svg") :]
    whole = re.sub(r'\bid="', f'id="{name}-', whole)
    whole = whole.replace('href="#', f'href="#{name}-').replace("url(#", f"url(#{name}-")
    whole = re.sub(r"\s*\n\s*", "\n", whole)
    return _shorten_numbers(whole).strip()


def _shorten_numbers(text: str) -> str:
    """Rounds coordinates to a hundredth of a point: more is invisible, and digits are half of the file.

    It changes only paths and positions: the scale of a glyph is a small number that needs its digits.
    """
    return re.sub(
        r' (d|x|y)="[^"]*"',
        lambda attribute: re.sub(r"(\d\.\d{2})\d+", r"\1", attribute.group()),
        text,
    )
