"""Work done on all cores, or on a Ray cluster: a function over a list of tasks, results as they come.

What a task gives must not depend on who does it, nor on what was done before.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from typing import Any, TypeVar

T = TypeVar("T")
R = TypeVar("R")

_DIED = "a worker process died; perhaps the memory was not enough: take fewer workers"


def cores() -> int:
    """The cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def run(
    function: Callable[[T], R], tasks: Sequence[T], *, workers: int = 1, ray: str | None = None
) -> Iterator[tuple[int, R]]:
    """Yields (k, function(tasks[k])) for every task, in the order in which they are done.

    Args:
        function: of a module, so that other processes find it.
        tasks: pickled, if other processes do them.
        workers: so many processes, started afresh (a script that calls this with more than one needs
            `if __name__ == "__main__":`); 1: in this process.
        ray: do it on Ray: "local" starts it here with `workers` CPUs, anything else is the address of a cluster
            ("auto": the one that runs here). A Ray that this process is connected to already is used as it is.

    Raises:
        ValueError: a bad number of workers.
        ChildProcessError: a worker died.
        ImportError: Ray is asked for and not installed.
    """
    if isinstance(workers, bool) or not isinstance(workers, int) or workers < 1:
        raise ValueError(f"workers={workers!r} is not allowed; it is a whole number from 1")
    if ray is not None:
        return _on_ray(function, tasks, workers, ray)
    if workers == 1 or len(tasks) < 2:
        return ((k, function(task)) for k, task in enumerate(tasks))
    return _in_processes(function, tasks, min(workers, len(tasks)))


@contextmanager
def standing(
    function: Callable[[T], R], workers: int = 1, ray: str | None = None
) -> Iterator[Callable[[Sequence[T]], list[R]]]:
    """Workers that stay for many lists of tasks: gives what does a list of them, results in their order.

    Arguments and errors are those of `run`.
    """
    if ray is not None:
        with _connected(workers, ray):
            yield lambda tasks: [result for _, result in sorted(run(function, tasks, ray=ray), key=_place)]
        return
    if workers == 1:
        yield lambda tasks: [function(task) for task in tasks]
        return
    with ProcessPoolExecutor(workers, multiprocessing.get_context("spawn"), initializer=_begin) as pool:

        def do(tasks: Sequence[T]) -> list[R]:
            try:
                return list(pool.map(function, tasks))
            except BrokenProcessPool as error:
                raise ChildProcessError(_DIED) from error

        yield do


def _place(done: tuple[int, Any]) -> int:
    return done[0]


def _in_processes(function: Callable[[T], R], tasks: Sequence[T], workers: int) -> Iterator[tuple[int, R]]:
    others = set(multiprocessing.active_children())
    pool = ProcessPoolExecutor(workers, multiprocessing.get_context("spawn"), initializer=_begin)
    try:
        running = {pool.submit(function, task): k for k, task in enumerate(tasks)}
        for done in as_completed(running):
            yield running.pop(done), done.result()
        pool.shutdown()
    except BrokenProcessPool as error:
        raise ChildProcessError(_DIED) from error
    finally:
        pool.shutdown(wait=False, cancel_futures=True)
        for child in set(multiprocessing.active_children()) - others:  # after an error: nobody waits for their work
            child.terminate()
            child.join()


def _begin() -> None:
    """One core for each worker, also for torch; Ctrl-C ends it without a word."""
    os.environ["OMP_NUM_THREADS"] = "1"
    signal.signal(signal.SIGINT, signal.SIG_DFL)


@contextmanager
def _connected(workers: int, address: str) -> Iterator[Any]:
    """Ray: the one that this process is connected to already, or for the time being another."""
    try:
        import ray
    except ImportError as error:
        raise ImportError("to play on a cluster needs Ray: pip install 'iszoo[ray]'") from error
    started = not ray.is_initialized()
    if started and address == "local":
        ray.init(num_cpus=workers, include_dashboard=False, log_to_driver=False)
    elif started:
        try:
            ray.init(address=address, log_to_driver=False)
        except ConnectionError as error:
            raise ValueError(f"there is no Ray cluster at {address!r}: {error}") from error
    try:
        yield ray
    finally:
        if started:
            ray.shutdown()


def _on_ray(function: Callable[[T], R], tasks: Sequence[T], workers: int, address: str) -> Iterator[tuple[int, R]]:
    with _connected(workers, address) as ray:
        remote: Any = ray.remote(num_cpus=1)(_from_here(function))
        running = {remote.remote(task): k for k, task in enumerate(tasks)}
        while running:
            (done,), _ = ray.wait(list(running))
            try:
                result = ray.get(done)
            except ray.exceptions.RayTaskError as error:
                if isinstance(error.cause, ImportError):
                    raise ImportError(f"a node of the cluster lacks what it needs: {error.cause}") from error
                raise error.cause from None
            except ray.exceptions.RayError as error:  # a node that died, or can't read what it was sent
                raise ChildProcessError(f"Ray could not do a task: {error}") from error
            yield running.pop(done), result


def _from_here(function: Callable[[T], R]) -> Callable[[T], R]:
    """The function in the folder of this process, where there is one like it: agents' files are named from there."""
    folder = os.getcwd()

    def work(task: T) -> R:
        if os.path.isdir(folder):
            os.chdir(folder)
        return function(task)

    return work
