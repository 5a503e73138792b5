"""How many devices there are on the CPU: as many as the settings say."""

from __future__ import annotations

import os
import re

from srcjax.errors import ArgumentError

#: What tutorials set in `XLA_FLAGS`.
_FLAG = re.compile(r"--xla_force_host_platform_device_count=(\d+)")


class Setting:
    """What `config.update("jax_num_cpu_devices", n)` sets."""

    #: None: as the environment says.
    cpu_devices: int | None = None


def cpu_devices() -> int:
    """The number of devices on the CPU of this process, 1 if nothing says otherwise.

    What `config.update("jax_num_cpu_devices", n)` said last, else the variables
    `JAX_NUM_CPU_DEVICES`, and `--xla_force_host_platform_device_count=n` in
    `XLA_FLAGS`, of the environment.
    """
    if Setting.cpu_devices is not None:
        return Setting.cpu_devices
    named = os.environ.get("JAX_NUM_CPU_DEVICES", "")
    found = [named] if named.isdigit() else []
    found += _FLAG.findall(os.environ.get("XLA_FLAGS", ""))
    return max(int(found[0]), 1) if found else 1


def set_cpu_devices(count: object) -> None:
    """Raises ArgumentError for what is no count."""
    whole = isinstance(count, int) and not isinstance(count, bool)
    if not whole or count < 1:  # type: ignore[operator]
        raise ArgumentError(
            f"jax_num_cpu_devices must be a number from 1 on, not {count!r}",
            instead='`srcjax.config.update("jax_num_cpu_devices", 4)`',
        )
    Setting.cpu_devices = count  # type: ignore[assignment]


__all__ = ["cpu_devices", "set_cpu_devices"]
