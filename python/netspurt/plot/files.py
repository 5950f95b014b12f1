"""Pictures as files: SVG inside a page, and SVG, PDF, PNG or the data by themselves.

Lives here: formats. Must not live here: what is drawn.
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
"""An inch; in SVG and PDF they concern only what is stored as pixels."""


def save(figure: Figure, name: str | Path) -> None:
    """Writes a picture, whole or not at all, in the format that the name's ending says.

    Raises:
        RequestError: an ending that is no format.
        OutputError: nothing can be written there.
    """
    path = Path(name)
    form = path.suffix.lstrip(".")
    # Drawn in memory: matplotlib's PDF stumbles over its own compressor where the disk says no.
    drawn = io.BytesIO()
    # A file shall not change from day to day.
    metadata = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}.get(form)
    try:
        with mpl.rc_context({**RC, "svg.hashsalt": "netspurt"}):
            figure.savefig(drawn, format=form, dpi=DOTS, metadata=metadata)
    except ValueError:
        raise RequestError(f"cannot draw a '{path.suffix}': end the name in .svg, .pdf or .png") from None
    with output.file(path) as stage:
        stage.write_bytes(drawn.getbuffer())


def svg(figure: Figure, name: str) -> str:
    """The figure as an SVG element to stand inside a page.

    Args:
        figure: any.
        name: a word unique in the page; it keeps the element's inner references apart from those of others.
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
    """Coordinates to a hundredth of a point: nobody sees more, and half of the file is digits.

    Only those of paths and places: the scale of a glyph is a small number that has to stay as it is.
    """
    return re.sub(
        r' (d|x|y)="[^"]*"',
        lambda attribute: re.sub(r"(\d\.\d{2})\d+", r"\1", attribute.group()),
        text,
    )
