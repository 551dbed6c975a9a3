"""The node as a managed one: states by lifecycle transitions, asked for by another process."""

import itertools

import pytest
from lifecycle_msgs.msg import State, Transition
from lifecycle_msgs.srv import ChangeState, GetState
from rosgraph_msgs.msg import Clock
from std_msgs.msg import String
from std_srvs.srv import Trigger

import rbt_ros as rbt

NODE = "/rbt_simulator"
INACTIVE = "the node is inactive; activate it first."


def stamp_of_clock(message: Clock) -> tuple[int, int]:
    return message.clock.sec, message.clock.nanosec


class Manager:
    """Asks for transitions, as `ros2 lifecycle set` does."""

    def __init__(self, ros, *settings: str):
        words = [word for setting in settings for word in ("-p", setting)]
        self.child = ros.run(*ros.simulator, *(["--ros-args", *words] if words else []))
        self.peer = ros.peer()

    def state(self) -> int:
        return self.peer.call(GetState, f"{NODE}/get_state", GetState.Request()).current_state.id

    def change(self, transition: int) -> bool:
        request = ChangeState.Request(transition=Transition(id=transition))
        return self.peer.call(ChangeState, f"{NODE}/change_state", request).success

    def done(self, transition: int, state: int) -> None:
        assert self.change(transition), self.child.stderr
        assert self.state() == state

    def trigger(self, service: str) -> tuple[bool, str]:
        response = self.peer.call(Trigger, f"{NODE}/{service}", Trigger.Request())
        return response.success, response.message

    def ticks(self) -> list:
        return self.peer.listen(Clock, "/clock")


@pytest.fixture
def simulator(ros, programs):
    ros.simulator = programs["rbt_simulator"]
    return ros


def test_it_waits_is_configured_runs_stands_still_and_begins_anew(simulator):
    manager = Manager(simulator, "autostart:=false")
    peer, child = manager.peer, manager.child
    assert manager.state() == State.PRIMARY_STATE_UNCONFIGURED
    assert not manager.change(Transition.TRANSITION_ACTIVATE), "what is not configured cannot be activated"
    assert peer.set_parameter("scenario", "wheel").successful
    described = peer.listen(String, "robot_description", latched=True)
    clock = manager.ticks()
    manager.done(Transition.TRANSITION_CONFIGURE, State.PRIMARY_STATE_INACTIVE)
    peer.until(lambda: described, "robot_description of the configured node", child)
    assert 'name="wheel_satellite"' in described[0].data
    assert not peer.set_parameter("scenario", "cubesat").successful, "a configured node has its scenario"
    assert not clock, "an inactive node does not step"
    assert manager.trigger("pause") == (False, INACTIVE), "at once: nobody waits for a thread that is not there"
    manager.done(Transition.TRANSITION_ACTIVATE, State.PRIMARY_STATE_ACTIVE)
    peer.until(lambda: len(clock) > 20, "steps", child)
    manager.done(Transition.TRANSITION_DEACTIVATE, State.PRIMARY_STATE_INACTIVE)
    peer.until(lambda: clock[-1] == clock[-2], "the clock, repeated for who comes late", child)
    stood = clock[-1]
    peer.until(lambda: clock[-1] is not stood, "the clock again", child)
    for service in ("resume", "step"):
        assert manager.trigger(service) == (False, INACTIVE)
    assert clock[-1] == stood
    manager.done(Transition.TRANSITION_ACTIVATE, State.PRIMARY_STATE_ACTIVE)
    peer.until(lambda: clock[-1] != stood, "further steps", child)
    manager.done(Transition.TRANSITION_DEACTIVATE, State.PRIMARY_STATE_INACTIVE)
    manager.done(Transition.TRANSITION_CLEANUP, State.PRIMARY_STATE_UNCONFIGURED)
    peer.until(lambda: not peer.node.get_publishers_info_by_topic("/clock"), "the end of its topics", child)
    manager.done(Transition.TRANSITION_CONFIGURE, State.PRIMARY_STATE_INACTIVE)
    shown = clock[-1].clock
    manager.done(Transition.TRANSITION_ACTIVATE, State.PRIMARY_STATE_ACTIVE)
    seen = len(clock)
    peer.until(lambda: len(clock) > seen, "steps of the second life", child)
    assert (clock[seen].clock.sec, clock[seen].clock.nanosec) > (shown.sec, shown.nanosec)
    for _ in range(3):  # back to back
        manager.done(Transition.TRANSITION_DEACTIVATE, State.PRIMARY_STATE_INACTIVE)
        manager.done(Transition.TRANSITION_CLEANUP, State.PRIMARY_STATE_UNCONFIGURED)
        manager.done(Transition.TRANSITION_CONFIGURE, State.PRIMARY_STATE_INACTIVE)
        manager.done(Transition.TRANSITION_ACTIVATE, State.PRIMARY_STATE_ACTIVE)
    seen = len(clock)
    peer.until(lambda: len(clock) > seen, "steps of the last life", child)
    assert all(stamp_of_clock(a) <= stamp_of_clock(b) for a, b in itertools.pairwise(clock)), "it never goes back"
    manager.done(Transition.TRANSITION_DEACTIVATE, State.PRIMARY_STATE_INACTIVE)
    assert manager.change(Transition.TRANSITION_INACTIVE_SHUTDOWN)
    assert child.wait() == 0


def test_a_scenario_that_cannot_be_configured_leaves_it_unconfigured_and_says_why(simulator):
    manager = Manager(simulator, "autostart:=false", "scenario:=nowhere")
    assert not manager.change(Transition.TRANSITION_CONFIGURE)
    manager.peer.until(lambda: "not configured: 'nowhere' is neither" in manager.child.stderr, "the reason")
    assert manager.state() == State.PRIMARY_STATE_UNCONFIGURED
    assert manager.peer.set_parameter("scenario", "cubesat").successful
    manager.done(Transition.TRANSITION_CONFIGURE, State.PRIMARY_STATE_INACTIVE)


def test_the_scenario_of_the_command_line_gives_way_to_one_that_is_set(ros):
    child = ros.start("wheel", autostart=False)
    peer = ros.peer()
    assert peer.set_parameter("scenario", "panel_pendulum").successful
    described = peer.listen(String, "robot_description", latched=True)
    request = ChangeState.Request(transition=Transition(id=Transition.TRANSITION_CONFIGURE))
    assert peer.call(ChangeState, f"{NODE}/change_state", request).success
    peer.until(lambda: described, "robot_description", child)
    assert f'name="{rbt.load("panel_pendulum").robot.name}"' in described[0].data


def test_autostart_is_active_at_once(simulator):
    manager = Manager(simulator)
    assert manager.state() == State.PRIMARY_STATE_ACTIVE
