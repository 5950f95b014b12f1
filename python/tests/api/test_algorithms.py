"""Algorithms in Python: the same digests as their built-in twins, and a sentence for what cannot be."""

from __future__ import annotations

import contextlib
import functools
import importlib.util
import json
import math
import multiprocessing
import re
import sys
import threading
import traceback
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import pytest

import netspurt as ns
from netspurt import algorithms
from netspurt.algorithms import Action
from netspurt.cli import main
from netspurt.errors import RequestError

EXAMPLES = Path(__file__).parents[3] / "examples" / "algorithms.py"

SCENARIO = """
duration = "30 s"

[tcp]
profile = "reno"
counting = "acks"
cwnd_grows = "always"
receive_window = "64 KiB"

[link.line]
between = ["a", "b"]
rate = "2 Mbit/s"
delay = "20 ms"
queue = { kind = "drop-tail", limit = "15 packets" }
loss = { kind = "packet-error", rate = 0.03 }

[[flow]]
app = { kind = "bulk", bytes = "1 MiB" }
from = "a"
to = "b"

[[flow]]
app = { kind = "request-response", request = "300 B", response = "5000 B", exchanges = 40 }
from = "a"
to = "b"
"""

TWINS = [
    ("tcp.congestion", "reno", "Reno"),
    ("tcp.rto", "rfc6298", "Rfc6298"),
    ("tcp.transmit", "nagle-strict", "Nagle"),
]


def _examples() -> Any:
    spec = importlib.util.spec_from_file_location("algorithms_of_examples", EXAMPLES)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


EXAMPLE = _examples()


@pytest.fixture
def scenario() -> ns.Scenario:
    return ns.parse(SCENARIO, "own.toml")


class Window:
    """Twenty segments, whatever happens."""

    def __init__(self, start: Any) -> None:
        self.cwnd: float = 20 * 1460
        self.ssthresh: float = math.inf

    def on_acked(self, acked: int, view: Any) -> None:
        pass

    def on_enter_recovery(self, view: Any) -> None:
        pass

    def on_timeout(self, first: bool, view: Any) -> None:
        pass


@pytest.mark.parametrize(("path", "built_in", "name"), TWINS)
@pytest.mark.parametrize("seed", [1, 7])
def test_a_twin_gives_the_digest_of_the_built_in_one(
    scenario: ns.Scenario, path: str, built_in: str, name: str, seed: int
) -> None:
    theirs = scenario.set({path: built_in}).run(seed)
    ours = scenario.set({path: getattr(EXAMPLE, name)}).run(seed)
    assert ours.digest == theirs.digest
    # Which policy held a tail for whose ACK is told of built-in ones alone.
    columns = ["bytes_delivered", "end_s", "segments_sent", "retransmitted", "timeouts", "rtt_mean_s"]
    assert ours.flows.select(columns).equals(theirs.flows.select(columns))
    assert theirs.flows["retransmitted"].sum() > 0
    other = {"tcp.congestion": "tahoe", "tcp.rto": "jacobson88", "tcp.transmit": "nodelay"}[path]
    assert scenario.set({path: other}).run(seed).digest != ours.digest


@pytest.mark.parametrize("seed", [1, 7])
def test_a_bulk_transfer_in_python_is_one(scenario: ns.Scenario, seed: int) -> None:
    own = scenario.set({"flow.0.app": {"kind": "python", "client": EXAMPLE.Bulk}, "flow.0.name": "bulk"})
    theirs = scenario.run(seed)
    ours = own.run(seed)
    assert ours.digest == theirs.digest
    columns = ["end_s", "goodput_bps", "bytes_delivered", "completed"]
    assert ours.flows.select(columns).equals(theirs.flows.select(columns))


def test_both_ends_of_an_application(scenario: ns.Scenario) -> None:
    class Counts:
        seen = 0

        def next(self, now_ps: int, socket: Any) -> Action:
            if socket.readable:
                Counts.seen += socket.readable
                return Action.read()
            if socket.peer_finished and not self.__dict__.setdefault("closed", False):
                self.closed = True
                return Action.close()
            return Action.wait()

    app = {"kind": "python", "client": EXAMPLE.Bulk, "server": Counts}
    result = scenario.set({"flow.0.app": app}).run()
    assert Counts.seen == 1 << 20
    assert result.flows["bytes_delivered"][0] == 1 << 20


def test_all_classes_on_threads_give_the_same_result(scenario: ns.Scenario) -> None:
    own = scenario.set({path: getattr(EXAMPLE, name) for path, _, name in TWINS})
    alone = own.run(3).digest
    digests: list[str] = []
    threads = [threading.Thread(target=lambda: digests.append(own.run(3).digest)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert digests == [alone] * 4


def test_an_algorithm_can_have_a_name_and_parameters(scenario: ns.Scenario) -> None:
    class Scaled(Window):
        def __init__(self, start: Any, segments: int) -> None:
            super().__init__(start)
            self.cwnd = segments * 1460

    def digest(segments: int) -> str:
        given = {"mine": functools.partial(Scaled, segments=segments)}
        return scenario.with_algorithms(given).set({"host.a.tcp.congestion": "python:mine"}).run().digest

    assert digest(20) == scenario.set({"host.a.tcp.congestion": Window}).run().digest
    assert digest(3) != digest(20)


def test_an_exception_of_a_class_ends_the_run_with_its_traceback(scenario: ns.Scenario) -> None:
    class Breaks(Window):
        def on_enter_recovery(self, view: Any) -> None:
            raise ZeroDivisionError("on purpose")

    with pytest.raises(ZeroDivisionError) as raised:
        scenario.set({"tcp.congestion": Breaks}).run()
    assert any("test_algorithms" in frame.filename for frame in traceback.extract_tb(raised.tb)[1:])
    assert scenario.run().digest  # and the next run is none the worse


NONSENSE = [
    (-5, "-5"),
    (math.nan, "nan"),
    (0, "0"),
    ("wide", "'wide'"),
    (None, "None"),
]


@pytest.mark.parametrize(("value", "shown"), NONSENSE)
def test_an_invalid_window_is_refused(scenario: ns.Scenario, value: Any, shown: str) -> None:
    class Wrong(Window):
        def on_acked(self, acked: int, view: Any) -> None:
            self.cwnd = value

    with pytest.raises(ns.AlgorithmError) as error:
        scenario.set({"tcp.congestion": Wrong}).run()
    assert str(error.value) == (
        f'"python:Wrong", class Wrong: after on_acked its cwnd is {shown}, not a number of bytes of at least 1'
    )


def test_a_missing_or_an_unknown_method_of_a_class_is_refused(scenario: ns.Scenario) -> None:
    class Lacks:
        def on_acked(self, acked: int, view: Any) -> None: ...

    class Deaf(Window):
        def on_dupack(self, n: int, view: Any) -> None: ...

    with pytest.raises(ns.ScenarioError, match=r"tcp\.congestion: .*has no method on_enter_recovery"):
        scenario.set({"tcp.congestion": Lacks}).run()
    with pytest.raises(ns.ScenarioError, match=r"its method on_dupack is never called; .*on_dup_ack"):
        scenario.set({"tcp.congestion": Deaf}).run()


def test_a_missing_algorithm_is_named(scenario: ns.Scenario) -> None:
    with pytest.raises(ns.ScenarioError) as error:
        scenario.set({"tcp.rto": "python:mine"}).run()
    assert str(error.value) == (
        'own.toml: flow 0: tcp.rto: the algorithm "mine" was not passed to the run (passed: none)'
    )
    with pytest.raises(TypeError, match="does not return one"):
        scenario.with_algorithms({"mine": 5}).run()  # type: ignore[dict-item]  # the point


def _app(returns: Any) -> type:
    class App:
        def next(self, now_ps: int, socket: Any) -> Any:
            return returns(now_ps, socket)

    return App


@pytest.mark.parametrize(
    ("returns", "words"),
    [
        (lambda now, socket: "write", "returned 'write', not an Action"),
        (lambda now, socket: Action.write(socket.room + 1), "has room for"),
        (lambda now, socket: Action.write(0), "writes zero bytes"),
        (lambda now, socket: Action.read(), "no data is available"),
        (lambda now, socket: Action.close(), "closes a second time"),
        (lambda now, socket: Action.work(), "twice at the same instant"),
        (lambda now, socket: Action.wait(now), "waits until"),
    ],
)
def test_an_application_that_makes_no_progress_is_refused(
    scenario: ns.Scenario, returns: Any, words: str
) -> None:
    with pytest.raises(ns.AlgorithmError, match=words):
        scenario.set({"flow.0.app": {"kind": "python", "client": _app(returns)}}).run()


def test_invalid_results_of_a_policy_and_of_an_estimator_are_refused(scenario: ns.Scenario) -> None:
    class Maybe:
        def holds(self, situation: Any) -> Any:
            return "perhaps"

    class Never:
        rto_ps, srtt_ps = -1, None

        def on_sample(self, rtt_ps: int) -> None: ...

    with pytest.raises(ns.AlgorithmError, match="holds returned 'perhaps', not True or False"):
        scenario.set({"tcp.transmit": Maybe}).run()
    with pytest.raises(ns.AlgorithmError, match="its rto_ps is -1, not a time in picoseconds"):
        scenario.set({"tcp.rto": Never}).run()


def test_the_command_line_takes_a_class_from_a_file(
    tmp_path: Path, scenario: ns.Scenario, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "own.toml"
    file.write_text(SCENARIO)
    place = f"{EXAMPLES}:Reno"
    status = main(
        ["run", str(file), "--json", "--algorithm", f"mine={place}", "--set", "tcp.congestion=python:mine"]
    )
    assert status == 0
    assert json.loads(capsys.readouterr().out)["digest"] == scenario.run().digest
    assert main(["run", str(file), "--algorithm", f"{EXAMPLES}:Remo"]) == 2
    assert "has no class Remo" in capsys.readouterr().err
    assert main(["run", str(file), "--algorithm", "nowhere:Reno"]) == 2
    assert "no module 'nowhere'" in capsys.readouterr().err
    assert main(["run", str(file), "--algorithm", "Reno"]) == 2
    assert "NAME=FILE.py:CLASS" in capsys.readouterr().err


def test_a_sweep_over_built_in_and_own_algorithms(scenario: ns.Scenario, tmp_path: Path) -> None:
    swept = ns.sweep(
        scenario, grid={"tcp.congestion": ["reno", EXAMPLE.Reno]}, seeds=3, out=tmp_path / "sweep"
    )
    digests = swept.flows.filter(swept.flows["index"] == 0).group_by("seed").agg("digest")["digest"]
    assert all(len(set(pair)) == 1 for pair in digests)
    assert set(swept.tasks["tcp.congestion"]) == {"reno", '"python:Reno"'}


@pytest.mark.parametrize("kind", ["processes", "dask"])
def test_a_sweep_takes_own_algorithms_to_other_processes(
    scenario: ns.Scenario, tmp_path: Path, kind: str
) -> None:
    """Of a file that is no module, and of this function: both are told by their source, and packed with it."""
    pytest.importorskip("cloudpickle", reason="it comes with Dask, which is an optional extra")

    class Local(EXAMPLE.Reno):  # type: ignore[misc, name-defined]  # loaded from a file
        pass

    grid = {"tcp.congestion": ["reno", EXAMPLE.Reno, Local]}
    near = ns.sweep(scenario, grid=grid, seeds=2, out=tmp_path / "near")
    with contextlib.ExitStack() as running:
        if kind == "processes":
            context = multiprocessing.get_context("spawn")
            executor: Any = running.enter_context(ProcessPoolExecutor(2, mp_context=context))
        else:
            distributed = pytest.importorskip("distributed", reason="Dask is an optional extra")
            cluster = distributed.LocalCluster(2, threads_per_worker=1, dashboard_address=None)
            executor = running.enter_context(distributed.Client(running.enter_context(cluster)))
        far = ns.sweep(scenario, grid=grid, seeds=2, executor=executor)
    assert far.failed.height == 0
    assert far.flows.equals(near.flows)


def test_slices_take_own_algorithms_too(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "own.toml").write_text(SCENARIO)
    file = tmp_path / "sweep.toml"
    file.write_text('scenario = "own.toml"\nseeds = 3\n[grid]\n"tcp.congestion" = ["reno", "python:mine"]\n')
    own = ["--json", "--algorithm", f"mine={EXAMPLES}:Reno"]
    ran = []
    for part in (["--slice", "1/2"], ["--slice", "2/2"], []):
        assert main(["sweep", str(file), *own, *part]) == 0
        ran.append(json.loads(capsys.readouterr().out)["ran"])
    assert ran == [3, 3, 0]


def test_a_class_that_cannot_be_handed_over_is_refused_before_anything_runs(
    scenario: ns.Scenario, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Local(EXAMPLE.Reno):  # type: ignore[misc, name-defined]  # loaded from a file
        pass

    monkeypatch.setitem(sys.modules, "cloudpickle", None)  # as where Dask is not installed
    grid = {"tcp.congestion": [Local]}
    with (
        ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as executor,
        pytest.raises(RequestError, match=r"python:Local cannot be sent to other processes .*module"),
    ):
        ns.sweep(scenario, grid=grid, executor=executor)


def test_the_name_of_a_task_follows_the_source(scenario: ns.Scenario, tmp_path: Path) -> None:
    merged = scenario.set({"tcp.congestion": "python:Reno"}).merged()
    file = tmp_path / "mine.py"
    prints = []
    for factor in (2, 3):
        file.write_text(EXAMPLES.read_text().replace("// 2", f"// {factor}"))
        found = algorithms.find([("Reno", f"{file}:Reno")])
        prints.append(algorithms.fingerprint(merged, found))
    assert prints[0] != prints[1]
    assert algorithms.fingerprint(scenario.merged(), {"Reno": EXAMPLE.Reno}) == []
    two, three = (
        algorithms.fingerprint(merged, {"Reno": functools.partial(EXAMPLE.Reno, segments=n)}) for n in (2, 3)
    )
    assert two != three
    number = 5
    with pytest.raises(RequestError, match="without a closure"):
        algorithms.fingerprint(merged, {"Reno": lambda start: (number, start)})
    with pytest.raises(RequestError, match='no algorithm "Reno" was given'):
        algorithms.fingerprint(merged, {})
    made: dict[str, Any] = {}
    exec("class Reno: ...", made)
    with pytest.raises(RequestError, match="cannot be read"):
        algorithms.fingerprint(merged, {"Reno": made["Reno"]})


def test_the_examples_of_the_page_on_algorithms_work(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    page = (EXAMPLES.parents[1] / "docs" / "algorithms.md").read_text()
    (code,) = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    # The page saves a picture.
    (tmp_path / "examples").symlink_to(EXAMPLES.parent)
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {"__name__": "shown"}
    exec(compile(code, "algorithms.md", "exec"), names)
    gentle = names["scenario"].set({"tcp.congestion": names["Gentle"]})
    assert gentle.run().digest != names["scenario"].run().digest
