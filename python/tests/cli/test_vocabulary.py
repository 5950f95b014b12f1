"""One vocabulary of options: the same name for the same thing everywhere, old spellings with a line that says so."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from scenarios import SCENARIO

from netspurt.cli import main
from netspurt.cli.commands import COMMANDS, host, ping
from netspurt.cli.entry import parser

FAST = SCENARIO.replace("1 MiB", "64 KiB")


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "scenario.toml").write_text(FAST)


def test_a_short_option_means_the_same_everywhere() -> None:
    meanings: dict[str, set[str]] = {}
    for name in COMMANDS:
        command = parser((name,))._subparsers._group_actions[0].choices[name]  # type: ignore[union-attr,index]
        for action in command._actions:
            long = [option for option in action.option_strings if option.startswith("--")]
            for option in action.option_strings:
                if len(option) == 2 and long:
                    meanings.setdefault(option, set()).update(long[:1])
    assert {option: names for option, names in meanings.items() if len(names) > 1} == {}
    assert {"-h", "-j", "-o", "-q", "-t", "-v", "-c", "-i", "-W", "-w"} <= set(meanings)


def test_captures_at_several_places_are_files_of_their_own(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["run", "scenario.toml", "--capture", "a=a.pcapng", "--capture", "senders=s.pcapng"]
    assert main([*words, "--capture", "a,line@b=both.pcapng"]) == 0
    assert main(["run", "scenario.toml", "--pcap", "p.pcapng"]) == 0
    assert Path("s.pcapng").read_bytes() == Path("p.pcapng").read_bytes()
    assert Path("a.pcapng").read_bytes() != Path("both.pcapng").read_bytes()
    assert main(["run", "scenario.toml", "--capture", "a=scenario.toml"]) == 2
    assert "this command also reads it" in capsys.readouterr().err
    assert Path("scenario.toml").read_text() == FAST
    assert main(["run", "scenario.toml", "--capture", "mars=m.pcapng"]) == 2
    assert not Path("m.pcapng").exists()


def test_the_old_spelling_of_a_capture_works_and_names_the_new_one(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["run", "scenario.toml", "--capture", "a=new.pcapng"]) == 0
    assert capsys.readouterr().err == ""
    assert main(["run", "scenario.toml", "--capture", "a", "--pcap", "old.pcapng"]) == 0
    told = "netspurt: --capture a --pcap old.pcapng is deprecated: write --capture a=old.pcapng\n"
    assert capsys.readouterr().err == told
    assert Path("old.pcapng").read_bytes() == Path("new.pcapng").read_bytes()
    assert main(["run", "scenario.toml", "--capture", "a"]) == 2
    assert "--capture a names no file: write --capture a=FILE" in capsys.readouterr().err


def test_the_old_spellings_of_host_work_and_name_the_new_ones(capsys: pytest.CaptureFixture[str]) -> None:
    options = parser(("host",)).parse_args(["host", "sink", "9", "--tcp", "reno"])
    assert options.profile == "reno"
    assert capsys.readouterr().err == "netspurt: --tcp is deprecated: write --profile\n"
    assert host._tcp_key("receive_window", "1 MiB") == ("receive_window", "1 MiB")
    told = "netspurt: --set receive_window=1 MiB is deprecated: write --set tcp.receive_window=1 MiB\n"
    assert capsys.readouterr().err == told
    assert host._tcp_key("tcp.sack", "true") == ("sack", "true")
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["http", "8080", "--root", "nowhere"], "--root nowhere does not exist: name the folder"),
        (["http", "8080", "--root", "scenario.toml"], "--root scenario.toml is a file"),
        (["connect", "no such name", "80"], "cannot find an address of 'no such name'"),
    ],
)
def test_host_checks_folders_and_names_before_it_makes_a_device(
    words: list[str], sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["host", *words]) == 2
    assert sentence in capsys.readouterr().err


def test_a_host_takes_names() -> None:
    assert host._address("192.0.2.1") == "192.0.2.1"
    assert host._address("localhost") in ("127.0.0.1", "::1")


def test_the_duration_of_a_file_is_an_option(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "scenario.toml", "-t", "50ms", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["duration_s"] == pytest.approx(0.05)
    assert main(["run", "scenario.toml", "-t", "soon"]) == 2
    assert 'duration: "soon" does not begin with a number' in capsys.readouterr().err


def test_ping_has_the_options_of_other_pings() -> None:
    options = parser(("ping",)).parse_args(
        ["ping", "-c", "3", "-i", "0.2", "-W", "5", "-s", "56", "-q", "host"]
    )
    assert (options.count, options.interval, options.timeout, options.quiet) == (
        3,
        ("every", [0.2]),
        5.0,
        True,
    )
    assert ping._lengths(options) == ("listed", [84])
    options = parser(("ping",)).parse_args(["ping", "-6", "-s", "1452", "host"])
    assert ping._lengths(options) == ("listed", [1500])


def test_quiet_leaves_remarks_out(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["run", "scenario.toml", "--set", "tcp.profile=linux", "--set", "tcp.congestion=bbr"]
    assert main(words) == 0
    assert "note: " in capsys.readouterr().err
    assert main([*words, "-q"]) == 0
    assert capsys.readouterr().err == ""


REMARKING = (
    *("reproduce", "run", "sweep", "compare", "plot", "capture", "why", "emulate", "shell", "ping", "host"),
    *("delays", "rto"),
)
"""Commands that print remarks or progress beside their results."""


@pytest.mark.parametrize("name", REMARKING)
def test_every_command_with_remarks_or_progress_can_be_quiet(name: str) -> None:
    options = parser((name,))._subparsers._group_actions[0].choices[name]  # type: ignore[union-attr, index, call-overload]
    if name == "host":
        (roles,) = (action for action in options._actions if action.dest == "role")
        options = roles.choices["sink"]
    assert "--quiet" in options._option_string_actions
    assert "-q" in options._option_string_actions


def test_one_profile_or_family_is_shown_by_its_name(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["profiles", "reno", "linux", "--json"]) == 0
    assert [entry["name"] for entry in json.loads(capsys.readouterr().out)] == ["reno", "linux"]
    assert main(["profiles", "reno"]) == 0
    assert "\n    congestion = " in capsys.readouterr().out
    for name in ("tcp.acking", "acking"):
        assert main(["mechanisms", name, "--json"]) == 0
        assert [entry["path"] for entry in json.loads(capsys.readouterr().out)] == ["tcp.acking"]
    assert main(["mechanisms", "link", "--json"]) == 0
    found = {entry["path"] for entry in json.loads(capsys.readouterr().out)}
    assert {"link.NAME.rate", "link.NAME.queue"} <= found
    assert not any(path.startswith("tcp.") for path in found)
    assert main(["profiles", "linx"]) == 2
    assert "there is no profile 'linx', did you mean 'linux'?" in capsys.readouterr().err


def test_a_capture_is_read_and_copied_by_a_filter(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "--rate", "10mbit", "-n", "20kB", "-P", "2", "--capture", "client=all.pcapng"]) == 0
    assert main(["capture", "all.pcapng", "--json"]) == 0

    def connections() -> list[dict[str, object]]:
        found: list[dict[str, object]] = json.loads(capsys.readouterr().out.splitlines()[-1])["captures"][0][
            "connections"
        ]
        return found

    both = connections()
    assert len(both) == 2
    port = both[1]["client_port"]
    assert main(["capture", "all.pcapng", "--filter", f"tcp port {port}", "-w", "one.pcapng", "--json"]) == 0
    one = connections()
    assert [row["client_port"] for row in one] == [port]
    assert main(["capture", "one.pcapng", "--json"]) == 0
    assert [row["client_port"] for row in connections()] == [port]
    assert main(["capture", "all.pcapng", "--filter", "prt 80"]) != 0
    assert "--filter 'prt 80': unknown word \"prt\"" in capsys.readouterr().err
    assert main(["capture", "all.pcapng", "one.pcapng", "-w", "two.pcapng"]) == 2
