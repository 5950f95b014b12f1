"""The laboratory of Flach et al. 2016: its published numbers, and what counts as found."""

from __future__ import annotations

import pytest

pytest.importorskip("netspurt._core")

from netspurt.settings import overrides
from netspurt.studies import find
from netspurt.studies.experiment import Plan, Samples
from netspurt.studies.today.policer_laboratory import (
    PAUSES_S,
    Chunks,
    Configuration,
    Laboratory,
    configurations,
    is_policed,
)

QUICK = Plan(quick=True)


def performed(cause: str, rate_mbps: float, size_kb: int | None) -> Chunks:
    """The quick experiment of one configuration, carried out with seed 1."""
    wanted = next(
        each
        for each in configurations()
        if (each.cause, each.rate_mbps, each.size_kb) == (cause, rate_mbps, size_kb)
    )
    each = next(each for each in Laboratory().experiments(QUICK) if each.key == wanted.key(PAUSES_S[1]))
    native = each.load(find("today").path(each.scenario)).set(overrides(each.settings))
    seen = each.perform(native, 1)
    assert isinstance(seen, Chunks)
    return seen


def test_the_published_numbers_cover_every_rate_and_size_once() -> None:
    every = configurations()
    for cause in ("policer", "queue"):
        cells = {(each.rate_mbps, each.size_kb) for each in every if each.cause == cause}
        assert len(cells) == 16 == sum(each.cause == cause for each in every)
    assert all(each.found <= each.lossy <= each.chunks for each in every if each.cause == "policer")
    # What the paper says of the whole: most configurations of policers are found, and next to nothing else.
    usual = [
        each
        for each in every
        if each.cause == "policer" and each.rate_mbps < 10 and (each.size_kb or 0) > 100
    ]
    assert sum(each.found for each in usual) / sum(each.lossy for each in usual) > 0.9
    others = [each for each in every if each.cause != "policer"]
    assert sum(each.found for each in others) / sum(each.chunks for each in others) < 0.01


def test_a_chunk_is_policed_if_a_policer_has_a_tenth_of_its_time() -> None:
    assert is_policed([{"limit": "policer", "share": 0.1}, {"limit": "bottleneck", "share": 0.9}])
    assert not is_policed([{"limit": "policer", "share": 0.09}, {"limit": "bottleneck", "share": 0.91}])
    assert not is_policed([])


def test_of_policers_chunks_with_losses_count_and_of_others_all() -> None:
    policer = Configuration("policer", 1.5, 100, 0, chunks=150, lossy=100, found=90)
    queue = Configuration("queue", 1.5, 100, 0, chunks=150, lossy=100, found=15)
    assert (policer.share_percent, queue.share_percent) == (90.0, 10.0)
    part = Laboratory()
    samples = Samples(part.experiments(QUICK))
    for each in part.experiments(QUICK):
        for seed in range(1, each.seeds + 1):
            # Of five chunks, four lost a packet; three count as policed, two of them with losses.
            samples.put(each.key, seed, Chunks(5, 4, 3, 2))
    policers, others, populations = part.evaluate(samples).tables
    assert {each.measured for each in policers.cells} == {50.0}
    assert {each.measured for each in others.cells} == {60.0}
    assert {each.verdict for each in others.cells} == {"outside"}
    assert {each.verdict for each in populations.cells} == {"not comparable"}


def test_runs_without_losses_say_nothing_of_a_policer() -> None:
    part, plan = Laboratory(), Plan(quick=True, seeds=2)
    samples = Samples(part.experiments(plan))
    for each in part.experiments(plan):
        samples.put(each.key, 1, Chunks(5, 0, 0, 0))
        samples.put(each.key, 2, Chunks(5, 4, 4, 4))
    policers, *_ = part.evaluate(samples).tables
    assert {each.measured for each in policers.cells} == {100.0}
    for each in part.experiments(plan):
        samples.put(each.key, 2, Chunks(5, 0, 0, 0))
    policers, *_ = part.evaluate(samples).tables
    assert {(each.verdict, each.measured) for each in policers.cells} == {("not comparable", None)}


def test_a_policer_is_found_in_a_simulated_chunk_and_a_short_queue_is_none() -> None:
    policed = performed("policer", 1.5, 100)
    assert (policed.number, policed.lossy) == (5, 5)
    assert policed.found_lossy >= 4
    queued = performed("queue", 1.5, 100)
    assert queued.number == 5
    assert queued.lossy >= 4
    assert queued.found == 0
