"""Draws the pictures of the how-to pages, with the commands that stand on them: docs/pictures/*.svg and *.png.

A page is carried out from top to bottom in an empty folder, as the tests do it, and the file that one of its commands
has written is copied. What needs the kernel's network or a browser is carried out by a script here: it needs the
privileges of `netspurt shell`, iperf3, curl and chromium, and is left out with --simulated.

    tools/how_to_pictures.py [--simulated] [PAGE…]
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PICTURES = ROOT / "docs" / "pictures"

DRAWN = {
    "how-to/run": {"run": "window.svg"},
    "how-to/links": {"links": "handover.svg"},
    "how-to/measured-path": {"measured-path": "measured.svg"},
    "how-to/record": {"record": "windows.svg"},
    "how-to/why": {"why": "limits.svg"},
    "how-to/what-if": {"what-if": "remedy.svg"},
    "how-to/fit": {"fit": "fit.svg"},
    "how-to/rrul": {"rrul-before": "before.svg", "rrul-after": "after.svg"},
    "how-to/capture": {"capture": "loss.svg"},
    "how-to/plot": {"plot": "sequence.svg"},
    "how-to/rto": {"rto": "rto.svg"},
    "how-to/notebooks": {"notebooks": "queues.svg"},
    "how-to/traffic": {"traffic": "traffic.svg"},
    "choosing-a-profile": {"choosing-a-profile": "mixed.svg"},
    "sweeps": {"sweeps": "curves.svg"},
    "algorithms": {"algorithms": "gentle.svg"},
}
"""By page: the picture, and the file that a command of the page writes."""

SENDS_TO_A_SLOW_READER = """
import socket, threading, time
listening = socket.create_server(("127.0.0.1", 9000))
def read():
    there, began = listening.accept()[0], time.time()
    while there.recv(1 << 16):
        time.sleep(0.05 if 2 < time.time() - began < 6 else 0.001)
threading.Thread(target=read, daemon=True).start()
here, began = socket.create_connection(("127.0.0.1", 9000)), time.time()
while time.time() - began < 9:
    here.sendall(bytes(1 << 16))
    time.sleep(0.005)
"""

LIVE = {
    "how-to/ping": (
        "netspurt emulate --rate 1mbit --delay 20ms -- netspurt ping server --length 40..1500 --interval 0.02..0.06 "
        "--fast --count 512 --quiet --out probe.parquet\n"
        "netspurt delays probe.parquet --plot ping.svg"
    ),
    "how-to/emulate": (
        "netspurt emulate examples/satellite.toml --congestion cubic --capture earth=earth.pcapng --on space "
        "'iperf3 -s' -- iperf3 -c space -t 60\n"
        "netspurt plot earth.pcapng --picture throughput --out emulate.svg"
    ),
    "how-to/host": (
        "head -c 20000000 /dev/zero > large-file\n"
        "netspurt host http 8080 --root . --set tcp.congestion=htcp --rate 10mbit --delay 40ms --queue 60p --capture "
        "host.pcapng > log 2>&1 &\n"
        "until grep -q 'this host is' log; do sleep 0.2; done\n"
        "curl -so copy http://100.64.0.134:8080/large-file\n"
        "kill -TERM $!; wait $!\n"
        "netspurt plot host.pcapng --picture windows --out host.svg"
    ),
    "how-to/sockets": (
        f"python -c '{SENDS_TO_A_SLOW_READER}' &\n"
        "sleep 0.3\n"
        "netspurt why --sockets --for 8s --filter 'remote port 9000' --out sockets.parquet\n"
        "wait\n"
        "python snippet.py"
    ),
    "how-to/reports": "netspurt run examples/satellite.toml --report reports.html\npython look.py reports.html 900",
    "lab": (
        "netspurt lab --no-browser --port 8497 > log &\n"
        "until grep -q http log; do sleep 0.2; done\n"
        "python look.py $(grep -o 'http[^ ]*' log) 1000\n"
        "kill -TERM $!; wait $!; true"
    ),
}
"""By page: what is carried out instead, in bash. The picture has the name of the page."""

LOOK = """
import sys
from pathlib import Path
from playwright.sync_api import sync_playwright
place, height = sys.argv[1:]
name = "lab" if place.startswith("http") else "reports"
address = place if place.startswith("http") else Path(place).resolve().as_uri()
with sync_playwright() as play:
    browser = play.chromium.launch(executable_path="/usr/bin/chromium", args=["--no-sandbox"])
    page = browser.new_page(viewport={"width": 1280, "height": int(height)})
    page.goto(address)
    page.wait_for_timeout(3000)
    page.screenshot(path=f"{name}.png")
"""


def pages() -> list[str]:
    """All pages with a picture from here, without the ending of their names."""
    return [*DRAWN, *LIVE]


def blocks_of(page: str) -> list[tuple[str, str]]:
    """Language and text of each block of code of a page."""
    text = (ROOT / "docs" / f"{page}.md").read_text(encoding="utf-8")
    return re.findall(r"^```(\w*)\n(.*?)^```$", text, flags=re.MULTILINE | re.DOTALL)


def pictures_of(page: str) -> list[str]:
    """The names of the files in docs/pictures that belong to a page."""
    if page in DRAWN:
        return [f"{name}.svg" for name in DRAWN[page]]
    return [Path(page).name + (".png" if "look.py" in LIVE[page] else ".svg")]


def draw(page: str, folder: Path) -> None:
    """Carries a page out in the folder, and copies its pictures."""
    for name in ("examples", "studies"):
        (folder / name).symlink_to(ROOT / name)
    if page in DRAWN:
        _carry_out(page, folder)
        for name, file in DRAWN[page].items():
            shutil.copy(folder / file, PICTURES / f"{name}.svg")
        return
    (folder / "look.py").write_text(LOOK, encoding="utf-8")
    snippets = [text for _, text in blocks_of(page) if text.startswith("import matplotlib")]
    (folder / "snippet.py").write_text("".join(snippets), encoding="utf-8")
    _run(["bash", "-c", LIVE[page]], folder)
    for name in pictures_of(page):
        shutil.copy(folder / name, PICTURES / name)


def _carry_out(page: str, folder: Path) -> None:
    program = ""
    for kind, text in blocks_of(page):
        if kind == "toml" and (named := re.match(r"# (\S+\.toml)\n", text)):
            (folder / named[1]).write_text(text, encoding="utf-8")
        elif kind == "sh":
            lines = [line for line in text.splitlines() if line.startswith("netspurt ")]
            _run(["bash", "-ec", "\n".join(lines)], folder)
        elif kind == "python":
            # Later blocks use what earlier ones have named.
            program += text
            _run([sys.executable, "-c", program], folder)


def _run(words: list[str], folder: Path) -> None:
    here = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        words,
        cwd=folder,
        env=os.environ | {"PATH": here, "MPLBACKEND": "agg"},
        capture_output=True,
        text=True,
        check=False,
    )
    # A page may show a command with remarks: its status is 1.
    if done.returncode not in (0, 1):
        raise SystemExit(f"{words[-1]}\n{done.stdout}{done.stderr}")


def main() -> int:
    """Draws the pictures of all pages, or of some."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--simulated", action="store_true", help="leave out what needs a network or a browser"
    )
    parser.add_argument("pages", nargs="*", metavar="PAGE", help="such as how-to/run (default: all)")
    options = parser.parse_args()
    for page in options.pages or (DRAWN if options.simulated else pages()):
        with tempfile.TemporaryDirectory() as folder:
            draw(page, Path(folder))
        for name in pictures_of(page):
            print(f"{PICTURES / name}: {(PICTURES / name).stat().st_size} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
