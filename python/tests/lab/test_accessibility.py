"""The rules of axe-core on every page that netspurt makes, light and dark, wide and narrow."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("netspurt._core")
pytest.importorskip("starlette")
pytest.importorskip("uvicorn")
pytest.importorskip("playwright", reason="playwright is not installed")
axe_core = pytest.importorskip("axe_playwright_python.base", reason="axe-playwright-python is not installed")

import lab as labs  # noqa: E402  # what it needs is looked for first
from playwright.sync_api import Browser, Page, sync_playwright  # noqa: E402

from netspurt.cli import main  # noqa: E402

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)

pytestmark = pytest.mark.skipif(
    CHROMIUM is None, reason="no Chromium here (Debian: apt-get install chromium)"
)

EXAMPLES = Path(__file__).parents[3] / "examples"

SOURCE = (Path(axe_core.__file__).parent / "axe.min.js").read_text(encoding="utf-8")

LOOKS = [("light", 1280), ("dark", 1280), ("light", 400), ("dark", 400)]


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def addresses(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """The pages."""
    folder = tmp_path_factory.mktemp("pages")
    satellite, capture = str(EXAMPLES / "satellite.toml"), str(EXAMPLES / "slow-download.pcapng.gz")
    commands = {
        "run": ["run", satellite],
        "why": ["why", capture],
        "capture": ["capture", capture],
        "what-if": ["what-if", satellite],
    }
    found = {}
    for name, command in commands.items():
        page = folder / f"{name}.html"
        assert main([*command, "--report", str(page)]) in (0, 1)
        found[name] = page.as_uri()
    assert main(["reproduce", "terabit", "--quick", "--out", str(folder / "study")]) == 0
    found["study"] = (folder / "study" / "index.html").as_uri()
    with (
        labs.lab(tmp_path_factory.mktemp("lab")) as running,
        labs.lab(tmp_path_factory.mktemp("lab-capture"), files=(capture,)) as diagnosing,
    ):
        found["lab"] = running.address
        found["lab-capture"] = diagnosing.address
        yield found


def violations(page: Page) -> list[str]:
    """What breaks a rule: the rule, and the first elements concerned."""
    page.evaluate(SOURCE)
    found = page.evaluate("axe.run(document, {resultTypes: ['violations']})")
    return [
        f"{rule['id']} ({rule['impact']}): {rule['help']}: "
        + "; ".join(node["html"][:160] for node in rule["nodes"][:3])
        for rule in found["violations"]
    ]


@pytest.mark.parametrize(("scheme", "width"), LOOKS)
@pytest.mark.parametrize("name", ["run", "why", "capture", "what-if", "study", "lab", "lab-capture"])
def test_pages_keep_the_rules_of_accessibility(
    name: str, scheme: str, width: int, browser: Browser, addresses: dict[str, str]
) -> None:
    context = browser.new_context(viewport={"width": width, "height": 800}, color_scheme=scheme)
    page = context.new_page()
    try:
        page.goto(addresses[name])
        page.wait_for_load_state("networkidle")
        if name == "lab-capture":
            page.locator("#capture-remedies button.remedy").first.wait_for()
        assert violations(page) == []
    finally:
        context.close()
