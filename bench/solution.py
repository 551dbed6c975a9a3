"""Time to solution: five bodies, 5 s, to a given error of the state; each engine by the means that serve it best.

The reference is our DOP853 at a quarter of a millisecond. That it is right, the rows themselves show: Drake and Kane's
equations in numpy, of other derivations and other hands, converge to it.
"""

import bodies
import numpy as np
import peer_drake
import peer_mujoco
from engine import SYSTEMS, exact
from harness import Group, Row, interleave
from peer_numpy import right_hand_side

MS = 5000
STEPS_US = (12_000, 11_500, 11_000, 10_500, 10_000, 9_000, 8_000, 7_000, 6_000, 5_000, 4_000, 2_000, 1_000)


class Stepped:
    """Ours by DOP853 in steps of us, the last one shorter where they do not fill the time."""

    def __init__(self, system, us):
        self.simulation = bodies.simulation(system, us * 1e-6, "dop853")
        self._us, (self._ticks, self._rest) = us, divmod(MS * 1000, us)

    def run(self):
        """From the start again, to the end."""
        simulation = self.simulation
        simulation.set_step(self._us * 1e-6)
        simulation.reset()
        simulation.advance(self._ticks)
        if self._rest:
            simulation.set_step(self._rest * 1e-6)
            simulation.advance()


def longest_steps(system, right, wanted_error):
    """Ours at the longest step that reaches the wanted error; the step and error in words."""
    for us in STEPS_US:
        ours = Stepped(system, us)
        ours.run()
        if (error := bodies.state_error(bodies.poses(system, ours.simulation.state.q), right)) < wanted_error:
            return ours.run, f"ours DOP853 {us / 1000:g} ms, error {error:.1e}"
    raise RuntimeError(f"no step of {STEPS_US} us reaches {wanted_error}")


def compare(wanted_error, runs, excess, note):
    """The row of a peer; `excess`: how much more time it needs to the wanted error, by its order."""
    us = interleave(runs, rounds=5)
    theirs = us["peer"] * excess
    unit = f"s for {MS / 1000:g} s to {wanted_error:g}"
    return Row(theirs / us["ours"], us["ours"] / 1e6, theirs / 1e6, unit, note)


def with_mujoco(system, right):
    """RK4 near the step it needs; the rest by its order."""
    wanted, divider = 2e-10, 6
    ours, words = longest_steps(system, right, wanted)
    peer = peer_mujoco.Peer(system, 1e-3 / divider)
    error = bodies.state_error(peer.poses(MS * divider), right)
    runs = {"ours": (ours, 1), "peer": (lambda: peer.run(MS * divider), 1)}
    note = f"{words}; MuJoCo RK4 {1 / divider:.3g} ms, error {error:.1e}, scaled by order 4"
    return compare(wanted, runs, (error / wanted) ** 0.25, note)


def with_drake(system, right):
    """RK5, at the fixed step or under the error control that is faster at the wanted error."""
    wanted, order = 2e-10, 5
    ours, words = longest_steps(system, right, wanted)
    ways = {"fixed 1 ms": {"step": 1e-3}, "accuracy 1e-9": {"accuracy": 1e-9}, "accuracy 1e-10": {"accuracy": 1e-10}}
    peers = {way: peer_drake.Peer(system, **options) for way, options in ways.items()}
    error = {way: bodies.state_error(peer.poses(MS / 1000), right) for way, peer in peers.items()}
    us = interleave({way: (lambda p=peer: p.run(MS / 1000), 1) for way, peer in peers.items()}, rounds=3)
    excess = {way: (error[way] / wanted) ** (1 / order) for way in peers}
    best = min(peers, key=lambda way: us[way] * excess[way])
    runs = {"ours": (ours, 1), "peer": (lambda: peers[best].run(MS / 1000), 1)}
    note = f"{words}; Drake RK5 {best}, error {error[best]:.1e}, scaled by order {order}"
    return compare(wanted, runs, excess[best], note)


def with_scipy(system, right):
    """solve_ivp's DOP853 on a numpy right-hand side, at the largest tolerance that reaches the error."""
    from scipy.integrate import solve_ivp

    wanted, f, start = 5e-10, right_hand_side(system), np.concatenate([system.q, system.v])
    ours, words = longest_steps(system, right, wanted)

    def solve(tolerance):
        found = solve_ivp(f, (0.0, MS / 1000), start, method="DOP853", rtol=tolerance, atol=tolerance)
        return bodies.poses(system, found.y[: len(system.q), -1])

    for tolerance in (1e-10, 3e-11, 1e-11, 3e-12, 1e-12, 3e-13):
        if (error := bodies.state_error(solve(tolerance), right)) < wanted:
            break
    runs = {"ours": (ours, 1), "peer": (lambda: solve(tolerance), 1)}
    return compare(wanted, runs, 1.0, f"{words}; scipy DOP853 with rtol {tolerance:g}, error {error:.1e}")


WAYS = {"tts_S2_mujoco": with_mujoco, "tts_S2_drake": with_drake, "tts_S2_scipy": with_scipy}


def run(key):
    """The group of one key: a peer that is missing leaves the others."""
    system = SYSTEMS["S2"]
    return Group((key,), lambda wanted: {key: WAYS[key](system, exact(system, MS))})


GROUPS = [run(key) for key in WAYS]
