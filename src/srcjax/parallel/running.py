"""The program of a `pmap` on all its devices at a time: a thread for each of them.

NumPy's functions and compiled kernels do not hold Python's lock while they compute.
Threads are kept, and wait for the next call; they end with the process.
"""

from __future__ import annotations

import contextvars
import os
import queue
import threading
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

from srcjax.parallel.axis import HERE, DeviceAxis
from srcjax.parallel.cores import shared_among
from srcjax.parallel.meeting import Meeting, Stopped
from srcjax.parallel.processes import processes


def run_on_devices(
    axis_name: str | None,
    count: int,
    program: Callable[[int], Any],
    on_device: Callable[[int], AbstractContextManager],
    gpus: tuple[int, ...] = (),
) -> list[Any]:
    """What the program gives for the number of each device, in order.

    Args:
        axis_name: the name for collectives in the program.
        count: how many devices of this process there are.
        program: runs in a thread for each device, the first one in this thread.
        on_device: what each of them does it within.
        gpus: the numbers of the GPUs that the devices are.

    Raises:
        What the program raised, on the first device that raised something of its own.
        DeviceError: the devices did not come to the same collectives.
    """
    meeting, around = Meeting(count), processes()
    results: list[Any] = [None] * count
    errors: dict[int, BaseException] = {}

    def run(device: int) -> None:
        HERE.set(DeviceAxis(axis_name, device, meeting, around, gpus))
        try:
            with on_device(device):
                results[device] = program(device)
        except BaseException as error:
            errors[device] = error
            meeting.stop(device, error)
        else:
            meeting.end(device)

    with shared_among(count):
        others = [
            THREADS.start(contextvars.copy_context(), run, device)
            for device in range(1, count)
        ]
        contextvars.copy_context().run(run, 0)
        for done in others:
            done.wait()
    if errors:
        first = min(errors, key=lambda k: (isinstance(errors[k], Stopped), k))
        error = errors[first]
        around.fail(error)
        if count * around.count > 1 and not isinstance(error, Stopped):
            number = around.index * count + first
            error.add_note(f"on device {number} of the axis {axis_name!r} of a pmap")
        raise error
    return results


class Threads:
    """Threads that wait for work; there are as many as ever worked at a time."""

    def __init__(self) -> None:
        self.idle: list[queue.SimpleQueue] = []

    def start(
        self, context: contextvars.Context, work: Callable[[int], None], device: int
    ) -> threading.Event:
        """Have a thread do some work in a context; the event tells that it is done."""
        done = threading.Event()
        try:
            jobs = self.idle.pop()
        except IndexError:
            jobs = queue.SimpleQueue()
            threading.Thread(
                target=self.work, args=(jobs,), name="srcjax device", daemon=True
            ).start()
        jobs.put((context, work, device, done))
        return done

    def work(self, jobs: queue.SimpleQueue) -> None:
        while True:
            context, work, device, done = jobs.get()
            context.run(work, device)
            del context, work
            self.idle.append(jobs)
            done.set()


THREADS = Threads()

if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=THREADS.__init__)  # type: ignore[misc]

__all__ = ["run_on_devices"]
