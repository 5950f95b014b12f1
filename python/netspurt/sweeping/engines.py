"""Executors of a sweep: threads, any executor, a Dask cluster, a Slurm cluster through Dask.

Lives here: how to obtain an executor, and its properties. Must not live here: tasks. Dask is imported only
where it is needed.
"""

from __future__ import annotations

import asyncio
import contextlib
import importlib
import logging
import os
import shutil
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Protocol

from netspurt.errors import RequestError
from netspurt.threads import Threads

CONNECT_S = 6
"""The time limit in seconds for the answer of a scheduler."""

EXTRA = "pip install 'netspurt[dask]'"


class Executor(Protocol):
    """The part of ``concurrent.futures.Executor`` that a sweep needs."""

    def submit(self, fn: Callable[..., Any], /, *args: Any) -> Any:
        """Submits a call; the returned object has ``add_done_callback``, ``result`` and ``cancel``."""


@dataclass
class Engine:
    """An executor and its properties.

    Attributes:
        executor: the executor.
        width: function that returns how many tasks run at once; 0 without workers.
        batch_s: seconds of work per batch, so that the cost of submission is small in comparison.
        near: whether the work runs in this process, without pickling.
        alive: function that returns whether the executor can still recover.
    """

    executor: Executor
    width: Callable[[], int]
    batch_s: float = 0.5
    near: bool = False
    alive: Callable[[], bool] = lambda: True


@contextlib.contextmanager
def threads(jobs: int) -> Iterator[Engine]:
    """Threads of this process. Calls that still run at the end, after Ctrl-C, are abandoned."""
    pool = Threads(jobs)
    try:
        yield Engine(pool, lambda: jobs, batch_s=0.15, near=True)
    finally:
        pool.shutdown(wait=False, cancel_futures=True)


@contextlib.contextmanager
def foreign(executor: Executor, jobs: int | None = None) -> Iterator[Engine]:
    """An executor or Dask client of the caller, which is left running."""
    if type(executor).__module__.partition(".")[0] == "distributed" and hasattr(executor, "ncores"):
        yield _of_client(executor)
        return
    known = jobs or getattr(executor, "_max_workers", None) or os.cpu_count() or 1
    near = type(executor).__name__ in ("ThreadPoolExecutor", "Threads")
    yield Engine(executor, lambda: int(known), near=near)


@contextlib.contextmanager
def dask(address: str) -> Iterator[Engine]:
    """The workers of a Dask scheduler.

    Raises:
        RequestError: Dask is not installed, or no scheduler answers within ``CONNECT_S``.
    """
    distributed = _distributed("--scheduler")
    with _quiet():
        client = _client(distributed, address)
        with contextlib.closing(client):
            yield _of_client(client)


def _client(distributed: Any, address: str) -> Any:
    try:
        # Checked before a client is made, because a failed client needs half a minute to close.
        asyncio.run(_identity(address))
        return distributed.Client(address, timeout=CONNECT_S, set_as_default=False)
    except Exception as error:  # any service may answer on that port
        raise RequestError(
            f"no Dask scheduler answers at {address}: start one with 'dask scheduler', or omit "
            "--scheduler; no task was started, and earlier results are kept"
        ) from error


@contextlib.contextmanager
def slurm(workers: int) -> Iterator[Engine]:
    """Workers that Slurm starts as jobs, through dask-jobqueue; ``jobqueue.yaml`` has the resources of a job.

    Raises:
        RequestError: dask-jobqueue or Slurm is missing, or the configuration is incomplete.
    """
    distributed = _distributed("--cluster slurm")
    try:
        dask_jobqueue: Any = importlib.import_module("dask_jobqueue")
    except ImportError as error:
        raise RequestError(f"--cluster slurm needs dask-jobqueue: {EXTRA}") from error
    if shutil.which("sbatch") is None:
        raise RequestError(
            "--cluster slurm needs Slurm's sbatch, which is not on the PATH: run it on a login node"
        )
    try:
        cluster = dask_jobqueue.SLURMCluster()
    except (TypeError, ValueError) as error:
        raise RequestError(
            f"--cluster slurm: {error}; cores, memory and walltime of a job belong in ~/.config/dask/jobqueue.yaml"
        ) from error
    with (
        _quiet(),
        contextlib.closing(cluster),
        contextlib.closing(distributed.Client(cluster, set_as_default=False)) as client,
    ):
        cluster.scale(jobs=workers)
        yield _of_client(client)


async def _identity(address: str) -> None:
    distributed = _distributed("--scheduler")
    async with asyncio.timeout(CONNECT_S), distributed.rpc(address) as scheduler:
        about = await scheduler.identity()
        if about.get("type") != "Scheduler":
            raise ValueError(f"{address} is a {about.get('type')}")


def _distributed(option: str) -> Any:
    try:
        return importlib.import_module("distributed")
    except ImportError as error:
        raise RequestError(f"{option} needs Dask: {EXTRA}") from error


def _of_client(client: Any) -> Engine:
    return Engine(
        _Submitting(client),
        _now_and_then(lambda: sum(client.ncores().values())),
        batch_s=1.0,  # each batch costs scheduler and client about 10 ms
        alive=lambda: client.status == "running",
    )


class _Submitting:
    """A Dask client with the interface of an executor: no function counts as pure, no result is kept by key."""

    def __init__(self, client: Any) -> None:
        self._client = client

    def submit(self, fn: Callable[..., Any], /, *args: Any) -> Any:
        return self._client.submit(fn, *args, pure=False)


def _now_and_then(ask: Callable[[], int], every_s: float = 1.0) -> Callable[[], int]:
    """Limits a query that costs a round trip to one per second; it returns 0 if there is no answer."""
    state = [-every_s, 0.0]

    def answer() -> int:
        if time.monotonic() - state[0] >= every_s:
            try:
                state[1] = ask()
            except (OSError, TimeoutError, RuntimeError, AttributeError):
                state[1] = 0
            state[0] = time.monotonic()
        return int(state[1])

    return answer


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Suppresses Dask's log of attempts and tracebacks: the final message contains the cause."""
    log = logging.getLogger("distributed")
    level = log.level
    log.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        log.setLevel(level)
