"""A capture on the page in a real browser: skipped, with the reason, where there is no Chromium or no playwright."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

core = pytest.importorskip("netspurt._core")
pytest.importorskip("starlette")
pytest.importorskip("uvicorn")
pytest.importorskip("playwright", reason="playwright is not installed")

import lab as labs  # noqa: E402  # what it needs is looked for first
from playwright.sync_api import Browser, Page, expect, sync_playwright  # noqa: E402

import netspurt as ns  # noqa: E402

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)

pytestmark = pytest.mark.skipif(
    CHROMIUM is None, reason="no Chromium here (Debian: apt-get install chromium)"
)

TIME_LIMIT_MS = 30_000

SLOW = labs.SMALL.replace('profile = "newreno"', 'profile = "linux"\nreceive_window = "8 KiB"').replace(
    '"20 ms"', '"60 ms"'
)

DROP = """([name, text]) => {
  const transfer = new DataTransfer();
  transfer.items.add(new File([Uint8Array.from(text)], name));
  for (const type of ["dragenter", "dragover", "drop"]) {
    document.body.dispatchEvent(new DragEvent(type, { bubbles: true, cancelable: true, dataTransfer: transfer }));
  }
}"""


@pytest.fixture(scope="module")
def capture(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("capture") / "slow.pcapng"
    ns.parse(SLOW).run(1, pcap=path)
    return path


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory, capture: Path) -> Iterator[labs.Lab]:
    with labs.lab(tmp_path_factory.mktemp("lab"), files=(str(capture),)) as running:
        yield running


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture
def page(browser: Browser, lab: labs.Lab) -> Iterator[Page]:
    """The page as it opens; whatever goes wrong in it, or leaves this machine, fails the test."""
    context = browser.new_context(viewport={"width": 1280, "height": 800})
    context.grant_permissions(["clipboard-read", "clipboard-write"])
    page = context.new_page()
    page.set_default_timeout(TIME_LIMIT_MS)
    wrong: list[str] = []
    elsewhere: list[str] = []
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.on(
        "request",
        lambda request: (
            None if request.url.startswith("http://127.0.0.1:") else elsewhere.append(request.url)
        ),
    )
    page.goto(lab.address)
    yield page
    context.close()
    assert wrong == []
    assert elsewhere == []


def remedied(page: Page) -> None:
    expect(page.locator("#capture-remedies button.remedy").first).to_be_visible(timeout=TIME_LIMIT_MS)
    expect(page.locator("#capture-progress")).to_be_hidden(timeout=TIME_LIMIT_MS)


def test_the_page_opens_on_the_diagnosis_of_the_capture(page: Page, capture: Path) -> None:
    sentence = ns.why(capture).connections["sentence"][0]
    expect(page.locator("#capture-verdict .large")).to_have_text(sentence, timeout=TIME_LIMIT_MS)
    expect(page.locator("#capture-verdict .budget")).to_have_attribute(
        "aria-label", re.compile("^receive-window")
    )
    expect(page.locator("#capture-charts canvas")).to_have_count(2)
    remedied(page)
    order = page.evaluate(
        "['#capture-verdict .large', '#capture-verdict .budget', '#capture-charts', '#capture-fit', "
        "'#capture-remedies'].map((name) => document.querySelector(name).getBoundingClientRect().top)"
    )
    assert order == sorted(order)
    expect(page.locator("#capture-charts .key", has_text="simulated data")).to_be_visible()
    expect(page.get_by_label("rate", exact=True)).to_have_value(
        re.compile(r"^(1(\.0\d*)?|0\.99\d*|99\d(\.\d+)?) [Mk]bit/s$")
    )


def test_a_remedy_is_a_button_that_moves_the_fitted_path(page: Page) -> None:
    remedied(page)
    before = page.locator("#verdict .large").text_content()
    button = page.locator("#capture-remedies button.remedy").first
    expect(button).to_contain_text("larger receive window")
    then = (button.locator("span").text_content() or "").split("→")[1].strip().split(" (")[0]
    button.click()
    expect(page.locator("#verdict .large")).to_contain_text(then, timeout=TIME_LIMIT_MS)
    expect(button).to_have_attribute("aria-pressed", "true")
    button.click()
    expect(page.locator("#verdict .large")).to_have_text(before or "", timeout=TIME_LIMIT_MS)


def test_the_fitted_scenario_is_copied_and_the_report_is_a_file(page: Page) -> None:
    remedied(page)
    page.get_by_role("button", name="Copy as scenario").click()
    expect(page.locator("#said")).to_contain_text("Scenario copied")
    text = page.evaluate("navigator.clipboard.readText()")
    assert text.startswith("# A scenario that behaves like slow.pcapng")
    assert ns.parse(text).run(1).flows.height == 1
    with page.expect_download() as download:
        page.get_by_role("link", name="Report").click()
    assert "receive-window" in download.value.path().read_text(encoding="utf-8")


def test_a_dropped_capture_is_diagnosed_and_listed(page: Page, capture: Path) -> None:
    remedied(page)
    page.evaluate(DROP, ["dropped.pcapng", list(capture.read_bytes())])
    expect(page.locator("#scenario option:checked")).to_have_text("dropped.pcapng", timeout=TIME_LIMIT_MS)
    remedied(page)
    page.reload()
    expect(page.locator("#scenario option:checked")).to_have_text("dropped.pcapng", timeout=TIME_LIMIT_MS)
    remedied(page)
    page.locator("#scenario").select_option("own/0")
    expect(page.locator("#capture")).to_be_hidden()
    expect(page.locator("#numbers")).to_be_visible()


def test_a_file_that_is_no_capture_gives_one_sentence(page: Page) -> None:
    remedied(page)
    page.evaluate(DROP, ["notes.txt", list(b"hello, world\n")])
    expect(page.locator("#capture-wrong")).to_contain_text(
        "notes.txt is a file of an unknown format, not a capture: choose a file of tcpdump or Wireshark",
        timeout=TIME_LIMIT_MS,
    )
    expect(page.locator("#capture-charts")).to_be_hidden()


LOSS = 'loss = { kind = "packet-error", rate = 0.02 }'

SHARED = (
    labs.SMALL.replace('to = "far"', 'to = "far"\ncount = 3')
    .replace('"newreno"', '"linux"')
    .replace('delay = "20 ms"', f'delay = "20 ms"\n{LOSS}')
)
"""Three transfers that share a path with random losses. With seed 7 the first is lucky; simulated with others, it takes
longer by two thirds.
"""


def test_several_connections_are_listed_and_a_poor_simulation_of_one_is_named(
    page: Page, tmp_path: Path
) -> None:
    shared = tmp_path / "shared.pcapng"
    ns.parse(SHARED.replace("1 Mbit/s", "5 Mbit/s").replace("300 kB", "500 kB")).run(7, pcap=shared)
    remedied(page)
    page.evaluate(DROP, ["shared.pcapng", list(shared.read_bytes())])
    expect(page.locator("#capture-list tbody tr")).to_have_count(3, timeout=TIME_LIMIT_MS)
    expect(page.locator("#capture-fit")).to_contain_text(
        "like the 3 connections that share it, taken together", timeout=TIME_LIMIT_MS
    )
    first = page.locator('#capture-list tbody tr[data-connection="0"]')
    first.get_by_role("button").click()
    expect(first).to_have_class(re.compile("chosen"), timeout=TIME_LIMIT_MS)
    expect(page.locator("#capture-report")).to_have_attribute("href", re.compile("connection=0$"))
    expect(page.locator("#capture-remedies")).to_contain_text(
        "Simulated, this connection takes", timeout=TIME_LIMIT_MS
    )


LATE = SLOW.replace('bytes = "300 kB"', 'bytes = "150 kB"') + (
    '\n[[flow]]\nname = "late"\napp = { kind = "bulk", bytes = "300 kB" }\nfrom = "near"\nto = "far"\nstart = "20 s"\n'
)
"""The second connection lost more time. It starts long after the first."""

DRAWN = """() => [...document.querySelectorAll("#capture-charts canvas")].map((canvas) => {
  const pixels = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data;
  const coloured = new Set();
  for (let place = 0; place < pixels.length; place += 4) {
    const [red, green, blue, alpha] = pixels.slice(place, place + 4);
    const spread = Math.max(red, green, blue) - Math.min(red, green, blue);
    if (alpha > 0 && spread > 60) coloured.add((place / 4) % canvas.width);
  }
  return coloured.size / canvas.width;
})"""
"""The part of the width of each captured graph in which something is drawn."""


def test_a_connection_that_starts_late_lies_under_its_simulation(page: Page, tmp_path: Path) -> None:
    late = tmp_path / "late.pcapng"
    ns.parse(LATE).run(1, pcap=late)
    remedied(page)
    page.evaluate(DROP, ["late.pcapng", list(late.read_bytes())])
    expect(page.locator("#capture-list tbody tr")).to_have_count(2, timeout=TIME_LIMIT_MS)
    expect(page.locator("#capture-charts .key", has_text="simulated data")).to_be_visible(
        timeout=TIME_LIMIT_MS
    )
    remedied(page)
    assert min(page.evaluate(DRAWN)) > 0.7
