"""How the node starts and ends: signals, durations, a second clock, the words it prints."""

import signal
import sys
import time

import pytest
from nav_msgs.msg import Odometry
from rosgraph_msgs.msg import Clock


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=["SIGINT", "SIGTERM"])
@pytest.mark.parametrize("program", ["rbt", "rbt_simulator"])
def test_a_signal_ends_it_with_code_0_and_nothing_on_stderr(ros, programs, program, number):
    child = ros.start(program=programs[program])
    peer = ros.peer()
    odom = peer.listen(Odometry, "odom")
    peer.until(lambda: odom, "odom", child)
    assert child.stop(number) == 0
    assert child.stderr == ""


def test_a_signal_in_the_middle_of_a_long_step_ends_it(ros):
    """Paced at a hundredth, a step of the slowed clock lasts 0.1 s; the wait for it is cut short, not sat out."""
    child = ros.start(realtime_factor=0.01)
    peer = ros.peer()
    odom = peer.listen(Odometry, "odom")
    peer.until(lambda: odom, "odom", child)
    assert child.stop(signal.SIGINT) == 0
    assert child.stderr == ""


WORDS = {"rbt node": ("node", "cubesat"), "rbt run": ("run", "cubesat", "--until", "9"), "rbt_simulator": ()}


@pytest.mark.parametrize("name", WORDS)
def test_ctrl_c_is_obeyed_while_the_kernels_are_compiled(ros, programs, name, tmp_path):
    """The first start on a machine says why it takes long; one call of LLVM lasts up to 5 s on a machine under load."""
    program = programs[name.partition(" ")[0]]
    child = ros.run(*program, *WORDS[name], environ={"NUMBA_CACHE_DIR": str(tmp_path / "empty")})
    child.until_printed("compiling the kernels")
    asked = time.monotonic()
    assert child.stop(signal.SIGINT) == (130 if name == "rbt run" else 0)
    assert time.monotonic() - asked < 2.0
    assert child.stderr == ""
    assert child.stdout.count("compiling") == 1


@pytest.mark.parametrize("mode", ["realtime", "fast"])
def test_a_duration_ends_it_with_code_0(ros, mode):
    child = ros.start("cubesat", "--duration", "1.5", mode=mode)
    assert child.wait() == 0
    assert child.stderr == ""
    assert "cubesat starts as /rbt_simulator" in child.stdout


@pytest.mark.parametrize("program", ["rbt", "rbt_simulator"])
def test_it_says_under_which_names_it_is_to_be_found_whoever_gave_them(ros, programs, program):
    """All launch files start `rbt_simulator`: what runs, where to look and how to end it stands on their screen."""
    child = ros.start(program=programs[program], remap=("__ns:=/b",), publish_clock=False)
    child.until_printed("cubesat starts as /b/rbt_simulator, scope LOCALHOST")
    child.until_printed("/tf  /b/odom  /b/robot_description  /diagnostics; push it on /b/wrench. Ctrl-C ends.")


def test_a_line_of_status_is_printed_while_it_runs(ros):
    child = ros.start()
    child.until_printed("angular momentum drift")
    assert "\nt = " in child.stdout and "real-time factor" in child.stdout


def test_the_words_at_the_start_name_the_topics_and_the_scope(ros):
    child = ros.start("cubesat", "--duration", "0.1")
    assert child.wait() == 0
    for word in ("/tf", "/odom", "/robot_description", "/diagnostics", "/clock", "/wrench"):
        assert word in child.stdout
    assert "scope LOCALHOST" in child.stdout


def test_fast_mode_goes_as_fast_as_it_can(ros):
    """10 s of simulated time come sooner than 10 s; measured: factor 20 to 40 here, and anything above 1 will do."""
    child = ros.start(mode="fast")
    peer = ros.peer()
    diagnostics = peer.diagnostics()
    message = diagnostics.until(
        lambda m: float(diagnostics.values(m, "conservation")["scenario time [s]"]) > 10, "10 s of flight", child
    )
    assert float(diagnostics.values(message, "loop")["real-time factor"]) > 1
    assert float(diagnostics.values(message, "loop")["overruns"]) == 0


def patient(wait: str) -> tuple[str, ...]:
    """`rbt` whose ClockGuard waits long for others in one place, whatever a machine under load does to them."""
    words = (
        f"from rbt_ros.ros import clock_guard; clock_guard.{wait} = 60.0; from rbt_ros.cli import main; exit(main())"
    )
    return sys.executable, "-c", words


def test_a_second_clock_makes_the_later_node_refuse_and_name_the_parameter(ros):
    first = ros.start()
    peer = ros.peer()
    clock = peer.listen(Clock, "/clock")
    peer.until(lambda: clock, "clock", first)
    second = ros.run(*patient("NAME_S"), "node", "cubesat", "--ros-args", "-r", "__ns:=/b")
    assert second.wait() == 1
    (line,) = second.stderr.strip().splitlines()
    assert line.startswith("rbt: /clock is published already, by node /rbt_simulator.")
    assert "publish_clock:=false" in line and "ROS_DOMAIN_ID" in line
    assert first.running
    stamps = [(m.clock.sec, m.clock.nanosec) for m in clock]
    assert stamps == sorted(stamps), "the later one has published meanwhile"

    third = ros.start(remap=["__ns:=/b"], publish_clock=False)
    odom = peer.listen(Odometry, "/b/odom")
    peer.until(lambda: odom, "odom of a node without a clock", third)
    assert peer.node.count_publishers("/clock") == 1


def test_a_clock_of_somebody_else_is_respected(ros):
    peer = ros.peer("their_simulator")
    peer.node.create_publisher(Clock, "/clock", 10)
    child = ros.run(*patient("NAME_S"), "node", "cubesat")
    assert child.wait() == 1
    assert "by node /their_simulator." in child.stderr


def test_a_clock_that_comes_later_is_told_in_diagnostics(ros):
    """It is behind ours, so that ours came first and goes on."""
    child, peer = ros.run(*patient("LISTEN_S"), "node", "cubesat"), ros.peer("their_simulator")
    diagnostics = peer.diagnostics()
    assert diagnostics.values(diagnostics.next(child), "connections")["other publisher of /clock"] == "none"
    theirs = peer.node.create_publisher(Clock, "/clock", 10)

    def is_told() -> bool:
        theirs.publish(Clock())
        status = diagnostics.status(diagnostics.messages[-1], "connections")
        return status.level == b"\x01" and "node /their_simulator publishes /clock, too" in status.message

    peer.until(is_told, "the other clock in the report", child)
    peer.node.destroy_publisher(theirs)
    diagnostics.until(lambda m: diagnostics.status(m, "connections").level == b"\x00", "its end", child)


def test_malformed_ros_arguments_end_it_with_one_sentence(ros):
    child = ros.start("cubesat", "--ros-args", "-p", "mode")
    assert child.wait() == 1
    said_by_rcl, line = child.stderr.strip().splitlines()
    assert "[rcl]" in said_by_rcl
    assert line.startswith("rbt: ROS refuses the command line") and "'-p mode'" in line
