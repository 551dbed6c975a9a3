"""What SimulateSteps with feedback costs beside the same steps in mode fast, played: one node, in turns."""

import os
import subprocess
import sys
import tempfile
import time

import numpy as np
from harness import Group, Missing, Row

STEPS = int(os.environ.get("STEPS", "100000"))
ROUNDS = 3
NODE = "/rbt_simulator"


def measure_action_cost(wanted: set[str]) -> dict[str, Row]:
    """Microseconds per step: from the goal to its result, and from pose to pose while it plays."""
    import domain_coordinator

    try:
        import simulation_interfaces  # noqa: F401
    except ImportError as err:
        program = f"{sys.executable} -m rbt_ros.cli"
        raise Missing(f"simulation_interfaces: {program} setup-ros --with simulation_interfaces") from err
    with domain_coordinator.domain_id() as domain, tempfile.TemporaryDirectory() as logs:
        local = {"ROS_DOMAIN_ID": str(domain), "ROS_AUTOMATIC_DISCOVERY_RANGE": "LOCALHOST", "ROS_LOG_DIR": logs}
        os.environ.update(local)
        command = [sys.executable, "-m", "rbt_ros.cli", "node", "cubesat", "--ros-args"]
        child = subprocess.Popen([*command, "-p", "mode:=fast", "-p", "start_paused:=true"], stdout=subprocess.DEVNULL)
        try:
            ours, played = rounds()
        finally:
            child.terminate()
            child.wait(timeout=30)
    mine, theirs = float(np.median(ours)), float(np.median(played))
    note = f"{ROUNDS} x {STEPS} steps of the CubeSat, default topics; rounds {np.round(ours, 1)}, {np.round(played, 1)}"
    return {"action_cost": Row(mine / theirs, mine, theirs, "us/step, SimulateSteps over fast: at most 1.1", note)}


def rounds() -> tuple[list[float], list[float]]:
    """Microseconds per step by the action, and played."""
    import rclpy
    from rclpy.action import ActionClient
    from simulation_interfaces.action import SimulateSteps
    from simulation_interfaces.msg import SimulationState
    from simulation_interfaces.srv import GetEntityState, SetSimulationState

    rclpy.init()
    node = rclpy.create_node("action_cost")
    state = node.create_client(GetEntityState, f"{NODE}/get_entity_state")
    enter = node.create_client(SetSimulationState, f"{NODE}/set_simulation_state")
    action = ActionClient(node, SimulateSteps, f"{NODE}/simulate_steps")
    feedback: list = []

    def wait(future):
        rclpy.spin_until_future_complete(node, future)
        return future.result()

    def ticks():
        stamp = wait(state.call_async(GetEntityState.Request(entity="cubesat"))).state.header.stamp
        return stamp.sec * 1000 + stamp.nanosec // 1_000_000

    def by_action():
        begin = time.perf_counter()
        goal = wait(action.send_goal_async(SimulateSteps.Goal(steps=STEPS), feedback_callback=feedback.append))
        wait(goal.get_result_async())
        return (time.perf_counter() - begin) / STEPS * 1e6

    def played():
        wait(enter.call_async(SetSimulationState.Request(state=SimulationState(state=SimulationState.STATE_PLAYING))))
        first, begin = ticks(), time.perf_counter()
        while (last := ticks()) < first + STEPS:
            time.sleep(0.05)  # as often as the action tells how far it is
        seconds = time.perf_counter() - begin
        wait(enter.call_async(SetSimulationState.Request(state=SimulationState(state=SimulationState.STATE_PAUSED))))
        return seconds / (last - first) * 1e6

    for client in (state, enter):
        client.wait_for_service()
    action.wait_for_server()
    by_action(), played()  # what is new is paid for here
    found = [(by_action(), played()) for _ in range(ROUNDS)]
    assert feedback, "no feedback came"
    rclpy.shutdown()
    return [a for a, _ in found], [b for _, b in found]


GROUPS = [Group(("action_cost",), measure_action_cost)]
