"""The standard services of simulators, asked for by another process as their tools do."""

import contextlib
import functools

import numpy as np
import pytest
from observed import quaternion, rotation, vector

pytest.importorskip("simulation_interfaces", reason="not here: rbt setup-ros --with simulation_interfaces")

from geometry_msgs.msg import Vector3
from rclpy.action import ActionClient
from rosgraph_msgs.msg import Clock
from simulation_interfaces import srv
from simulation_interfaces.action import SimulateSteps
from simulation_interfaces.msg import Bounds, EntityState, Result, SimulationState, SimulatorFeatures
from std_srvs.srv import Trigger

import rbt_ros as rbt

NODE = "/rbt_simulator"
H = 1_000_000  # [ns]
CLOCK_START = 1_000_000_000
SERVICES = {
    "get_simulator_features": srv.GetSimulatorFeatures,
    "get_entities": srv.GetEntities,
    "get_entities_states": srv.GetEntitiesStates,
    "get_entity_state": srv.GetEntityState,
    "set_entity_state": srv.SetEntityState,
    "get_entity_info": srv.GetEntityInfo,
    "get_entity_bounds": srv.GetEntityBounds,
    "spawn_entity": srv.SpawnEntity,
    "delete_entity": srv.DeleteEntity,
    "get_simulation_state": srv.GetSimulationState,
    "set_simulation_state": srv.SetSimulationState,
    "reset_simulation": srv.ResetSimulation,
    "step_simulation": srv.StepSimulation,
}


class Tool:
    """Asks the services of a node."""

    def __init__(self, peer, child):
        self.peer, self.child = peer, child
        self.steps = ActionClient(peer.node, SimulateSteps, f"{NODE}/simulate_steps")

    def close(self) -> None:
        self.steps.destroy()  # which its node would not do

    def ask(self, service: str, **fields):
        request = SERVICES[service].Request()
        if service == "set_entity_state" and hasattr(request, "set_pose"):  # shape 2
            request.set_pose = request.set_twist = True
        for name, value in fields.items():
            setattr(request, name, value)
        return self.peer.call(SERVICES[service], f"{NODE}/{service}", request)

    def code(self, service: str, **fields) -> tuple[int, str]:
        result = self.ask(service, **fields).result
        return result.result, result.error_message

    def done(self, service: str, **fields):
        response = self.ask(service, **fields)
        assert response.result.result == Result.RESULT_OK, response.result.error_message
        return response

    def state(self) -> int:
        return self.done("get_simulation_state").state.state

    def enter(self, state: int) -> tuple[int, str]:
        return self.code("set_simulation_state", state=SimulationState(state=state))


@pytest.fixture(scope="module")
def node(module_ros):
    """A wheeled satellite that stands still, and does what it is told as fast as it goes."""
    return module_ros.start("wheel", start_paused=True, mode="fast")


@pytest.fixture
def tool(node, peer):
    with contextlib.closing(Tool(peer, node)) as tool:
        if tool.state() != SimulationState.STATE_STOPPED:
            assert tool.enter(SimulationState.STATE_STOPPED)[0] == Result.RESULT_OK
        yield tool


def clock_ns(message: Clock) -> int:
    return message.clock.sec * 1_000_000_000 + message.clock.nanosec


def as_bytes(state: EntityState) -> bytes:
    p, q, v = vector(state.pose.position), quaternion(state.pose.orientation), vector(state.twist.linear)
    return np.concatenate([q, p, vector(state.twist.angular), v]).tobytes()


def expected(sim, i: int) -> bytes:
    sample = sim.sample()
    return np.concatenate([sample.pose[i], sample.twist[i]]).tobytes()


# ------------------------------------------------------------------------------------------------- what there is


def test_features_are_those_that_are_served(tool):
    features = tool.ask("get_simulator_features").features
    assert SimulatorFeatures.STEP_SIMULATION_ACTION in features.features
    assert SimulatorFeatures.SPAWNING not in features.features and not features.spawn_formats
    assert "wheel_satellite" in features.custom_info


def test_entities_are_the_bodies_and_are_filtered(tool):
    def found(**fields):
        request = srv.GetEntities.Request()
        for name, value in fields.items():
            owner, _, field = name.rpartition("__")
            setattr(getattr(request.filters, owner) if owner else request.filters, field, value)
        return list(tool.done("get_entities", filters=request.filters).entities)

    assert found() == ["hub", "wheel"]
    assert found(filter="^w.*l$") == ["wheel"]
    assert found(tags__tags=["revolute"]) == ["wheel"]
    assert found(tags__tags=["revolute", "free"]) == ["hub", "wheel"]
    assert found(tags__tags=["revolute", "wheel_satellite"], tags__filter_mode=1) == ["wheel"]
    info = tool.done("get_entity_info", entity="wheel").info
    assert (info.category.category, list(info.tags)) == (1, ["wheel_satellite", "revolute"])
    assert info.description == "0.5 kg, revolute on hub by hinge wheel_axis"


def test_wrong_filters_are_refused_with_a_sentence(tool):
    request = srv.GetEntities.Request()
    request.filters.filter = "a("
    assert tool.code("get_entities", filters=request.filters) == (
        Result.RESULT_OPERATION_FAILED,
        "filter 'a(' is no extended regular expression of POSIX: "
        "a '(' is not closed; write \\( for one that is a character (character 2).",
    )
    request.filters.filter, request.filters.bounds.type = "", 3
    code, text = tool.code("get_entities", filters=request.filters)
    assert code == Result.RESULT_OPERATION_FAILED and text.startswith("bounds of 0 points; a sphere has two")


def test_entities_are_found_where_they_are(tool):
    """The hub is a box of 0.2 x 0.2 x 0.3 m; the wheel, of 20 mm, is in its middle at z = 0.1 m."""
    bounds = tool.done("get_entity_bounds", entity="hub").bounds
    assert bounds.type == Bounds.TYPE_BOX
    assert [vector(p).tolist() for p in bounds.points] == [[0.1, 0.1, 0.15], [-0.1, -0.1, -0.15]]
    request = srv.GetEntities.Request()
    request.filters.bounds = Bounds(type=Bounds.TYPE_SPHERE, points=[Vector3(z=0.25), Vector3(x=0.12)])
    assert list(tool.done("get_entities", filters=request.filters).entities) == ["hub"]
    request.filters.bounds.points[1].x = 0.15
    assert list(tool.done("get_entities", filters=request.filters).entities) == ["hub", "wheel"]


def test_unknown_entities_are_not_found(tool):
    for service in ("get_entity_state", "get_entity_info", "get_entity_bounds", "delete_entity", "set_entity_state"):
        code, text = tool.code(service, entity="moon")
        assert (code, text) == (Result.RESULT_NOT_FOUND, "there is no entity 'moon'; there are hub, wheel.")


def test_bodies_are_neither_spawned_nor_deleted(tool):
    code, text = tool.code("spawn_entity", name="hub")
    assert code == srv.SpawnEntity.Response.NAME_NOT_UNIQUE
    assert text == "there is an entity 'hub' already; choose another name, or allow renaming."
    for service, fields in (("spawn_entity", {"name": "moon"}), ("delete_entity", {"entity": "hub"})):
        code, text = tool.code(service, **fields)
        assert code == Result.RESULT_FEATURE_UNSUPPORTED
        assert text.startswith("bodies are neither added nor removed while a simulation runs")


# ---------------------------------------------------------------------------------------------- states of entities


def test_a_state_is_that_of_the_simulation_and_sets_what_it_got(tool):
    """Bit by bit; a state that is read and set again changes nothing but the last bits of its quaternion's length."""
    sim = rbt.load("wheel").simulation()
    sim.advance(7)
    tool.done("step_simulation", steps=7)
    state = tool.done("get_entity_state", entity="hub").state
    assert as_bytes(state) == expected(sim, 0)
    assert state.header.frame_id == "world"
    both = tool.done("get_entities_states")
    assert list(both.entities) == ["hub", "wheel"]
    assert [as_bytes(each) for each in both.states] == [expected(sim, 0), expected(sim, 1)]
    tool.done("set_entity_state", entity="hub", state=state)
    again = tool.done("get_entity_state", entity="hub").state
    assert np.frombuffer(as_bytes(again)) == pytest.approx(np.frombuffer(as_bytes(state)), rel=4e-16, abs=4e-16)


def test_a_state_that_is_set_is_moved_from(tool):
    """Twist in world axes. What is put before the first step would be the start that a reset returns to."""
    tool.done("step_simulation", steps=1)
    state = EntityState()
    state.pose.position.x, state.pose.position.z = 1.0, -2.0
    q = np.array([0.5, -0.5, 0.5, 0.5])
    state.pose.orientation.w, state.pose.orientation.x, state.pose.orientation.y, state.pose.orientation.z = q
    state.twist.angular.y = 0.3
    tool.done("set_entity_state", entity="hub", state=state)
    sim = rbt.load("wheel").simulation()
    omega = rotation(q).T @ [0.0, 0.3, 0.0]
    sim.set_body("hub", position=(1, 0, -2), quaternion=q, velocity=(0, 0, 0), omega_body=omega)
    got = tool.done("get_entity_state", entity="hub").state
    assert np.frombuffer(as_bytes(got)) == pytest.approx(np.frombuffer(expected(sim, 0)), abs=1e-15)


@pytest.mark.parametrize(
    "change, code, sentence",
    [
        (lambda s: setattr(s.pose.orientation, "w", 2.0), 101, "its quaternion has length 2, which must be 1."),
        (lambda s: setattr(s.pose.orientation, "w", float("nan")), 101, "length nan, which must be 1."),
        (lambda s: setattr(s.pose.position, "y", float("inf")), 101, "must be three finite numbers."),
        (lambda s: setattr(s.twist.linear, "y", float("nan")), 4, "linear velocity of 'hub'"),
        (lambda s: setattr(s.header, "frame_id", "map"), 4, "frame_id 'map' is not usable here; use 'world' or empty."),
    ],
)
def test_a_wrong_state_changes_nothing(tool, change, code, sentence):
    before = as_bytes(tool.done("get_entity_state", entity="hub").state)
    state = EntityState()
    change(state)
    got, text = tool.code("set_entity_state", entity="hub", state=state)
    assert got == code and sentence in text
    assert as_bytes(tool.done("get_entity_state", entity="hub").state) == before


def test_a_state_that_cannot_go_on_is_refused_and_one_that_breaks_is_not_playing(tool):
    """1e200 rad/s: ω × I ω overflows at once; 1e100: in the first step, and what stands still does not play."""
    before = as_bytes(tool.done("get_entity_state", entity="hub").state)
    state = EntityState()
    state.twist.angular.x = state.twist.angular.y = 1e200
    code, text = tool.code("set_entity_state", entity="hub", state=state)
    assert code == 4 and text.startswith("'hub' cannot be put so: accelerations would not be finite numbers")
    assert as_bytes(tool.done("get_entity_state", entity="hub").state) == before
    tool.done("step_simulation", steps=1)  # so that it is not the start
    state.twist.angular.x = state.twist.angular.y = 1e100
    tool.done("set_entity_state", entity="hub", state=state)
    assert tool.code("step_simulation", steps=1)[0] == Result.RESULT_OPERATION_FAILED
    assert tool.state() == SimulationState.STATE_PAUSED
    code, text = tool.enter(SimulationState.STATE_PLAYING)
    assert code == 102 and text.startswith("the simulation stands still: ")


def test_a_body_on_a_hinge_is_not_put(tool):
    code, text = tool.code("set_entity_state", entity="wheel", state=EntityState())
    assert (code, text) == (4, "'wheel' hangs on hinge 'wheel_axis' and cannot be put; command that hinge.")


# ------------------------------------------------------------------------------------------------- the simulation


def test_it_plays_pauses_and_stops(tool):
    assert tool.state() == SimulationState.STATE_STOPPED
    assert tool.enter(SimulationState.STATE_STOPPED) == (101, "the simulation is stopped already.")
    code, text = tool.enter(SimulationState.STATE_PAUSED)
    assert code == 103 and text == "the simulation is stopped; take steps, or let it play before it is paused."
    assert tool.state() == SimulationState.STATE_STOPPED
    assert tool.enter(SimulationState.STATE_PLAYING)[0] == Result.RESULT_OK
    assert tool.state() == SimulationState.STATE_PLAYING
    assert tool.code("step_simulation", steps=1) == (4, "the simulation runs; pause it first.")
    assert tool.enter(SimulationState.STATE_PAUSED)[0] == Result.RESULT_OK
    assert tool.state() == SimulationState.STATE_PAUSED
    code, text = tool.enter(SimulationState.STATE_NO_WORLD)
    assert code == 103 and "state 4 cannot be set" in text
    assert tool.enter(SimulationState.STATE_STOPPED)[0] == Result.RESULT_OK
    sim = rbt.load("wheel").simulation()
    assert as_bytes(tool.done("get_entity_state", entity="hub").state) == expected(sim, 0)


def test_a_reset_of_the_state_keeps_the_clock_and_one_of_the_time_rewinds_it(tool):
    tool.done("step_simulation", steps=20)
    before = tool.done("get_entity_state", entity="hub").state
    tool.done("reset_simulation", scope=2)
    state = tool.done("get_entity_state", entity="hub").state
    sim = rbt.load("wheel").simulation()
    assert as_bytes(state) == expected(sim, 0)
    assert stamp(state) == stamp(before) + H
    tool.done("step_simulation", steps=3)
    moved = tool.done("get_entity_state", entity="hub").state
    tool.done("reset_simulation", scope=1)
    state = tool.done("get_entity_state", entity="hub").state
    assert (as_bytes(state), stamp(state)) == (as_bytes(moved), CLOCK_START)
    tool.done("step_simulation", steps=3)
    tool.done("reset_simulation")
    state = tool.done("get_entity_state", entity="hub").state
    assert (as_bytes(state), stamp(state)) == (expected(sim, 0), CLOCK_START)
    code, text = tool.code("reset_simulation", scope=64)
    assert code == 4 and text == "scope 64 is none; use 1 time, 2 state, 4 spawned, their sums, or 255 all."


def stamp(state: EntityState) -> int:
    return state.header.stamp.sec * 1_000_000_000 + state.header.stamp.nanosec


# ------------------------------------------------------------------------------------------------------- steps


class Goal:
    """A goal of SimulateSteps, with its feedback."""

    def __init__(self, tool, steps: int):
        self._peer, self._child = tool.peer, tool.child
        tool.peer.until(tool.steps.server_is_ready, "the action server", tool.child)
        self.feedback: list[tuple[int, int]] = []
        sent = tool.steps.send_goal_async(SimulateSteps.Goal(steps=steps), feedback_callback=self._keep)
        tool.peer.until(sent.done, "the answer to the goal", tool.child)
        self.handle = sent.result()

    def _keep(self, message) -> None:
        self.feedback.append((message.feedback.completed_steps, message.feedback.remaining_steps))

    @functools.cached_property
    def result(self):
        """The future of its end, asked for once; when it is there, rclpy takes no feedback any more."""
        return self.handle.get_result_async()

    def wait(self) -> tuple[int, int, str]:
        """(status, code, sentence) at its end."""
        asked = self.result
        self._peer.until(asked.done, "the end of the steps", self._child)
        result = asked.result()
        return result.status, result.result.result.result, result.result.result.error_message

    def cancel(self) -> int:
        """How many steps were taken before it ended."""
        asked = self.handle.cancel_goal_async()
        self._peer.until(asked.done, "the cancelling", self._child)
        status, code, text = self.wait()
        assert (status, code) == (5, Result.RESULT_OPERATION_FAILED) and text.endswith("steps were taken: cancelled.")
        return int(text.split()[0])


def test_the_action_takes_all_its_steps_and_tells_how_far_it_is(tool):
    before = Goal(tool, 10**9)  # feedback that is sent before both sides have met is lost
    tool.peer.until(lambda: before.feedback, "feedback", tool.child)
    taken = before.cancel()
    goal = Goal(tool, 3000)
    tool.peer.until(lambda: goal.feedback and goal.feedback[-1] == (3000, 0), "the last feedback", tool.child)
    assert goal.wait() == (4, Result.RESULT_OK, "")
    assert all(done + left == 3000 for done, left in goal.feedback)
    assert sorted(goal.feedback) == goal.feedback
    sim = rbt.load("wheel").simulation()
    sim.advance(taken + 3000)
    assert as_bytes(tool.done("get_entity_state", entity="hub").state) == expected(sim, 0)
    assert tool.state() == SimulationState.STATE_PAUSED


def test_while_steps_are_taken_a_reset_and_other_steps_are_refused_and_a_cancel_ends_them(tool):
    goal = Goal(tool, 10**9)
    tool.peer.until(lambda: goal.feedback, "feedback", tool.child)
    for service, fields in (("reset_simulation", {}), ("step_simulation", {}), ("set_entity_state", {"entity": "hub"})):
        code, text = tool.code(service, **fields)
        assert code == Result.RESULT_INCORRECT_STATE and "wait for their end, or cancel them." in text
    refused = Goal(tool, 5)
    asked = refused.handle.cancel_goal_async()
    tool.peer.until(asked.done, "the cancelling of what is refused", tool.child)
    assert not asked.result().goals_canceling, "it ends nobody's steps"
    status, code, text = refused.wait()
    assert (status, code) == (6, Result.RESULT_INCORRECT_STATE) and text.startswith("other steps are being taken")
    assert tool.state() == SimulationState.STATE_PLAYING
    taken = goal.cancel()
    sim = rbt.load("wheel").simulation()
    sim.advance(taken)
    assert as_bytes(tool.done("get_entity_state", entity="hub").state) == expected(sim, 0)


def test_steps_of_a_running_simulation_fail(tool):
    tool.enter(SimulationState.STATE_PLAYING)
    assert Goal(tool, 5).wait() == (6, Result.RESULT_OPERATION_FAILED, "the simulation runs; pause it first.")


@pytest.mark.parametrize("how", ["paused", "stopped", "pause", "reset"])
def test_what_ends_the_steps_otherwise_ends_them_at_once_and_is_told(tool, how):
    """The next answer shows it: nobody waits for the report of a second."""
    goal = Goal(tool, 10**9)
    tool.peer.until(lambda: goal.feedback, "feedback", tool.child)
    assert tool.state() == SimulationState.STATE_PLAYING
    stopped, paused = SimulationState.STATE_STOPPED, SimulationState.STATE_PAUSED
    if how in ("paused", "stopped"):
        assert tool.enter({"paused": paused, "stopped": stopped}[how])[0] == Result.RESULT_OK
    else:
        assert tool.peer.call(Trigger, f"{NODE}/{how}", Trigger.Request()).success
    assert tool.state() == (paused if how in ("paused", "pause") else stopped)
    tool.done("step_simulation", steps=1)
    status, code, text = goal.wait()
    assert (status, code) == (6, Result.RESULT_OPERATION_FAILED)
    assert "somebody paused, resumed or reset" in text


def test_nobody_takes_more_steps_than_a_millennium_has(tool):
    code, text = tool.code("step_simulation", steps=2**64 - 1)
    assert (code, text) == (4, "18446744073709551615 steps; at most 1000000000000 are taken at once.")
    tool.done("step_simulation", steps=0)


def test_quitting_ends_the_steps_and_the_process(ros):
    child = ros.start("wheel", start_paused=True)
    with contextlib.closing(Tool(ros.peer(), child)) as tool:
        goal = Goal(tool, 10**9)
        tool.peer.until(lambda: goal.feedback and not goal.result.done(), "feedback", child)
        assert tool.enter(SimulationState.STATE_QUITTING)[0] == Result.RESULT_OK
        status, code, text = goal.wait()
    assert (status, code) == (6, Result.RESULT_OPERATION_FAILED) and text.endswith("taken: the simulator quits.")
    assert child.wait() == 0
