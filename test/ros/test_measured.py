"""Hardware in the loop, with a real node: samples come from another process, lose their way, come twice."""

import numpy as np
import pytest
from nav_msgs.msg import Odometry
from sensor_msgs.msg import JointState

import rbt_ros as rbt
from rbt_ros.ros.convert import stamp_of

JOINT, HUB_I, WHEEL_I, SPIN = "wheel_axis", 0.15, 0.0007, 0.2  # of scenario `wheel`, about z
OFFSET = 1_700_000_000 * 10**9  # [ns] of the encoder's clock


class Encoder:
    """Sends what a wheel that speeds up does, with the stamps of a clock of its own; loses 2 in 100."""

    def __init__(self, peer, clock):
        self._publisher = peer.publisher(JointState, "measured/joint_states")
        self._clock, self._rng, self.sent = clock, np.random.default_rng(4), 0
        self._last = 0

    def send(self) -> None:
        now = stamp_of(self._clock[-1])
        if now < self._last + 5_000_000:
            return
        self._last = now
        if self._rng.random() < 0.02:
            return
        t = (now - 1_000_000_000) * 1e-9
        message = JointState(name=["other", JOINT], position=[9.0, 0.5 * t * t], velocity=[9.0, t])
        message.header.stamp.sec, message.header.stamp.nanosec = divmod(now + OFFSET, 1_000_000_000)
        self._publisher.publish(message)
        self.sent += 1


def test_the_balance_closes_with_dropouts_and_a_delay():
    """5 ms late and 2 of 100 lost: L of the whole stays to 1e-10, the work of the motor is booked, energy closes.

    The engine alone, 1 kHz samples: RK4's error in a prescribed rate is of round-off, since the rate is linear.
    """
    sim = rbt.load("wheel").simulation()
    sim.prescribe(JOINT, rbt.Measured(delay=0.02, timeout=0.2))
    rng, before = np.random.default_rng(7), sim.sample()
    for k in range(400):
        if rng.random() > 0.02 and k >= 5:
            t = (k - 5) * 1e-3
            sim.command(rbt.Measurement((JOINT,), (np.sin(3 * t),), (3 * np.cos(3 * t),), age_ns=5_000_000))
        sim.advance()
    after = sim.sample()
    drift = np.linalg.norm(np.subtract(after.angular_momentum_com, before.angular_momentum_com))
    assert drift < 1e-10 * np.linalg.norm(before.angular_momentum_com)
    for _ in range(200):  # silent since the last sample: at the tick in which 0.2 s are over
        sim.advance()
        if sim.changes[-1].what == "lose":
            break
    assert sim.changes[-1].t_ns <= 400_000_000 + 200_000_000 and sim.changes[-1].t_ns >= 390_000_000 + 200_000_000
    sim.advance(20)
    assert sim.state.v[6] == pytest.approx(0.0, abs=1e-12)


def test_a_measured_wheel_drives_the_hub_and_what_happens_when_it_is_lost_or_doubled(ros):
    """Whatever comes when: the angular momentum of hub and wheel stays, (I + i) ω + i q̇, to 1e-10 of itself."""
    child = ros.start("wheel", measured__joints=JOINT, measured__delay=0.03, realtime_factor=0.3)
    peer = ros.peer()
    states, odom = peer.listen(JointState, "joint_states"), peer.listen(Odometry, "odom")
    efforts, diagnostics = peer.listen(JointState, "measured/efforts"), peer.diagnostics()
    peer.until(lambda: states and odom and efforts, "the node", child)
    encoder = Encoder(peer, states)

    def moves() -> bool:
        encoder.send()
        return states[-1].velocity[0] > 0.3 and int(efforts[-1].header.frame_id) > OFFSET

    peer.until(moves, "the wheel to follow, and the stamp of the sample that acts", child)
    offset = diagnostics.until(
        lambda m: int(diagnostics.values(m, "measured/joint_states")["samples taken"]), "the samples", child
    )
    report = diagnostics.values(offset, "measured/joint_states")
    assert float(report["clock offset [s]"]) == pytest.approx(-OFFSET * 1e-9, abs=1.0)
    peer.until(lambda: {m.velocity[0] for m in states[-300:]} == {0.0}, "the fallback: at rest, and it stays", child)
    message = diagnostics.until(
        lambda m: diagnostics.status(m, "measured/joint_states").message == "nothing comes: the fallback acts",
        "the report of the loss",
        child,
    )
    assert int(diagnostics.values(message, "measured/joint_states")["signals lost"]) > 0

    total = (HUB_I + WHEEL_I) * SPIN
    rates = {stamp_of(m): m.velocity[0] for m in states}
    seen = [(m.twist.twist.angular.z, rates[stamp_of(m)]) for m in odom if stamp_of(m) in rates]
    assert any(v > 0.3 for _, v in seen) and any(v == 0.0 for _, v in seen)
    assert max(abs((HUB_I + WHEEL_I) * w + WHEEL_I * v - total) for w, v in seen) < 1e-10 * total

    other = ros.peer("other_encoder")
    other.publisher(JointState, "measured/joint_states")
    told = "several publishers: /other_encoder, /peer"
    diagnostics.until(lambda m: diagnostics.status(m, "measured/joint_states").message == told, "two publishers", child)


def test_what_cannot_follow_is_refused_at_the_start(ros):
    child = ros.start("wheel", measured__body="wheel")
    assert child.wait() != 0 and "'wheel' is not one of hub" in child.stderr
