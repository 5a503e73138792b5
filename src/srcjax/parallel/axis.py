"""The axis of devices that is open in a thread: that of the `pmap` that it runs for."""

from __future__ import annotations

from contextvars import ContextVar
from dataclasses import dataclass

from srcjax.parallel.meeting import Meeting
from srcjax.parallel.processes import Processes


@dataclass(frozen=True, eq=False)
class DeviceAxis:
    """An axis of devices, as one of them sees it."""

    #: None: it has none, and no collective can be about it.
    name: str | None
    #: The number of this device among those of this process.
    device: int
    meeting: Meeting
    processes: Processes
    #: The numbers of the GPUs that its devices are; none of the CPU.
    gpus: tuple[int, ...] = ()

    @property
    def index(self) -> int:
        """The number of this device among those of all processes."""
        return self.processes.index * self.meeting.size + self.device

    @property
    def size(self) -> int:
        """How many devices there are in all processes."""
        return self.processes.count * self.meeting.size


#: The axis that the program of this thread runs along.
HERE: ContextVar[DeviceAxis | None] = ContextVar("device_axis", default=None)

__all__ = ["HERE", "DeviceAxis"]
