"""Where the devices of one `pmap` meet: each brings a value, each gets its share.

    meeting = Meeting(4)
    meeting.exchange(device, "psum", value, sum)    # in the thread of each device

A device waits until all are there; the one that comes last puts the values together. A
device that fails, ends, or comes for something else stops those that wait: none of them
waits for ever.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from srcjax.errors import DeviceError


class Stopped(DeviceError):
    """This device stops because of another one, which says why."""


class Meeting:
    """The meetings of a number of devices, one after the other."""

    def __init__(self, size: int) -> None:
        self.size = size
        self.changed = threading.Condition()
        #: What the devices came with: the device, what for, and the value.
        self.here: dict[int, tuple[Any, Any]] = {}
        self.ended: set[int] = set()
        #: How many meetings there were, and what the last one found.
        self.rounds = 0
        self.found: Any = None
        #: Why there is none any more.
        self.failure: str | None = None

    def exchange(
        self,
        device: int,
        subject: Any,
        value: Any,
        together: Callable[[list[Any]], Any],
    ) -> Any:
        """What `together` makes of the values of all devices, in their order.

        Args:
            device: the number of this device.
            subject: what it comes for, which has to be the same for all: a tuple that
                begins with the name of the operation.
            value: what it brings.
            together: called once, by the device that comes last.

        Returns:
            The same object for all devices: they only read it.

        Raises:
            DeviceError: another device failed, ended before, or came for something
                else.
        """
        with self.changed:
            self.go_on()
            if self.ended:
                raise self.fail(_ended_before(min(self.ended), device, subject))
            self.here[device] = subject, value
            if len(self.here) < self.size:
                now = self.rounds
                while self.rounds == now and self.failure is None:
                    self.changed.wait()
                if self.rounds == now:
                    self.go_on()
                return self.found
            self.demand_same()
            try:
                self.found = together([self.here[k][1] for k in range(self.size)])
            except BaseException as error:
                self.fail(f"device {device} failed: {type(error).__name__}: {error}")
                raise
            self.here = {}
            self.rounds += 1
            self.changed.notify_all()
            return self.found

    def end(self, device: int) -> None:
        """The program of a device has come to its end."""
        with self.changed:
            self.ended.add(device)
            if self.here and self.failure is None:
                waiting = min(self.here)
                self.fail(_ended_before(device, waiting, self.here[waiting][0]))

    def stop(self, device: int, error: BaseException) -> None:
        """The program of a device has failed."""
        with self.changed:
            if self.failure is None:
                self.fail(f"device {device} failed: {type(error).__name__}: {error}")

    def go_on(self) -> None:
        """Raises DeviceError once something has gone wrong."""
        if self.failure is not None:
            raise Stopped(self.failure)

    def fail(self, reason: str) -> DeviceError:
        """End all meetings; the error to be raised here."""
        self.failure = reason
        self.changed.notify_all()
        return DeviceError(reason)

    def demand_same(self) -> None:
        """All came for the same. Raises DeviceError."""
        first = self.here[0][0]
        for device in range(1, self.size):
            other = self.here[device][0]
            if other != first:
                raise self.fail(differ("device", 0, first, device, other))


def _ended_before(ended: int, waiting: int, subject: Any) -> str:
    return (
        f"device {ended} came to the end of its program while device {waiting} waits "
        f"for all in {told(subject)}"
    )


def differ(what: str, a: int, first: Any, b: int, second: Any) -> str:
    """What to say of two that came for something else."""
    return f"{what} {a} is in {told(first)}, and {what} {b} in {told(second)}"


def told(subject: Any) -> str:
    """What a device came for, for messages."""
    name, axis, *rest = subject
    more = "".join(f", {each}" for each in rest)
    return f"{name} over {axis!r}{more}"


__all__ = ["Meeting", "Stopped", "differ", "told"]
