"""What a sweep varies: grids, ranges, samples; and the file that says so."""

from __future__ import annotations

from pathlib import Path

import pytest

from netspurt.errors import RequestError
from netspurt.sweeping import axes, request
from netspurt.sweeping.stopping import Stop


def test_a_grid_is_every_combination() -> None:
    points = axes.grid({"a": [1, 2], "b": ["x", "y", "z"]})
    assert len(points) == 6
    assert points[0] == {"a": 1, "b": "x"}
    assert points[1] == {"a": 1, "b": "y"}


@pytest.mark.parametrize(
    ("words", "values"),
    [
        ({"from": "0.1 s", "to": "0.5 s", "count": 5}, ["0.1 s", "0.2 s", "0.3 s", "0.4 s", "0.5 s"]),
        ({"from": "1 ms", "to": "100 ms", "count": 3, "scale": "log"}, ["1 ms", "10 ms", "100 ms"]),
        ({"from": 1e-9, "to": 1e-6, "count": 4, "scale": "log"}, [1e-9, 1e-8, 1e-7, 1e-6]),
        ({"from": 1, "to": 4, "count": 10}, [1, 2, 3, 4]),
        ({"from": "10 packets", "to": "11 packets", "count": 5}, ["10 packets", "11 packets"]),
        ({"from": "10p", "to": "11p", "count": 5}, ["10 p", "11 p"]),
        ({"from": "5 ms", "to": "9 ms", "count": 1}, ["5 ms"]),
    ],
)
def test_a_range_is_divided_evenly_into_round_values(words: dict[str, object], values: list[object]) -> None:
    assert [point["p"] for point in axes.grid({"p": words})] == values


def test_a_latin_hypercube_has_one_point_in_each_part_of_each_axis() -> None:
    sample = axes.latin_hypercube({"x": (0.0, 1.0), "y": (0.0, 10.0)}, count=50, seed=3)
    points = sample.points()
    assert sorted(int(float(str(p["x"])) * 50) for p in points) == list(range(50))
    assert sorted(int(float(str(p["y"])) * 5) for p in points) == list(range(50))
    assert [p["x"] for p in points] != sorted(float(str(p["x"])) for p in points)


def test_samples_are_the_same_everywhere_and_axes_do_not_disturb_each_other() -> None:
    alone = axes.random_sample({"x": (0.0, 1.0)}, count=3).points()
    # Python promises that these numbers never change.
    assert alone == [{"x": value} for value in EXPECTED]
    both = axes.random_sample({"w": ["a", "b"], "x": (0.0, 1.0)}, count=3).points()
    assert [{"x": point["x"]} for point in both] == alone
    assert {str(point["w"]) for point in axes.random_sample({"w": ["a", "b"]}, 40).points()} == {"a", "b"}


EXPECTED = [0.633251215299, 0.032591754961, 0.897037137727]


def test_all_forms_of_seeds() -> None:
    assert request.seeds_of(3) == (1, 2, 3)
    assert request.seeds_of({"first": 100, "count": 2}) == (100, 101)
    assert request.seeds_of([7, 5]) == (7, 5)
    for wrong in (0, [], [1.5], [-1], "three", {"count": 0}, [2**63], True):
        with pytest.raises(RequestError):
            request.seeds_of(wrong)


def test_a_file_can_express_what_python_can(tmp_path: Path) -> None:
    (tmp_path / "s.toml").write_text("")
    path = tmp_path / "sweep.toml"
    path.write_text(
        """
        scenario = "s.toml"
        seeds = { first = 4, count = 2 }
        [set]
        "link.x.loss" = { kind = "none" }
        tcp.profile = "linux"
        [grid]
        link.x.delay = ["1 ms", "2 ms"]
        [[point]]
        "tcp.congestion" = "reno"
        [[point]]
        "tcp.congestion" = "cubic"
        "tcp.hystart" = "linux"
        [sample]
        kind = "latin-hypercube"
        count = 5
        over = { "link.x.rate" = { from = "1 Mbit/s", to = "100 Mbit/s", scale = "log" } }
        [stop]
        quantity = "utilisation"
        link = "x"
        within = 0.1
        """
    )
    scenario, asked = request.read(path)
    assert scenario == tmp_path / "s.toml"
    assert asked.settings == {"link.x.loss": {"kind": "none"}, "tcp.profile": "linux"}
    assert list(asked.seeds) == [4, 5]
    points = list(axes.combined(asked.parts))
    assert len(points) == 2 * 2 * 5
    assert set(points[-1]) == {"link.x.delay", "tcp.congestion", "tcp.hystart", "link.x.rate"}
    assert asked.stop == Stop("utilisation", 0.1, link="x")


def test_a_path_in_two_parts_is_refused() -> None:
    with pytest.raises(RequestError, match="varied twice"):
        request.build(grid={"a": [1]}, points=[{"a": 2}])
