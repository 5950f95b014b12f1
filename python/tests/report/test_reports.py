"""Reports of runs, sweeps and comparisons: what stands on the page, and that it needs nothing but itself."""

from __future__ import annotations

import base64
import html
import io
import itertools
import json
import re
import shutil
import subprocess
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import netspurt as ns
from netspurt.cli import main
from netspurt.diagnosing.diagnosis import main_direction
from netspurt.diagnosing.remedies_text import advice
from netspurt.report.blocks import table

pytest.importorskip("netspurt._core", reason="the native module is not built")

ROOT = Path(__file__).parents[3]
SATELLITE = str(ROOT / "examples" / "satellite.toml")
SHORT = ["--set", "flow.0.app.bytes=1 MiB", "--set", "link.satellite.loss.rate=1e-6"]
BROWSER = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
EMPTY = ("meta", "link", "br", "img", "input", "hr", "path", "use", "rect")


class Page(HTMLParser):
    """What a page refers to, in order."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.identifiers: list[str] = []
        self.heads: list[str] = []
        self.named: list[str] = []
        self.nameless: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        given = dict(attributes)
        self.links += [given[name] or "" for name in ("href", "src", "xlink:href") if name in given]
        if given.get("id"):
            self.identifiers.append(given["id"] or "")
        if re.fullmatch("h[1-6]", tag):
            self.heads.append(tag)
        if given.get("role") in ("img", "region"):
            (self.named if given.get("aria-label") else self.nameless).append(tag)


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """One report of each kind."""
    folder = tmp_path_factory.mktemp("reports")
    paths = {kind: folder / f"{kind}.html" for kind in ("run", "seeds", "sweep", "compare", "capture", "why")}
    sweep = folder / "delays.toml"
    sweep.write_text(
        f'scenario = "{SATELLITE}"\nseeds = 2\n[set]\n"flow.0.app.bytes" = "100 KiB"\n[grid]\n'
        '"link.satellite.delay" = ["5 ms", "50 ms"]\n"tcp.loss_means" = ["noise", "congestion"]\n'
    )
    assert main(["run", SATELLITE, *SHORT, "--report", str(paths["run"])]) == 0
    assert main(["run", SATELLITE, *SHORT, "--seeds", "3", "--report", str(paths["seeds"])]) == 0
    assert main(["sweep", str(sweep), "--jobs", "1", "--report", str(paths["sweep"])]) == 0
    sides = [word.replace("--set", f"--set-{side}") for side in "ab" for word in SHORT]
    also = ["--set-b", "tcp.loss_means=congestion", "--seeds", "2", "--report", str(paths["compare"])]
    assert main(["compare", SATELLITE, SATELLITE, *sides, *also]) == 0
    capture = folder / "run.pcapng"
    assert main(["run", SATELLITE, *SHORT, "--pcap", str(capture)]) == 0
    assert main(["capture", str(capture), "--report", str(paths["capture"])]) == 0
    assert main(["why", str(capture), "--report", str(paths["why"])]) == 0
    return paths


@pytest.mark.parametrize("kind", ["run", "seeds", "sweep", "compare", "capture", "why"])
def test_a_page_needs_nothing_but_itself(kind: str, pages: dict[str, Path]) -> None:
    text = pages[kind].read_text(encoding="utf-8")
    page = Page(text)
    assert [link for link in page.links if not link.startswith(("#", "data:"))] == []
    assert "@import" not in text
    assert not re.search(r"url\(\s*['\"]?(?!#)", text)
    assert "default-src 'none'" in text
    assert len(set(page.identifiers)) == len(page.identifiers)
    assert {link[1:] for link in page.links if link.startswith("#")} <= set(page.identifiers)
    assert "leeoniya" in text or "Leon Sorokin" in text, "the licence of what is vendored stays with it"


@pytest.mark.parametrize("kind", ["run", "seeds", "sweep", "compare", "capture", "why"])
def test_a_page_can_be_read_by_a_screen_reader(kind: str, pages: dict[str, Path]) -> None:
    text = pages[kind].read_text(encoding="utf-8")
    page = Page(text)
    assert page.heads[0] == "h1"
    assert page.heads.count("h1") == 1
    levels = [int(head[1]) for head in page.heads]
    assert all(after - before <= 1 for before, after in itertools.pairwise(levels))
    assert page.named
    assert not page.nameless
    assert '<html lang="en">' in text
    for needed in ("prefers-color-scheme: dark", 'data-face="dark"', "@media print"):
        assert needed in text


def test_a_page_without_charts_has_the_style_of_the_others_and_the_dark_mode(tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    assert main(["what-if", SATELLITE, *SHORT, "--seeds", "1", "--report", str(page)]) == 0
    text = page.read_text(encoding="utf-8")
    assert "nav ul" in text
    assert "Dark mode" in text
    assert "uPlot" not in text.split("<script>")[0]


def test_a_page_names_its_command_and_versions(pages: dict[str, Path]) -> None:
    text = pages["run"].read_text(encoding="utf-8")
    result = ns.load(SATELLITE).set({"flow.0.app.bytes": "1 MiB", "link.satellite.loss.rate": 1e-6}).run(1)
    for needed in ("netspurt run", "--report", "polars", result.digest, "link.satellite.loss.rate = 1e-6"):
        assert needed in text
    assert "seeds" in pages["seeds"].read_text(encoding="utf-8")


def test_one_pair_of_runs_is_not_said_to_show_no_difference(tmp_path: Path) -> None:
    scenario = ns.load(SATELLITE).set({"flow.0.app.bytes": "100 KiB"})
    result = ns.compare(scenario, scenario.set({"link.satellite.delay": "50 ms"}), seeds=1)
    from netspurt.report.compare import page_of

    assert "one pair of runs does not show which differences are chance" in page_of(result, "").lead[0]


def test_the_numbers_on_the_page_are_those_of_the_run(pages: dict[str, Path]) -> None:
    text = pages["run"].read_text(encoding="utf-8")
    found = re.search(
        r'id="c0-time-sequence".*?<script type="application/json">(.*?)</script>', text, re.DOTALL
    )
    assert found is not None
    drawn = json.loads(found[1])
    scenario = ns.load(SATELLITE).set({"flow.0.app.bytes": "1 MiB", "link.satellite.loss.rate": 1e-6})
    chart = ns.plot.time_sequence_chart(scenario.run(1))
    assert [trace["label"] for trace in drawn["traces"]] == [trace.label for trace in chart.traces]
    for trace, meant in zip(drawn["traces"], chart.traces, strict=True):
        assert np.array_equal(np.frombuffer(base64.b64decode(trace["x"]), "<f8"), meant.x)
        assert np.array_equal(np.frombuffer(base64.b64decode(trace["y"]), "<f8"), meant.y)
    file = re.search(r'download="c0-time-sequence.parquet" href="data:[^;]+;base64,([^"]+)"', text)
    assert file is not None
    table = pl.read_parquet(io.BytesIO(base64.b64decode(file[1])))
    assert table.equals(chart.table())


def test_a_report_of_a_wrong_place_is_refused_before_any_work(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["run", SATELLITE, "--report", str(tmp_path / "no" / "page.html")]) == 2
    assert "cannot write" in capsys.readouterr().err


def _dom(page: Path, *more: str) -> str:
    """The page after its script has run, in a browser that can reach no network."""
    assert BROWSER is not None
    done = subprocess.run(
        [
            *(
                BROWSER,
                "--headless",
                "--no-sandbox",
                "--disable-gpu",
                "--host-resolver-rules=MAP * ~NOTFOUND",
            ),
            *(f"--user-data-dir={page.parent / 'profile'}", "--virtual-time-budget=4000", "--dump-dom"),
            *(*more, page.as_uri()),
        ],
        check=True,
        capture_output=True,
        text=True,
        timeout=120,
    )
    return done.stdout


@pytest.mark.skipif(BROWSER is None, reason="there is no Chromium to open the page with")
def test_a_browser_draws_every_picture_and_zooms_by_keyboard(pages: dict[str, Path]) -> None:
    for kind in ("run", "sweep", "compare", "capture", "why"):
        text = pages[kind].read_text(encoding="utf-8")
        charts = text.count('<figure class="chart"')
        assert charts >= 2
        # What a user would press, behind all that the page does by itself.
        press = """<script>document.addEventListener("DOMContentLoaded", () => setTimeout(() => {
          document.querySelector(".plot").dispatchEvent(new KeyboardEvent("keydown", { key: "+" }));
          document.querySelector(".keys button").click();
          document.querySelector(".face").click();
        }, 500));</script>"""
        page = pages[kind].with_name(f"{kind}-pressed.html")
        page.write_text(text.replace("</body>", f"{press}</body>"), encoding="utf-8")
        dom = _dom(page)
        figures = re.findall(r'<figure class="chart"[^>]*>', dom)
        assert len(figures) == charts
        assert all('data-drawn="yes"' in figure for figure in figures)
        assert dom.count("<canvas") > charts
        shown = re.search(r'data-from="([^"]+)" data-until="([^"]+)"', figures[0])
        assert shown is not None
        begin, end = map(float, shown.groups())
        first = re.search(r'<script type="application/json">(.*?)</script>', text, re.DOTALL)
        assert first is not None
        ends = [
            np.frombuffer(base64.b64decode(trace["x"]), "<f8")[[0, -1]]
            for trace in json.loads(first[1])["traces"]
        ]
        whole = max(end[1] for end in ends) - min(end[0] for end in ends)
        assert end - begin < 0.75 * whole
        assert 'data-face="dark"' in dom
        assert len(re.findall(r'<button[^>]*aria-pressed="false"', dom)) == 1


def test_a_diagnosis_draws_its_budget_and_the_limits_below_the_time_sequence_graph(
    pages: dict[str, Path],
) -> None:
    text = pages["why"].read_text(encoding="utf-8")
    diagnosis = ns.why(pages["why"].with_name("run.pcapng"))
    (row,) = diagnosis.documents()
    main_one = max(row["directions"], key=lambda direction: direction["bytes"])
    for line in main_one["budget"]:
        assert html.escape(line["sentence"]) in text.replace("&#39;", "&#x27;")
    charts = re.findall(r'<figure class="chart" id="([^"]+)" data-group="([^"]+)"', text)
    assert [name for name, _ in charts] == ["c0-time-sequence", "c0-limits", "c0-windows", "c0-round-trips"]
    assert {group for _, group in charts} == {"c0"}
    jumps = re.findall(r'data-jump="c0" data-from="([^"]+)" data-until="([^"]+)"', text)
    assert len(jumps) == len(main_one["budget"])
    assert all(float(begin) < float(end) for begin, end in jumps)


def test_times_of_a_budget_are_those_of_its_sentences(tmp_path: Path) -> None:
    scenario = tmp_path / "short.toml"
    scenario.write_text(
        'duration = "30 s"\n[tcp]\nprofile = "linux"\n[link.path]\nbetween = ["a", "b"]\nrate = "20 Mbit/s"\n'
        'delay = "5 ms"\n[[flow]]\nfrom = "a"\nto = "b"\napp = { kind = "bulk", bytes = "3 MB" }\n'
    )
    page = tmp_path / "short.html"
    assert main(["why", str(scenario), "--report", str(page)]) == 0
    text = html.unescape(page.read_text(encoding="utf-8"))
    budget = text[text.index('<div class="budget"') :]
    lines = re.findall(r'class="value">([^<%]+)</span>.*class="told">For (.+?(?:s|ms|µs)) ', budget)
    assert len(lines) >= 2
    assert {unit for _, told in lines for unit in told.split()[1:]} == {"s", "ms"}
    for beside, told in lines:
        assert beside == told


def test_each_command_that_may_help_is_a_line_of_its_own(pages: dict[str, Path]) -> None:
    text = pages["why"].read_text(encoding="utf-8").replace("&#39;", "&#x27;")
    (row,) = ns.why(pages["why"].with_name("run.pcapng")).documents()
    commands = [command for each in advice(main_direction(row)) for command in each.commands]
    assert commands
    for command in commands:
        assert f"<br><code>{html.escape(command)}</code>" in text


@pytest.mark.skipif(BROWSER is None, reason="there is no Chromium to open the page with")
def test_evidence_leads_to_its_place_in_the_graphs(pages: dict[str, Path]) -> None:
    text = pages["why"].read_text(encoding="utf-8")
    press = """<script>document.addEventListener("DOMContentLoaded", () => setTimeout(() =>
      document.querySelector("button[data-jump]").click(), 500));</script>"""
    page = pages["why"].with_name("why-jumped.html")
    page.write_text(text.replace("</body>", f"{press}</body>"), encoding="utf-8")
    dom = _dom(page)
    (begin, end), *_ = re.findall(r'data-jump="c0" data-from="([^"]+)" data-until="([^"]+)"', dom)
    figures = re.findall(r'<figure class="chart"[^>]*data-from="([^"]+)" data-until="([^"]+)"', dom)
    assert len(figures) == 4
    for shown in figures:
        assert float(shown[0]) >= float(begin) - 1e-9
        assert float(shown[1]) <= float(end) + 1e-9
        assert len({shown, figures[0]}) == 1, "all graphs show the same time"
    assert not re.search(r'<button type="button" hidden="" data-jump', dom)


@pytest.mark.skipif(BROWSER is None, reason="there is no Chromium to open the page with")
def test_a_map_shows_its_values_to_pointer_and_keyboard(pages: dict[str, Path]) -> None:
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    means = ns.read_sweep(pages["sweep"].with_name("delays.sweep")).summary("goodput_bps")
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=BROWSER, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1200, "height": 900})
        page.goto(pages["sweep"].as_uri())
        where, panel = page.locator(".maps .where"), page.locator(".map")
        panel.focus()
        told = []
        for key in ("ArrowRight", "ArrowRight", "ArrowUp", "ArrowLeft"):  # the first one enters
            page.keyboard.press(key)
            told.append(where.text_content())
        page.keyboard.press("Escape")
        assert where.text_content() == ""
        box = panel.bounding_box()
        page.mouse.move(box["x"] + box["width"] * 0.8, box["y"] + 20)
        pointed = where.text_content()
        browser.close()
    assert len(set(told)) == 4
    assert pointed in told
    for words in told:
        (row,) = [
            row
            for row in means.iter_rows(named=True)
            if f"delay {row['link.satellite.delay']}" in words and str(row["tcp.loss_means"]) in words
        ]
        assert float(words.split(": ")[1].split(" ")[0]) == pytest.approx(row["mean"] / 1e6, rel=1e-4)
        assert "2 runs" in words


def test_changed_keys_are_shown_on_the_page_in_their_own_colours(pages: dict[str, Path]) -> None:
    """Not as a drawing on white, which would shine out of a dark page."""
    text = pages["compare"].read_text(encoding="utf-8")
    assert "<svg" not in text[text.index("</style>") :]
    figure = text[text.index('<figure class="changes"') :]
    figure = figure[: figure.index("</figure>")]
    dots = [float(at) for at in re.findall(r'class="dot" style="left: ([\d.]+)%"', figure)]
    values = re.findall(r'class="value">([^<]+) %<', figure)
    assert len(dots) == len(values) > 3
    (zero,) = {float(at) for at in re.findall(r'class="mark zero" style="left: ([\d.]+)%"', figure)}
    for at, value in zip(dots, values, strict=True):
        assert (at > zero) == (float(value.replace("\u202f", "")) > 0)


def test_numbers_of_a_column_have_their_points_below_each_other() -> None:
    rows = [
        {"goodput_bps": value, "drops": count} for value, count in ((1.471e6, 3), (1.4701e6, 40), (0.9e6, 0))
    ]
    shown = table("x", rows)
    assert [row[0] for row in shown.rows] == ["1.4710", "1.4701", "0.9000"]
    assert [row[1] for row in shown.rows] == ["3", "40", "0"]
    far = table("x", [{"rtt_mean_s": 0.00012}, {"rtt_mean_s": 300.0}])
    assert [row[0] for row in far.rows] == ["0.00012", "300"], "of several sizes none loses its digits"


def test_changes_of_the_path_have_a_table_of_their_own() -> None:
    from netspurt.report.run import page_of
    from netspurt.scenario import RECORDABLE

    scenario = ns.parse(
        'duration = "3 s"\n[link.line]\nbetween = ["a", "b"]\nrate = "5 Mbit/s"\ndelay = "5 ms"\n'
        '[[change]]\nat = "1 s"\nevery = "1 s"\nset = { "link.line.rate" = "2 Mbit/s" }\n'
        '[[flow]]\nfrom = "a"\nto = "b"\napp = { kind = "bulk" }\n',
        "line.toml",
    )
    results = [scenario.run(seed, RECORDABLE) for seed in (1, 2)]
    page = page_of(scenario, results, "netspurt run line.toml", {})
    titles = [getattr(block, "title", "") for section in page.sections for block in section.blocks]
    assert titles.count("Changes") == 1
