"""The lab's page in a real browser: skipped, with the reason, where there is no Chromium or no playwright."""

from __future__ import annotations

import itertools
import shutil
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

core = pytest.importorskip("netspurt._core")
pytest.importorskip("starlette")
pytest.importorskip("uvicorn")
pytest.importorskip("playwright", reason="playwright is not installed")

import lab as labs  # noqa: E402  # what it needs is looked for first
from playwright.sync_api import Browser, Page, expect, sync_playwright  # noqa: E402

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)

pytestmark = pytest.mark.skipif(
    CHROMIUM is None, reason="no Chromium here (Debian: apt-get install chromium)"
)

TIME_LIMIT_S = 30

DRAWN = "document.body.dataset.drawn ?? '0'"


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[labs.Lab]:
    with labs.lab(tmp_path_factory.mktemp("lab")) as running:
        yield running


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture
def blank(browser: Browser, lab: labs.Lab) -> Iterator[Page]:
    """A page that has been nowhere; whatever goes wrong in it fails the test."""
    context = browser.new_context(viewport={"width": 1280, "height": 800})
    context.grant_permissions(["clipboard-read", "clipboard-write"])
    page = context.new_page()
    wrong: list[str] = []
    elsewhere: list[str] = []
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.on(
        "request",
        lambda request: (
            None if request.url.startswith("http://127.0.0.1:") else elsewhere.append(request.url)
        ),
    )
    yield page
    context.close()
    assert wrong == []
    assert elsewhere == []


@pytest.fixture
def page(blank: Page, lab: labs.Lab) -> Page:
    """The page with its first run drawn."""
    blank.goto(lab.address)
    until(blank, f"Number({DRAWN}) > 0")
    return blank


def until(page: Page, expression: str) -> None:
    """Waits until an expression holds. Playwright's own way of waiting is forbidden by the page's security policy."""
    deadline = time.monotonic() + TIME_LIMIT_S
    while not page.evaluate(expression):
        assert time.monotonic() < deadline, f"in vain: {expression}"
        page.wait_for_timeout(10)


def after(page: Page, act: Any) -> None:
    """Does something and waits until pictures were drawn anew and nothing is under way."""
    before = page.evaluate(DRAWN)
    act()
    until(page, f"Number({DRAWN}) > {before}")
    page.wait_for_load_state("networkidle")


def head(page: Page, side: int = 0) -> dict[str, Any]:
    found: dict[str, Any] = page.evaluate(
        f"import('./page/base/state.js').then(({{state}}) => state.sides[{side}].answer.head)"
    )
    return found


def view(page: Page) -> tuple[float, float]:
    low, high = page.evaluate("import('./page/draw/view.js').then(({view}) => [view.from, view.to])")
    return low, high


def test_dragging_a_slider_redraws_with_its_value(page: Page) -> None:
    slider = page.get_by_label("delay, slider", exact=True)
    place = slider.bounding_box()
    assert place is not None
    middle = place["y"] + place["height"] / 2

    def drag() -> None:
        page.mouse.move(place["x"] + place["width"] / 2, middle)
        page.mouse.down()
        for step in range(1, 20):
            page.mouse.move(place["x"] + place["width"] * (0.5 + step / 60), middle)
        page.mouse.up()
        # A browser may handle moves much later than they are sent. The slider changes when it is released.
        until(page, "window.released")

    page.evaluate("addEventListener('change', () => { window.released = true }, true)")
    after(page, drag)
    said = page.get_by_label("delay", exact=True).input_value()
    assert said != "20 ms"
    # Whatever was drawn on the way, what stays is the run of where the slider was left.
    until(page, f"document.querySelector('#which').textContent.includes('{_digest(said)}')")
    assert head(page)["command"] == f"netspurt run own.toml --set 'link.path.delay=\"{said}\"'"
    after(page, lambda: page.get_by_label("link.path.delay: reset to the scenario's value").click())
    assert page.get_by_label("delay", exact=True).input_value() == "20 ms"


def _digest(delay: str) -> str:
    digest: str = core.Scenario.parse(labs.SMALL, "own.toml", [("link.path.delay", delay)]).run(1).digest
    return digest


def test_changed_values_survive_a_reload(page: Page, lab: labs.Lab) -> None:
    after(page, lambda: page.get_by_label("congestion", exact=True).select_option("cubic"))
    digest = head(page)["digest"]
    page.reload()
    until(page, f"Number({DRAWN}) > 0")
    assert head(page)["digest"] == digest
    assert page.get_by_label("congestion", exact=True).input_value() == "cubic"


def test_two_settings_stand_beside_each_other(page: Page) -> None:
    after(page, lambda: page.get_by_role("button", name="Compare").click())
    after(page, lambda: page.get_by_label("profile", exact=True).select_option("bbr"))
    assert head(page, 0)["values"]["tcp.profile"] == "newreno"
    assert head(page, 1)["values"]["tcp.profile"] == "bbr"
    rows = page.locator("#numbers tbody tr")
    expect(rows).to_have_count(3)
    expect(rows.nth(2)).to_contain_text("%")
    expect(page.locator("#charts .chart")).to_have_count(12)
    expect(page.locator(".scene")).to_have_count(2)
    # Both sides have the same axes.
    limits = page.evaluate(
        "import('./page/main.js').then(({pictures}) => pictures.map(each => ['x', 'y'].map(axis => "
        "[each.windows.plot.scales[axis].min, each.windows.plot.scales[axis].max])))"
    )
    assert limits[0] == limits[1]
    page.get_by_role("button", name="Change A").click()
    expect(page.get_by_label("profile", exact=True)).to_have_value("newreno")
    after(page, lambda: page.get_by_role("button", name="Compare").click())
    expect(page.locator("#charts .chart")).to_have_count(6)


def test_a_transfer_is_played_paused_stepped_and_scrubbed(page: Page) -> None:
    now = page.locator("#now")
    expect(now).to_have_text("0.000 s")
    empty = page.locator(".scene canvas").evaluate("canvas => canvas.toDataURL()")
    page.get_by_role("button", name="Play").click()
    until(page, "parseFloat(document.querySelector('#now').textContent) > 0.01")
    page.get_by_role("button", name="Pause").click()
    stopped = now.text_content()
    assert page.locator(".scene canvas").evaluate("canvas => canvas.toDataURL()") != empty
    page.wait_for_timeout(100)
    assert now.text_content() == stopped
    end = view(page)[1]
    times = page.evaluate(
        "import('./page/base/state.js').then(({state}) => [...state.sides[0].answer.columns.time])"
    )
    page.locator("#scrub").evaluate(
        "scrub => { scrub.value = 0.5; scrub.dispatchEvent(new Event('input')); }"
    )
    moment = float(str(now.text_content()).split()[0])
    assert moment == pytest.approx(end / 2, abs=0.001)
    page.get_by_role("button", name="Next segment").click()
    following = min(time for time in times if time > end / 2)
    expect(now).to_have_text(f"{following:.3f} s")
    page.get_by_role("button", name="Previous segment").click()
    before = max(time for time in times if time < following)
    expect(now).to_have_text(f"{before:.3f} s")


def test_pointing_at_a_segment_shows_its_reason(page: Page) -> None:
    page.locator(".chart.wide .plot").scroll_into_view_if_needed()
    name, x, y = page.evaluate(
        """Promise.all([import('./page/main.js'), import('./page/base/words.js')]).then(([{pictures}, {reasons}]) => {
          const graph = pictures[0].sequence;
          const row = graph.data.find((row) => reasons[graph.columns.reason[row]].retransmission);
          const [at, there] = graph.spot(row);
          const [x, y] = [graph.plot.valToPos(at, 'x'), graph.plot.valToPos(there, 'y')];
          return [reasons[graph.columns.reason[row]].name, x, y];
        })"""
    )
    assert name == "fast-retransmit"
    place = page.locator(".chart.wide .u-over").bounding_box()
    assert place is not None
    page.mouse.move(place["x"] + x - 3, place["y"] + y + 2)
    page.mouse.move(place["x"] + x, place["y"] + y)
    why = page.locator("#why")
    expect(why).to_contain_text("third duplicate ACK")
    expect(why).to_contain_text("near → far")
    expect(why).to_contain_text("cwnd")
    page.mouse.click(place["x"] + x, place["y"] + y)
    page.mouse.move(5, 5)
    expect(why).to_contain_text("third duplicate ACK")


def test_segments_are_reached_by_the_keyboard(page: Page) -> None:
    page.locator(".chart.wide .plot").focus()
    page.keyboard.press(".")
    expect(page.locator("#why")).to_contain_text("Opens the connection.")
    page.keyboard.press(".")
    expect(page.locator("#why")).to_contain_text("Accepts the connection")
    page.keyboard.press(",")
    expect(page.locator("#why")).to_contain_text("Opens the connection.")


def test_the_page_begins_with_the_duration_and_the_limit_of_the_transfer(page: Page) -> None:
    verdict = page.locator("#verdict")
    found = head(page)["verdict"]
    expect(verdict).to_contain_text(found["sentence"])
    expect(verdict.locator(".large")).to_contain_text("300 kB")
    widths = page.eval_on_selector_all("#verdict .budget i", "all => all.map(each => each.clientWidth)")
    assert widths == sorted(widths, reverse=True)
    assert widths[0] > widths[-1]
    expect(page.locator(".chart.band .legend")).to_contain_text("bottleneck")


def test_a_setting_is_found_by_its_name_and_all_come_back(page: Page) -> None:
    find, shown = page.get_by_label("Find"), "#controls .control:not(.inner):not([hidden])"
    before = page.locator(shown).count()
    find.fill("rto")
    expect(page.locator("#found")).to_contain_text(f"of {before} settings")
    expect(page.locator('[data-path="tcp.rto"]')).to_be_visible()
    expect(page.locator('[data-path="link.path.rate"]')).to_be_hidden()
    find.fill("tail loss probe")
    expect(page.locator('[data-path="tcp.tail_loss_probe"]')).to_be_visible()
    find.fill("")
    expect(page.locator(shown)).to_have_count(before)
    expect(page.locator('[data-path="tcp.tail_loss_probe"]')).to_be_hidden()


def test_a_change_is_coloured_as_better_or_worse(page: Page) -> None:
    after(page, lambda: page.locator("#compare").click())
    rate = page.get_by_label("rate", exact=True)
    rate.fill("2 Mbit/s")
    after(page, lambda: rate.press("Enter"))
    change = page.locator("tr.difference td")
    expect(change.nth(0)).to_have_class("number good")
    expect(change.nth(1)).to_have_class("number good")
    expect(change.nth(1)).to_contain_text("−")


def test_two_settings_are_compared_in_a_sentence(page: Page) -> None:
    after(page, lambda: page.locator("#compare").click())
    rate = page.get_by_label("rate", exact=True)
    rate.fill("2 Mbit/s")
    after(page, lambda: rate.press("Enter"))
    expect(page.locator("#verdict .compared")).to_contain_text("times as fast as A.")


def test_all_charts_zoom_together(page: Page) -> None:
    whole = view(page)
    place = page.locator(".chart.wide .u-over").bounding_box()
    assert place is not None
    y = place["y"] + 40
    page.mouse.move(place["x"] + place["width"] * 0.25, y)
    page.mouse.down()
    page.mouse.move(place["x"] + place["width"] * 0.5, y, steps=4)
    page.mouse.up()
    low, high = view(page)
    assert low == pytest.approx(whole[1] / 4, rel=0.05)
    assert high == pytest.approx(whole[1] / 2, rel=0.05)
    spans = page.evaluate(
        "import('./page/main.js').then(({pictures}) => pictures[0].all.map(({plot}) => plot.scales.x)\n"
        ".map(({min, max}) => [min, max]))"
    )
    assert all(span == [low, high] for span in spans)
    page.locator(".chart.wide .plot").focus()
    page.keyboard.press("0")
    assert view(page) == whole
    page.keyboard.press("+")
    assert view(page)[1] - view(page)[0] == pytest.approx(whole[1] / 2)


def test_command_and_scenario_are_copied(page: Page) -> None:
    after(page, lambda: page.get_by_label("recovery", exact=True).select_option("timeout"))
    page.get_by_role("button", name="Copy command").click()
    expect(page.locator("#said")).to_have_text("Command copied")
    copied = page.evaluate("navigator.clipboard.readText()")
    assert copied == "netspurt run own.toml --set 'tcp.recovery=\"timeout\"'"
    page.get_by_role("button", name="Copy scenario").click()
    expect(page.locator("#said")).to_have_text("Scenario copied")
    text = page.evaluate("navigator.clipboard.readText()")
    assert core.Scenario.parse(text).run(1).digest == head(page)["digest"]


def test_a_broken_scenario_is_shown_with_its_line(page: Page) -> None:
    page.get_by_role("button", name="Edit text").click()
    page.locator("#text").fill(labs.SMALL.replace("1 Mbit/s", "1 Mbit/q"))
    wrong = page.locator("#wrong")
    expect(wrong).to_contain_text("line 5, column 8")
    expect(wrong).to_contain_text('did you mean "Mbit/s"?')
    expect(page.locator("#lines .broken")).to_have_text("5")
    after(page, lambda: page.locator("#text").fill(labs.SMALL.replace("1 Mbit/s", "2 Mbit/s")))
    expect(wrong).to_be_hidden()
    assert head(page)["values"]["link.path.rate"] == "2 Mbit/s"
    assert "scenario.toml" in head(page)["command"]


def test_a_wrong_value_is_marked_where_it_was_typed(page: Page) -> None:
    field = page.get_by_label("rate", exact=True)
    field.fill("1 parsec")
    field.press("Enter")
    expect(page.locator("[data-path='link.path.rate'] .complaint")).to_contain_text('"parsec" is not a unit')
    after(page, lambda: page.get_by_role("button", name="Undo").click())
    expect(page.locator("#wrong")).to_be_hidden()
    expect(field).to_have_value("1 Mbit/s")


def test_a_parameter_of_a_choice_can_be_moved(page: Page) -> None:
    after(page, lambda: page.locator("[data-path='link.path.loss'] select").select_option("bit-error"))
    rate = page.locator("#control-link-path-loss-rate")
    rate.fill("3e-6")
    after(page, lambda: rate.press("Enter"))
    assert head(page)["values"]["link.path.loss"] == {"kind": "bit-error", "rate": 3e-6}


def test_a_wrong_token_is_refused_with_a_message(blank: Page, lab: labs.Lab) -> None:
    blank.goto(lab.address.replace(lab.token, "0" * len(lab.token)))
    expect(blank.get_by_role("heading", level=1)).to_have_text("netspurt lab")
    expect(blank.locator("p")).to_contain_text("has no token or the wrong token")


def test_every_listed_scenario_is_drawn(page: Page) -> None:
    keys = page.locator("#scenario option").evaluate_all("options => options.map((option) => option.value)")
    assert len(keys) > 8
    for key in keys[1:]:
        if key != "studies/doupnik/lan":  # half a million segments: drawn, but not quickly
            after(page, lambda key=key: page.locator("#scenario").select_option(key))
            expect(page.locator("#wrong")).to_be_hidden()
            assert head(page)["chosen"] is not None, key


def test_the_page_has_names_for_screen_readers(page: Page) -> None:
    nameless = page.evaluate(
        """[...document.querySelectorAll('input, select, textarea, button')].filter((each) => each.checkVisibility())
        .filter((each) => !(each.labels?.length || each.getAttribute('aria-label') || each.textContent.trim()))
        .map((each) => each.outerHTML)"""
    )
    assert nameless == []
    levels = page.evaluate(
        "[...document.querySelectorAll('h1, h2, h3')].filter((each) => each.checkVisibility())"
        ".map((each) => +each.tagName[1])"
    )
    assert levels[0] == 1
    assert all(after - before <= 1 for before, after in itertools.pairwise(levels))
    for chart in page.locator("#charts .plot").all():
        assert len(chart.get_attribute("aria-label") or "") > 10


@pytest.mark.parametrize("width", [400, 800, 1280, 1920])
def test_nothing_is_wider_than_the_window(page: Page, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 800})
    for button in ("Compare", "Watch live"):
        page.wait_for_timeout(100)
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        page.get_by_role("button", name=button).click()
    page.wait_for_timeout(100)
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_the_chosen_colour_scheme_survives_a_reload(page: Page) -> None:
    ground = "getComputedStyle(document.body).backgroundColor"
    light = page.evaluate(ground)
    page.get_by_role("button", name="Dark or light").click()
    dark = page.evaluate(ground)
    assert dark != light
    page.reload()
    assert page.evaluate(ground) == dark


def test_a_lab_that_has_ended_is_reported_in_a_sentence(blank: Page, tmp_path: Path) -> None:
    with labs.lab(tmp_path) as short:
        blank.goto(short.address)
        until(blank, f"Number({DRAWN}) > 0")
    blank.get_by_label("congestion", exact=True).select_option("cubic")
    expect(blank.locator("#wrong")).to_contain_text("check that 'netspurt lab' is still running")


def test_probes_are_watched_as_they_are_answered(page: Page) -> None:
    page.get_by_role("button", name="Watch live").click()
    form = page.get_by_role("form", name="Probe hosts")
    form.get_by_label("Hosts").fill("127.0.0.1")
    form.get_by_label("Interval").fill("0.1s")
    form.get_by_role("button", name="Start").click()
    replies = page.locator("#ping table td").nth(2)
    page.wait_for_selector("#ping table td, #ping .wrong:not(:empty)")
    if (said := page.locator("#ping .wrong").text_content()) and "socket" in said:
        pytest.skip(said)
    until(page, "Number(document.querySelectorAll('#ping table td')[2].textContent) >= 3")
    expect(page.locator("#ping .command code")).to_contain_text("netspurt ping 127.0.0.1 --interval 0.1s")
    form.get_by_role("button", name="Stop").click()
    expect(form.get_by_role("button", name="Start")).to_be_enabled()
    stopped = replies.text_content()
    page.wait_for_timeout(400)
    assert replies.text_content() == stopped


def test_a_run_elsewhere_is_followed_by_its_file(page: Page, tmp_path: Path) -> None:
    file = tmp_path / "own.pcapng"
    core.Scenario.parse(labs.SMALL, "own.toml").run(1, [], file)
    page.get_by_role("button", name="Watch live").click()
    page.locator("#follow input[name=file]").fill(str(tmp_path / "none.pcapng"))
    page.locator("#follow button.main").click()
    expect(page.locator("#follow .wrong")).to_contain_text("there is no file")
    page.locator("#follow input[name=file]").fill(str(file))
    page.locator("#follow button.main").click()
    expect(page.locator("#follow canvas").last).to_be_visible()
    expect(page.locator("#follow .command code")).to_contain_text("--capture")
    page.locator("#follow").get_by_role("button", name="Stop").click()
    expect(page.locator("#follow button.main")).to_be_enabled()


# Directions of a link


def test_a_link_can_have_a_value_for_each_direction(page: Page) -> None:
    toggle = page.get_by_label("link.path.rate: a value for each direction")
    after(page, toggle.click)
    back = page.get_by_label("rate, far → near", exact=True)
    assert back.input_value() == "1 Mbit/s"

    def halve() -> None:
        back.fill("500 kbit/s")
        back.press("Enter")

    after(page, halve)
    assert head(page)["values"]["link.path.rate"] == ["1 Mbit/s", "500 kbit/s"]
    assert head(page)["command"] == (
        'netspurt run own.toml --set \'link.path.rate=["1 Mbit/s", "500 kbit/s"]\''
    )
    after(page, toggle.click)
    assert head(page)["values"]["link.path.rate"] == "1 Mbit/s"
    assert page.get_by_label("rate, far → near", exact=True).count() == 0


def test_each_direction_can_have_its_own_queue(page: Page) -> None:
    after(page, page.get_by_label("link.path.queue: a value for each direction").click)
    queues = page.locator('[data-path="link.path.queue"] select')
    expect(queues).to_have_count(2)
    after(page, lambda: queues.nth(1).select_option("fq-codel"))
    kinds = [each["kind"] for each in head(page)["values"]["link.path.queue"]]
    assert kinds == ["drop-tail", "fq-codel"]


def test_a_distribution_of_the_delay_is_shown_and_can_be_edited(page: Page) -> None:
    delay = page.get_by_label("delay", exact=True)
    delay.fill('{ kind = "uniform", min = "10 ms", max = "30 ms" }')
    after(page, lambda: delay.press("Enter"))
    assert head(page)["values"]["link.path.delay"]["kind"] == "uniform"
    page.get_by_label("Find").click()
    assert 'kind = "uniform"' in delay.input_value()


# Several seeds, and the report


def _lossy(page: Page) -> None:
    after(page, lambda: page.get_by_label("loss", exact=True).select_option("packet-error"))


def _choose_seeds(page: Page, count: int) -> None:
    before = page.evaluate("document.body.dataset.spread ?? '0'")
    page.locator("#seeds").select_option(str(count))
    until(page, f"Number(document.body.dataset.spread ?? '0') > {before}")


def test_several_seeds_stand_as_bands_behind_the_lines(page: Page, lab: labs.Lab) -> None:
    _lossy(page)
    _choose_seeds(page, 5)
    expect(page.locator("#spread")).to_contain_text("5 seeds: median")
    for name in ("cwnd of 5 seeds", "srtt of 5 seeds", "delivered of 5 seeds"):
        expect(page.get_by_role("button", name=name)).to_be_visible()
    page.reload()
    until(page, "document.body.dataset.spread > 0")
    assert page.locator("#seeds").input_value() == "5"
    after(page, lambda: page.locator("#seeds").select_option("1"))
    expect(page.locator("#spread")).to_have_text("")
    assert page.get_by_role("button", name="of 5 seeds").count() == 0


def _set_rate(page: Page) -> None:
    rate = page.get_by_label("rate", exact=True).first
    rate.fill("2 Mbit/s")
    rate.press("Enter")


def test_two_settings_are_compared_seed_by_seed(page: Page) -> None:
    _lossy(page)
    after(page, lambda: page.get_by_role("button", name="Compare").click())
    after(page, lambda: _set_rate(page))
    _choose_seeds(page, 5)
    expect(page.locator("#spread .compared")).to_contain_text("B is faster with 5 of 5 seeds")


def test_the_report_of_what_is_shown_is_saved(page: Page, tmp_path: Path) -> None:
    with page.expect_download() as waiting:
        page.get_by_role("button", name="Save report").click()
    assert waiting.value.suggested_filename == "own.html"
    waiting.value.save_as(tmp_path / "own.html")
    text = (tmp_path / "own.html").read_text(encoding="utf-8")
    assert head(page)["verdict"]["sentence"] in text
    assert head(page)["digest"] in text
