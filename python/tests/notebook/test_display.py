"""What a notebook shows, parsed as a browser would."""

from __future__ import annotations

import base64
import xml.etree.ElementTree as ElementTree
from html.parser import HTMLParser
from pathlib import Path

import netspurt as ns

SCENARIO = """
duration = "5 s"

[link.first]
between = ["<earth>", "relay"]
rate = "10 Mbit/s"
delay = "10 ms"

[link.second]
between = ["relay", "space"]
rate = "2 Mbit/s"
delay = "40 ms"

[[flow]]
app = { kind = "bulk", bytes = "100 kB" }
from = "<earth>"
to = "space"
count = 20
"""

VOID = {"img", "br", "meta"}


class Page(HTMLParser):
    """Tags that are open, texts, and attributes of pictures."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.texts: list[str] = []
        self.pictures: list[dict[str, str | None]] = []
        self.seen: list[str] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append(tag)
        if tag == "img":
            self.pictures.append(dict(attrs))
        elif tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


def test_a_scenario_shows_its_network() -> None:
    scenario = ns.parse(SCENARIO, "two <links>")
    page = Page(scenario._repr_html_())
    assert page.open == []
    text = " ".join(page.texts)
    for words in ("two <links>", "<earth> → space: bulk", "20 times", "first: 10 Mbit/s, 10 ms"):
        assert words in text
    drawing = ElementTree.fromstring(scenario._repr_svg_())
    circles = drawing.findall(".//{*}circle")
    columns = [int(circle.get("cx", "0")) for circle in circles]
    assert len(circles) == 3
    assert columns == sorted(set(columns))


def test_a_result_shows_tables_and_counts_what_it_leaves_out() -> None:
    result = ns.parse(SCENARIO, "two").run(seed=3)
    page = Page(result._repr_html_())
    assert page.open == []
    assert page.pictures == []
    assert page.seen.count("tr") == 1 + 12 + 1 + 4
    assert f"seed 3, digest {result.digest}" in " ".join(page.texts)
    assert "and 8 more" in page.texts


def test_a_result_with_segments_shows_a_picture() -> None:
    page = Page(ns.parse(SCENARIO, "two").run(record=["segments"])._repr_html_())
    (picture,) = page.pictures
    assert picture["alt"] == "time–sequence graph of bulk"
    kind, _, data = str(picture["src"]).partition(",")
    assert kind == "data:image/png;base64"
    assert base64.b64decode(data).startswith(b"\x89PNG")


def test_a_network_of_many_parts_and_a_hub_can_be_drawn(tmp_path: Path) -> None:
    hub = """
duration = "1 s"
[hub.lan]
stations = ["a", "b", "c"]
rate = "10 Mbit/s"
[link.apart]
between = ["d", "e"]
[[flow]]
app = { kind = "bulk" }
from = "a"
to = "b"
"""
    drawing = ElementTree.fromstring(ns.parse(hub)._repr_svg_())
    assert len(drawing.findall(".//{*}circle")) == 6
    assert len(drawing.findall(".//{*}line")) == 4


def test_a_comparison_shows_the_differences_and_the_first_divergence() -> None:
    scenario = ns.parse(SCENARIO)
    result = ns.compare(scenario, scenario.set({"link.second.delay": "80 ms"}), seeds=2)
    page = Page(result._repr_html_())
    assert page.open == []
    assert page.seen.count("table") == 1
    unlike = [row for row in result.rows if row["verdict"] != "same"]
    assert page.seen.count("tr") == 1 + min(len(unlike), 12)
    assert any("common events" in text for text in page.texts)
    assert "quantities differ" in repr(result)


def test_a_sweep_shows_what_was_done_and_means_over_seeds() -> None:
    page = Page(
        ns.sweep(ns.parse(SCENARIO), grid={"link.second.delay": ["5 ms", "80 ms"]}, seeds=2)._repr_html_()
    )
    assert page.open == []
    assert page.seen.count("table") == 1
    assert ", 2 points, 4 tasks" in page.texts
    assert "80 ms" in page.texts


def test_a_fit_and_remedies_show_what_they_found_with_a_short_table(tmp_path: Path) -> None:
    scenario = ns.parse(SCENARIO.replace("count = 20", ""), "<path>")
    found = ns.what_if(scenario, seeds=1)
    page = Page(found._repr_html_())
    assert page.open == []
    assert "<path>, flow bulk" in page.texts
    assert found.verdict in page.texts
    assert page.seen.count("tr") == 1 + min(len(found.remedies), 12)
    assert repr(found) == f"WhatIf('<path>', {found.verdict!r})"
    capture = tmp_path / "a.pcapng"
    scenario.run(pcap=capture)
    fit = ns.fit(capture)
    page = Page(fit._repr_html_())
    assert page.open == []
    assert any("Mbit/s, least RTT" in text for text in page.texts)
    assert page.seen.count("tr") == 1 + len(fit.check)
    assert repr(fit) == f"Fit({str(capture)!r}, explains={fit.explains})"


def test_values_have_their_units(tmp_path: Path) -> None:
    scenario = ns.parse(SCENARIO.replace("count = 20", ""))
    capture = tmp_path / "a.pcapng"
    scenario.run(pcap=capture)
    for shown, unit in (
        (scenario.run(), "Mbit/s"),
        (ns.compare(scenario, scenario.set({"link.second.delay": "80 ms"})), "Mbit/s"),
        (ns.sweep(scenario, grid={"link.second.delay": ["5 ms", "80 ms"]}, seeds=2), "Mbit/s"),
        (ns.fit(capture), "ms"),
        (ns.read_capture(capture), "ms"),
        (ns.rrul(scenario), "ms"),
    ):
        page = Page(shown._repr_html_())
        assert page.open == []
        assert any(text.endswith(f" {unit}") for text in page.texts), shown
        assert not any("e+0" in text for text in page.texts), shown
    assert len(repr(ns.rrul(scenario))) < 120
