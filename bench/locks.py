"""What a lock costs: the seed's three rods with one hinge locked, and with both, beside the same rods free."""

from harness import Group, Row, interleave

import rbt_ros as rbt

TICKS = 5000
EVENTS = 200


def three_rods(*locked: str) -> rbt.Simulation:
    """Three rods end to end, afloat and turning; these of psi1 and psi2 locked."""
    b = rbt.RobotBuilder("three_rods")
    for name, com in (("a", (0, 0, 0)), ("b", (0, -1, 0)), ("c", (0, -1, 0))):
        b.body(name, mass=1.0, inertia=(1 / 3, 1e-3, 1 / 3), com=com)
    b.hinge("psi1", "revolute", parent="a", child="b", at=(0, -1, 0))
    b.hinge("psi2", "revolute", parent="b", child="c", at=(0, -2, 0))
    simulation = rbt.Simulation(b.build())
    simulation.set_body("a", omega_body=(0.1, 0.2, 0.3))
    simulation.set_hinge("psi1", 0.3, rate=0.5)
    if locked:
        simulation.lock(*locked)
    return simulation


def locked_vs_free(wanted):
    switched = three_rods()

    def events():
        for _ in range(EVENTS // 2):
            switched.lock("psi1")
            switched.unlock("psi1")

    cases = {"free": three_rods(), "one": three_rods("psi2"), "both": three_rods("psi1", "psi2")}
    jobs = {name: (lambda s=s: s.advance(TICKS), TICKS) for name, s in cases.items()}
    us = interleave(jobs | {"event": (events, EVENTS)})
    note = f"both hinges locked: {us['both'] / us['free']:.2f}; one lock or unlock takes {us['event']:.0f} us"
    return {
        "locked_vs_free": Row(
            us["one"] / us["free"],
            us["one"],
            us["free"],
            "us per RK4 step, one of two hinges locked / free: less is better",
            note,
        )
    }


GROUPS = (Group(("locked_vs_free",), locked_vs_free),)
