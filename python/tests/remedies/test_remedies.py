"""Each remedy changes what it says, and nothing where there is nothing to change."""

from __future__ import annotations

import tomllib
from collections.abc import Callable

import pytest

pytest.importorskip("netspurt._core", reason="the native module is not built")

import netspurt as ns
from netspurt.diagnosing.limits import LIMITS
from netspurt.remedies.catalogue import CATALOGUE, candidates
from netspurt.remedies.changing import changed
from netspurt.remedies.proposals import control, exchanges, queues, repair, short_segments, start, windows
from netspurt.remedies.remedy import Remedy
from netspurt.remedies.situation import Situation

PATH = """
duration = "60 s"
[link.path]
between = ["a", "b"]
rate = "10 Mbit/s"
delay = "20 ms"
MORE
[tcp]
profile = "PROFILE"
KEYS
[[flow]]
app = APP
from = "a"
to = "b"
"""

BULK = '{ kind = "bulk", bytes = "1 MB" }'
QUEUE = 'queue = { kind = "drop-tail", limit = "1000 packets" }'
TWO_WRITES = (
    '{ kind = "request-response", request = { writes = ["200 B"], piece = "300 B", size = "500 B" }, '
    'response = "1 kB", exchanges = 40 }'
)
FILES = '{ kind = "files", size = "20 kB", transfers = 3, think = "100 ms" }'
WEB = '{ kind = "web", files = 3, size = "10 kB", pages = 2, think = "1 s", http = "1.0" }'


def situation(
    more: str = QUEUE,
    keys: str = "",
    app: str = BULK,
    profile: str = "linux",
    shares: dict[str, float] | None = None,
) -> Situation:
    text = PATH.replace("MORE", more).replace("KEYS", keys).replace("APP", app).replace("PROFILE", profile)
    sender = "a" if app == BULK else "b"
    return Situation(ns.parse(text), 0, sender, shares or {}, 0.04)


REMEDIES: list[tuple[Callable[[Situation], Remedy | None], Situation, dict[str, object]]] = [
    (
        windows.larger_receive_window,
        situation(keys='receive_window = "64 KiB"'),
        {"tcp.receive_window": "6 MiB"},
    ),
    (windows.larger_send_buffer, situation(keys='send_buffer = "32 KiB"'), {"tcp.send_buffer": "6 MiB"}),
    (windows.window_scaling, situation(keys='window_option = "none"'), {"tcp.window_option": "rfc7323"}),
    (short_segments.no_nagle, situation(app=TWO_WRITES, profile="rfc"), {"tcp.transmit": "nodelay"}),
    (short_segments.no_delayed_ack, situation(app=TWO_WRITES), {"tcp.acking": "every-segment"}),
    (short_segments.one_write, situation(app=TWO_WRITES), {"flow.0.app.request": "500 B"}),
    (
        start.initial_window,
        situation(keys='initial_window = "2 segments"'),
        {"tcp.initial_window": "10 segments"},
    ),
    (start.initial_window, situation(), {"tcp.initial_window": "20 segments"}),
    (start.no_idle_restart, situation(), {"tcp.idle_restart": False}),
    (
        start.keep_connection,
        situation(app=FILES),
        {"flow.0.app.kind": "request-response", "flow.0.app.exchanges": 3},
    ),
    (start.keep_connection, situation(app=WEB), {"flow.0.app.http.lasts": "session"}),
    (start.fast_open, situation(app=FILES), {"tcp.fast_open": "on"}),
    (repair.sack, situation(profile="newreno"), {"tcp.sack": True, "tcp.recovery": "sack"}),
    (
        repair.rack_and_tlp,
        situation(profile="newreno"),
        {"tcp.recovery": "rack", "tcp.tail_loss_probe": True},
    ),
    (repair.undo, situation(profile="rfc"), {"tcp.undo": True}),
    (repair.parallel_connections, situation(), {"flow.0.count": 4, "flow.0.app.bytes": "250 kB"}),
    (control.cubic, situation(profile="newreno"), {"tcp.congestion": "cubic"}),
    (control.bbr, situation(), {"tcp.congestion": "bbr", "tcp.pacing": True}),
    (control.prague, situation(), {"tcp.congestion": "prague", "link.path.queue.kind": "dualpi2"}),
    (control.pacing, situation(), {"tcp.pacing": True}),
    (control.no_pacing, situation(keys="pacing = true"), {"tcp.pacing": False}),
    (control.ecn, situation(), {"tcp.ecn": "rfc3168", "link.path.queue.ecn": True}),
    (queues.fq_codel, situation(), {"link.path.queue.kind": "fq-codel"}),
    (queues.cake, situation(), {"link.path.queue.kind": "cake", "link.path.queue.bandwidth": "9.5 Mbit/s"}),
    (queues.pie, situation(), {"link.path.queue.kind": "pie"}),
    (queues.shorter_queue, situation(), {"link.path.queue.limit": "33 packets"}),
    (queues.higher_rate, situation(), {"link.path.rate": "20 Mbit/s"}),
    (
        queues.shaper_below_policer,
        situation('policer = [{ rate = "5 Mbit/s", burst = "50 kB" }, "none"]'),
        {"link.shaped.shaper.0.rate": "4.75 Mbit/s", "link.path.between": ["shaped", "b"]},
    ),
    (queues.mss_clamp, situation('mtu = { size = "1400 B", too_big = "silent" }'), {"tcp.mss": "1360 B"}),
    (queues.mtu_probing, situation(), {"tcp.path_mtu_discovery": "probe-after-black-hole"}),
    (
        exchanges.larger_application_window,
        situation(app='{ kind = "request-response", request = "100 B", response = "8 kB", exchanges = 40 }'),
        {"flow.0.app.response": "32 kB", "flow.0.app.exchanges": 10},
    ),
]


def value(tree: object, path: str) -> object:
    for part in path.split("."):
        if isinstance(tree, list):
            tree = tree[int(part)]
        else:
            assert isinstance(tree, dict)
            tree = tree[part]
    return tree


@pytest.mark.parametrize(
    ("make", "where", "expected"), REMEDIES, ids=lambda each: getattr(each, "__name__", "")
)
def test_a_remedy_changes_the_stated_keys(
    make: Callable[[Situation], Remedy | None], where: Situation, expected: dict[str, object]
) -> None:
    remedy = make(where)
    assert remedy is not None
    made = changed(where.scenario, remedy)
    tree = tomllib.loads(made.merged())
    assert {path: value(tree, path) for path in expected} == expected
    assert remedy.words.endswith(".")
    assert remedy.limit in LIMITS
    assert made.merged() != where.scenario.merged()


def test_every_remedy_is_tested_and_describes_how_to_apply_it() -> None:
    tested = {make for make, _where, _expected in REMEDIES}
    assert {make for make, _limits in CATALOGUE} | {queues.higher_rate} == tested
    for make, where, _expected in REMEDIES:
        remedy = make(where)
        assert remedy is not None
        assert remedy.how or make is queues.higher_rate, remedy.name
    assert {limit for _make, limits in CATALOGUE for limit in limits} <= set(LIMITS)


def test_a_remedy_that_would_change_nothing_is_not_proposed() -> None:
    assert windows.larger_receive_window(situation()) is None
    assert short_segments.no_nagle(situation(keys='transmit = "nodelay"')) is None
    assert (
        short_segments.one_write(
            situation(app='{ kind = "request-response", request = "1 B", response = "1 B" }')
        )
        is None
    )
    assert repair.sack(situation()) is None
    assert repair.rack_and_tlp(situation()) is None
    assert control.cubic(situation()) is None
    assert queues.fq_codel(situation('queue = { kind = "fq-codel" }')) is None
    assert queues.shorter_queue(situation('queue = { kind = "drop-tail", limit = "20 packets" }')) is None
    assert queues.shaper_below_policer(situation()) is None
    assert start.keep_connection(situation()) is None


def test_a_limit_below_two_percent_suggests_nothing() -> None:
    keys = 'receive_window = "64 KiB"'
    assert candidates(situation(keys=keys, shares={"receive-window": 0.019})) == []
    names = [each.name for each in candidates(situation(keys=keys, shares={"receive-window": 0.021}))]
    assert names == ["larger-receive-window", "parallel-connections"]


def test_a_setting_is_changed_where_the_scenario_names_it() -> None:
    text = PATH.replace("MORE", QUEUE).replace("APP", BULK).replace("PROFILE", "linux")
    host = '[host.b.tcp]\nreceive_window = "64 KiB"\n'
    found = Situation(ns.parse(text.replace("KEYS", host)), 0, "a", {}, 0.04)
    remedy = windows.larger_receive_window(found)
    assert remedy is not None
    assert remedy.settings == {
        "host.b.tcp.receive_window": "6 MiB",
        "host.b.tcp.initial_receive_window": "64 KiB",
    }
    assert changed(found.scenario, remedy).run(1).digest != found.scenario.run(1).digest
