"""Whatever a handler raises is answered, logged and counted, and the simulation goes on; known causes have names."""

import importlib
import json
import sys
from pathlib import Path

from action_msgs.msg import GoalStatus
from lifecycle_msgs.msg import Transition
from lifecycle_msgs.srv import ChangeState
from rcl_interfaces.msg import Parameter, ParameterValue
from rcl_interfaces.srv import SetParameters, SetParametersAtomically
from rclpy.action import ActionClient
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import JointState
from std_srvs.srv import SetBool, Trigger

from rbt_ros.checkpoint import checksum

NODE = "/rbt_simulator"
THROWING = Path(__file__).with_name("throwing_node.py")
OTHERS = ("throw", "get_type_description", "change_state", "set_simulation_state")  # not thrown in here


def said(response) -> str:
    """Why a response says that nothing came of its request; empty where it has no field for that."""
    result = getattr(response, "result", None)
    if hasattr(response, "success"):
        assert not response.success
        return getattr(response, "message", "")
    if hasattr(response, "results"):
        assert response.results and not any(each.successful for each in response.results)
        return response.results[0].reason
    if hasattr(result, "successful"):
        assert not result.successful
        return result.reason
    if hasattr(result, "error_message"):
        assert result.result == result.RESULT_OPERATION_FAILED
        return result.error_message
    return ""


def test_a_new_kind_of_error_at_any_depth_below_any_handler_is_answered_logged_and_counted(ros):
    """Each service, the action, a subscription, lifecycle transitions: one of each, 1 to 60 calls below."""
    child = ros.run(sys.executable, THROWING, "seed", "--ros-args", "-p", "realtime_factor:=0.1")
    peer, thrown = ros.peer(), []
    clock, diagnostics = peer.listen(Clock, "/clock"), peer.diagnostics()
    peer.until(lambda: clock, "clock", child)

    def arm() -> str:
        answer = peer.call(Trigger, f"{NODE}/throw", Trigger.Request())
        thrown.append(answer.message)
        return answer.message

    owners = ("rbt_simulator", "_rbt_simulator_steps")
    peer.until(lambda: {*owners} <= {*peer.node.get_node_names()}, "both nodes", child)  # discovery takes its time
    kinds = {}
    for owner in owners:
        peer.until(lambda owner=owner: peer.node.get_service_names_and_types_by_node(owner, "/"), owner, child)
        kinds |= dict(peer.node.get_service_names_and_types_by_node(owner, "/"))
    texts = 0
    for service, (name, *_) in sorted(kinds.items()):
        if service.endswith(OTHERS) or "_action" in service or name.startswith("lifecycle_msgs"):
            continue
        package, _, kind_name = name.split("/")
        kind, error = getattr(importlib.import_module(f"{package}.srv"), kind_name), arm()
        request = kind.Request()
        if kind in (SetParameters, SetParametersAtomically):
            request.parameters = [peer.parameter("realtime_factor", 0.1)]
        text = said(peer.call(kind, service, request))
        assert error in text or not text, (service, text)
        texts += bool(text)
        peer.until(lambda error=error: error in child.stderr, f"{error} in the log", child)
    assert texts >= 20, "services that say what was raised"

    from simulation_interfaces.action import SimulateSteps

    error, client = arm(), ActionClient(peer.node, SimulateSteps, f"{NODE}/simulate_steps")
    peer.until(client.server_is_ready, "the action", child)
    sent = client.send_goal_async(SimulateSteps.Goal(steps=3))
    peer.until(sent.done, "the goal", child)
    result = sent.result().get_result_async()
    peer.until(result.done, "the end of the goal", child)
    assert result.result().status == GoalStatus.STATUS_ABORTED  # it runs: refused, or what was raised came first
    peer.until(lambda: error in child.stderr, f"{error} of an action in the log", child)
    client.destroy()

    push = peer.publisher(JointState, "hinge_commands")
    error = arm()
    push.publish(JointState(name=["wheel_axis"], effort=[0.0]))
    peer.until(lambda: error in child.stderr, f"{error} of a subscription in the log", child)
    error = arm()
    request = ChangeState.Request(transition=Transition(id=Transition.TRANSITION_DEACTIVATE))
    assert not peer.call(ChangeState, f"{NODE}/change_state", request).success
    peer.until(lambda: error in child.stderr, f"{error} of a transition in the log", child)

    def count(message) -> int:
        return int(diagnostics.values(message, "callbacks")["unexpected errors"])

    diagnostics.until(lambda message: count(message) == len(thrown), f"{len(thrown)} errors counted", child)
    assert peer.call(Trigger, f"{NODE}/resume", Trigger.Request()).success
    seen = len(clock)
    peer.until(lambda: len(clock) > seen + 10, "further steps", child)
    assert peer.call(SetBool, f"{NODE}/record", SetBool.Request(data=False)).success
    assert child.stop() == 0


def test_causes_that_are_known_have_errors_of_their_own(ros, tmp_path):
    """Folders that cannot be made, types that there are not, checkpoints of nonsense: each said, none a defect."""
    child = ros.start("wheel", realtime_factor=0.1, state_file=str(tmp_path / "state.json"))
    peer = ros.peer()
    diagnostics = peer.diagnostics()

    def trigger(service: str):
        return peer.call(Trigger, f"{NODE}/{service}", Trigger.Request())

    for folder, why in {
        str(tmp_path / ("x" * 300)): "cannot be made (File name too long)",
        "/dev/null/bag": "cannot be made (Not a directory)",
        "/proc/bag": "cannot be made (No such file or directory)",  # the owner of the machine may write elsewhere
        "~nobody_of_this_name/bag": "is no path of a file",
    }.items():
        assert peer.set_parameter("record_to", folder).successful
        answer = peer.call(SetBool, f"{NODE}/record", SetBool.Request(data=True))
        assert not answer.success and why in answer.message

    unknown = Parameter(name="realtime_factor", value=ParameterValue(type=200, double_value=1.0))
    known = peer.parameter("step_ticks", 7)
    results = peer.call(SetParameters, f"{NODE}/set_parameters", SetParameters.Request(parameters=[unknown, known]))
    assert [each.successful for each in results.results] == [False, True], "each by itself"
    assert "realtime_factor: type 200 is none of ROS's" in results.results[0].reason
    request = SetParametersAtomically.Request(parameters=[known, unknown])
    answer = peer.call(SetParametersAtomically, f"{NODE}/set_parameters_atomically", request)
    assert not answer.result.successful and "type 200" in answer.result.reason

    assert trigger("save_state").success
    file = tmp_path / "state.json"
    content = json.loads(file.read_text())
    for path, value in {
        ("tick",): "soon",
        ("mechanism", "y", 2): None,
        ("mechanism", "modes"): [1, 2],
        ("inputs",): 5,
        ("waiting",): [[["HingeSettings", 3], 0, "x"]],
        ("place",): -1.5,
        ("start", 2): [],
    }.items():
        memory = json.loads(json.dumps(content["simulation"]))
        part = memory
        for key in path[:-1]:
            part = part[key]
        part[path[-1]] = value
        sha256 = checksum([content["clock_ns"], memory])
        file.write_text(json.dumps({**content, "simulation": memory, "sha256": sha256}))
        answer = trigger("load_state")
        assert not answer.success and str(file) in answer.message, (path, answer.message)
    file.write_text(json.dumps(content))
    assert trigger("load_state").success, "what was written itself"
    message = diagnostics.next(child)
    assert diagnostics.values(message, "callbacks")["unexpected errors"] == "0"
    assert diagnostics.status(message, "loop").level != b"\x02", "the simulation goes on"


SLOW = """
import sys, time
from pathlib import Path
from rbt_ros.cli import simulator
from rbt_ros.sim import Simulation
warm_up, left = Simulation.warm_up, [3]  # that of the node, then the first one of a rehearsal: it compiles

def slow(self, **options):
    warm_up(self, **options)
    left[0] -= 1
    if left[0] == 1:
        print("compiles", flush=True)
        while not done.exists():
            time.sleep(0.01)

Simulation.warm_up, done = slow, Path(sys.argv.pop(1))
simulator()
"""


def test_what_compiles_for_a_parameter_keeps_nobody_waiting(ros, tmp_path):
    """Seconds, the first time: services answer, commands are taken and steps go on; then it is set."""
    done = tmp_path / "done"
    settings = ["-p", "scenario:=wheel", "-p", "realtime_factor:=0.1"]
    child = ros.run(sys.executable, "-c", SLOW, done, "--ros-args", *settings)
    peer = ros.peer()
    clock = peer.listen(Clock, "/clock", depth=1)
    peer.until(lambda: clock, "clock", child)
    client = peer.node.create_client(SetParameters, f"{NODE}/set_parameters")
    peer.until(client.service_is_ready, "the service", child)
    drive = [peer.parameter("hinges.wheel_axis.mode", "prescribed")]
    answer = client.call_async(SetParameters.Request(parameters=drive))
    peer.until(lambda: "compiles" in child.stdout, "the compiler", child)
    for service in ("pause", "resume"):
        assert peer.call(Trigger, f"{NODE}/{service}", Trigger.Request()).success
    seen = len(clock)
    peer.until(lambda: len(clock) > seen + 20, "further steps", child)
    assert not answer.done(), "it compiles still"
    done.touch()
    peer.until(answer.done, "the end of the compiler", child)
    assert answer.result().results[0].successful, answer.result().results[0].reason
    peer.node.destroy_client(client)
