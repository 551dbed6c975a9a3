"""How it is integrated: stabilisation, integrator, step; the period of seed 001's panel is that of 1 + extra steps."""

from rbt_ros.model.stabilise import METHODS as STABILISERS
from rbt_ros.plug.integrators import INTEGRATORS
from rbt_ros.stream.controls.control import Control, Host

SHORTEST, LONGEST = 1e-6, 1.0  # steps and periods [s]


def solver(host: Host) -> list[Control]:
    """The group Solver."""
    period = Period(host)

    def choice(key: str, label: str, read, write, options: tuple[str, ...], note: str = "") -> Control:
        return Control(key, label, "Solver", "choice", read, write, options=options, note=note)

    def seconds(key: str, label: str, read, write) -> Control:
        return Control(key, label, "Solver", "number", read, write, "s", SHORTEST, LONGEST)

    return [
        choice(
            "stabilise",
            "Keep L and E",
            lambda: host.sim.stabilise.method,
            host.set_stabilise,
            tuple(STABILISERS),
            "docs/stabilise.md",
        ),
        choice("integrator", "Integrator", lambda: host.sim.integrator, host.set_integrator, INTEGRATORS.names()),
        seconds("step_size", "Step", lambda: host.sim.h_ns * 1e-9, period.set_step),
        seconds("period", "Integration period", lambda: period.period, period.set_period),
        Control(
            "extra_steps",
            "Additional steps in it",
            "Solver",
            "number",
            lambda: period.extra,
            period.set_extra,
            "",
            0,
            10_000,
        ),
    ]


class Period:
    """A period cut into 1 + extra steps."""

    def __init__(self, host: Host):
        self._host, self.extra = host, 0

    @property
    def period(self) -> float:
        """[s]"""
        return self._host.sim.h_ns * 1e-9 * (1 + self.extra)

    def set_step(self, step: float) -> None:
        """The step; the period goes with it."""
        self._host.set_step(round(step * 1e9) * 1e-9)

    def set_period(self, period: float) -> None:
        """The period; the step goes with it."""
        self._cut(period, self.extra)

    def set_extra(self, extra: float) -> None:
        """The number of steps; the period stays."""
        self._cut(self.period, round(extra))

    def _cut(self, period: float, extra: int) -> None:
        h_ns = round(period * 1e9 / (1 + extra))
        self._host.set_step(h_ns * 1e-9)
        self.extra = extra
