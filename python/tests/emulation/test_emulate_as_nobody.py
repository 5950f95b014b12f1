"""Emulation by an ordinary user."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("netspurt._core")

from emulations import LIMIT_S, command  # what they need is looked for first

pytestmark = pytest.mark.usefixtures("permitted", "nothing_is_left")


@pytest.fixture
def for_all() -> Iterator[Path]:
    """A directory that others may look into; those of pytest they may not."""
    with tempfile.TemporaryDirectory() as name:
        Path(name).chmod(0o755)
        yield Path(name)


def as_nobody(directory: Path, device_mode: str) -> subprocess.CompletedProcess[str]:
    """An emulation by an ordinary user, with a TUN device of this mode, in a mount namespace of its own."""
    if os.geteuid() != 0:
        pytest.skip("only root can show what others may")
    if shutil.which("setpriv") is None or shutil.which("unshare") is None:
        pytest.skip("there is no setpriv or no unshare here")
    words = command(directory, "--on", "space", "true", "--", "id", "-u")
    script = (
        f"mount -t tmpfs none /mnt && mknod -m {device_mode} /mnt/tun c 10 200 && "
        "mount --bind /mnt/tun /dev/net/tun && "
        'exec setpriv --reuid 65534 --regid 65534 --clear-groups "$@"'
    )
    trial = subprocess.run(
        ["unshare", "-m", "sh", "-c", script, "sh", sys.executable, "-c", "import netspurt._core"],
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
    )
    if trial.returncode:
        pytest.skip(f"an ordinary user cannot run this checkout: {trial.stderr.strip().splitlines()[-1]}")
    return subprocess.run(
        ["unshare", "-m", "sh", "-c", script, "sh", *words], capture_output=True, text=True, timeout=LIMIT_S
    )


def test_an_ordinary_user_may_where_the_system_allows_it(for_all: Path) -> None:
    run = as_nobody(for_all, "666")
    if "user namespaces" in run.stderr:
        pytest.skip(run.stderr.strip())
    assert run.returncode == 0, run.stderr
    assert run.stdout == "0\n"


def test_without_permission_the_remedy_is_printed(for_all: Path) -> None:
    run = as_nobody(for_all, "600")
    assert run.returncode == 2, run.stderr
    assert "as root" in run.stderr
    assert run.stderr.count("\n") == 1
