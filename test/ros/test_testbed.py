"""The stand-ins of examples/testbed: each closes its loop with its controller, in-process and as three processes."""

import importlib.util
import json
import signal
import sys
from pathlib import Path

import numpy as np
import pytest
from nav_msgs.msg import Odometry
from observed import Motion

import rbt_ros as rbt
from rbt_ros.bags.verify import verify
from rbt_ros.ros.convert import stamp_of

FOLDER = Path(__file__).parents[2] / "examples" / "testbed"


def load(name):
    """examples/testbed/NAME.py, loaded from where it is."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(FOLDER))
        spec = importlib.util.spec_from_file_location(f"testbed_{name}", FOLDER / f"{name}.py")
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def loops():
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(FOLDER.parent / "controllers"))
        yield load("loops")
    for name in ("plants", "reaction_wheel", "pose_hold"):
        sys.modules.pop(name, None)


def test_the_encoder_counts_and_the_line_is_late_and_loses(loops):
    motor = loops.Motor(bits=10, friction=1e-6)
    angles = [motor.step(0.01) for _ in range(100)]
    steps = [angle / motor.count for angle in angles]
    assert steps == pytest.approx([round(s) for s in steps], abs=1e-9)
    t = 100 * loops.STEP  # friction slows it by b/J t = 7e-4 of the rate
    assert motor.rate == pytest.approx(0.01 / motor.inertia * t, rel=1e-3)
    line = loops.Line(delay=3 * loops.STEP, dropouts=0.25, seed=3)
    came = [line.send(k) for k in range(4000)]
    assert came[:3] == [None] * 3
    assert all(sample == (k - 3, 15_000_000) for k, sample in enumerate(came) if sample)
    assert sum(sample is None for sample in came) / 4000 == pytest.approx(0.25, abs=4 * (0.25 * 0.75 / 4000) ** 0.5)


def test_the_wheel_controller_turns_the_simulated_hub_with_a_real_wheel(loops):
    """The encoder resolves 1e-4 rad; momentum is that of the engine, whatever the samples."""
    rows, drift = loops.motor_loop(30.0)
    assert abs(rows[0, 1]) > 1.0 and abs(rows[-1, 1]) < 0.02
    assert drift < 1e-10


def test_the_table_goes_to_the_middle_and_its_image_with_it(loops):
    rows = loops.table_loop(25.0)
    assert rows[0, 1] > 0.5 and rows[-1, 1] < 1e-3 and rows[-1, 2] < 5e-3
    assert rows[:, 3].max() < 0.02, "the image stays with the vehicle"


@pytest.mark.soak
@pytest.mark.timeout(1800)
def test_each_loop_is_closed_for_ten_minutes(loops):
    rows, drift = loops.motor_loop(600.0)
    late = rows[rows[:, 0] > 300.0]
    assert abs(late[:, 1]).max() < 2e-3 and drift < 1e-10
    for loop, turn in ((loops.table_loop, 3e-3), (loops.sphere_loop, 3e-3)):
        late = loop(600.0)[3000:]
        assert late[:, 1].max() < 1e-3 and late[:, 2].max() < turn
        assert late[:, 3].max() < 1e-3 and late[:, 4].max() < 1e-3


@pytest.mark.parametrize("kind", ["motor", "table", "sphere"])
def test_each_loop_is_closed_over_topics_and_its_record_runs_again(ros, kind, tmp_path):
    """The stand-in and its controller as processes: the simulated hub comes near the goal, led by the hardware.

    Without a stand-in it coasts at 0.2 rad/s; without a controller the table stays at 0.7 rad, and the sphere, which
    swings, at a heading of 0.6 rad. What the hardware did is in the record: without it, the run has the same bits.
    """
    ros.limit = 400
    bag, (simulator, *others) = tmp_path / "bag", load("over_topics").commands(kind, factor=0.5)
    node = ros.run(sys.executable, *simulator, "-p", "record:=true", "-p", f"record_to:={bag}")
    stand_in, controller = (ros.run(sys.executable, *words) for words in others)
    peer = ros.peer()
    odom, diagnostics = peer.listen(Odometry, "odom"), peer.diagnostics()

    def is_near() -> bool:
        motion = Motion(odom[-1])
        return abs(motion.q[0]) > np.cos(0.5 / 2.0) and np.linalg.norm(motion.w_B) < 0.15

    def ends(at: int) -> bool:
        return bool(odom) and (is_near() or stamp_of(odom[-1]) > at * 1_000_000_000)

    for at in range(5, 151, 5):  # [s] of the simulation, for which a busy machine takes its time
        peer.until(lambda at=at: ends(at), f"{at} s, or the goal", node)
        if is_near():
            break
    assert is_near()
    topic = "measured/joint_states" if kind == "motor" else "measured/pose"

    def is_fed(message) -> bool:
        values = diagnostics.values(message, topic)
        return values["publishers"] == f"/stand_in_{kind}" and int(values["samples taken"]) > 100

    diagnostics.until(is_fed, "a hundred samples of the stand-in", node)
    assert stand_in.running and controller.running
    assert node.stop(signal.SIGINT) == 0
    verdict = verify(rbt.Bag(bag))
    assert verdict.same, verdict.text()


@pytest.mark.soak
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("kind", ["motor", "table", "sphere"])
def test_each_loop_is_closed_for_ten_minutes_over_topics(ros, kind, tmp_path):
    """By the command of docs/testbed.md, three times as fast as the world.

    What is usual is told by the medians; on a machine under load samples come a second late at times, in the time of
    the simulation: then the vehicle drifts, and comes back.
    """
    ros.limit, picture = 1500, tmp_path / f"testbed_{kind}.png"
    child = ros.run(sys.executable, FOLDER / "over_topics.py", kind, 600, 3, picture)
    assert child.wait() == 0 and picture.stat().st_size > 10_000
    told = json.loads(child.stdout.splitlines()[-1])
    assert told["seconds"] > 599.0 and int(told["samples taken"]) > 0.8 * 600.0 * 200.0
    assert told["distance [m]"][0] < 2e-4 and told["distance [m]"][2] < 0.1
    assert told["turn [rad]"][0] < 1e-3 and told["turn [rad]"][2] < 0.1
    if kind == "motor":
        assert told["momentum drift"] < 1e-10
    else:
        assert told["apart [m]"][0] < 1e-4 and told["apart [rad]"][0] < 2e-4
