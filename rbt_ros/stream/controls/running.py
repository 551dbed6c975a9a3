"""Pause, step, reset, rate."""

from rbt_ros.errors import MessageError
from rbt_ros.stream.controls.control import Control, Host


def running(host: Host) -> list[Control]:
    """The group Run."""

    def step(ticks: float) -> None:
        if not host.paused:
            raise MessageError("it runs; pause it first.")
        host.step(round(ticks))

    slow, fast = host.rates
    return [
        Control("pause", "Pause", "Run", "toggle", lambda: host.paused, host.set_paused),
        Control("step", "Step", "Run", "number", lambda: 1, step, "steps", 1, 1_000_000, note="while paused"),
        Control("reset", "Reset", "Run", "button", lambda: None, lambda _: host.reset()),
        Control(
            "rate", "Rate", "Run", "number", lambda: host.rate, host.set_rate, "s/s", slow, fast, note="of real time"
        ),
    ]
