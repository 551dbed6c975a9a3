"""Parameters: each describes itself, and refuses what is wrong with a reason, at run time and on the command line."""

from types import SimpleNamespace

import pytest
from rcl_interfaces.srv import DescribeParameters, GetParameters, ListParameters

import rbt_ros as rbt
from rbt_ros.ros.engine_parameters import EngineParameters
from rbt_ros.ros.parameters import parameter_table

TABLE = {entry.name: entry for entry in parameter_table(rbt.load("cubesat"))}


@pytest.fixture(scope="module", autouse=True)
def node(module_ros):
    return module_ros.start()


def value_of(peer, name: str):
    request = GetParameters.Request(names=[name])
    value = peer.call(GetParameters, "/rbt_simulator/get_parameters", request).values[0]
    return {1: value.bool_value, 3: value.double_value, 4: value.string_value}[value.type]


@pytest.mark.parametrize(
    ("integrator", "why"),
    [("semi_implicit", "integrator, step: the step is not changed"), ("rk5", "integrator, step: ")],
)
def test_what_fails_after_its_rehearsal_changes_nothing(integrator, why):
    """All of it or nothing, in the stepping thread too: neither the motion nor the log knows of it."""
    steps = []

    def set_step(step: float) -> None:
        steps.append(step)
        raise rbt.ScenarioError("the step is not changed while 7 steps are being taken; wait.")

    scenario = rbt.load("cubesat")
    sim, plain = scenario.simulation(), scenario.simulation()
    node = SimpleNamespace(
        add_on_set_parameters_callback=lambda judge: None, add_post_set_parameters_callback=lambda act: None
    )
    noted, said = [], []
    loop = SimpleNamespace(sim=sim, set_step=set_step)
    engine = EngineParameters(node, scenario, loop, noted.append, said.append)
    sim.advance(3)
    engine._set({"integrator": integrator, "step": 0.002}, sim)
    assert len(said) == 1 and why in said[0] and not noted
    assert len(steps) == (integrator != "rk5"), "the step comes last"
    sim.advance(3)
    plain.advance(6)
    assert sim.digest() == plain.digest()


def test_every_parameter_says_what_it_is(peer):
    listed = peer.call(ListParameters, "/rbt_simulator/list_parameters", ListParameters.Request()).result.names
    ours = [name for name in listed if not name.startswith(("qos_overrides.", "use_sim_time", "start_type_desc"))]
    assert set(ours) == {"scenario", "autostart", *TABLE}
    request = DescribeParameters.Request(names=ours)
    for found in peer.call(DescribeParameters, "/rbt_simulator/describe_parameters", request).descriptors:
        assert len(found.description) > 10, found.name
        if found.name in ("scenario", "autostart"):
            assert found.read_only
            continue
        entry = TABLE[found.name]
        assert found.read_only == entry.read_only
        spans = [(r.from_value, r.to_value) for r in (*found.floating_point_range, *found.integer_range)]
        assert spans == ([entry.span] if entry.span else [])
        assert all(word in found.description for word in entry.choices)


def test_every_number_has_a_range_and_its_default_lies_in_it():
    for entry in TABLE.values():
        number = isinstance(entry.default, int | float) and not isinstance(entry.default, bool)
        assert (entry.span is not None) == number, entry.name
        if entry.span:
            assert entry.span[0] <= entry.default <= entry.span[1], entry.name
        if entry.choices:
            assert entry.default in entry.choices, entry.name


@pytest.mark.parametrize(
    ("name", "value", "reason"),
    [
        ("scenario", "other", "read-only"),
        ("start_paused", True, "read-only"),
        ("publish_clock", False, "read-only"),
        ("outputs.odom", 5.0, "read-only"),
        ("realtime_factor", 0.0, "range"),
        ("realtime_factor", 1e9, "range"),
        ("realtime_factor", float("nan"), "nan"),
        ("realtime_factor", "fast", "type"),
        ("warn.energy_drift", -1.0, "range"),
        ("wrench_at", "tip", "'tip' is not one of origin, com"),
        ("wrench_at", 1.0, "type"),
        ("no_such", 1.0, "declared"),
    ],
)
def test_a_wrong_value_is_refused_with_the_reason(peer, name, value, reason):
    before = None if name == "no_such" else value_of(peer, name)
    result = peer.set_parameter(name, value)
    assert not result.successful
    assert reason in result.reason.lower()
    assert before is None or value_of(peer, name) == before


def test_a_right_value_is_taken_and_acts(ros):
    child = ros.start(realtime_factor=0.1)
    peer = ros.peer()
    diagnostics = peer.diagnostics()
    diagnostics.next(child)
    assert peer.set_parameter("warn.energy_drift", 0.0).successful
    assert peer.set_parameter("realtime_factor", 2.0).successful
    message = diagnostics.until(
        lambda m: float(diagnostics.values(m, "loop")["real-time factor"]) > 1.0, "a factor above 1", child
    )
    status = diagnostics.status(message, "conservation")
    assert status.level == b"\x01"
    assert status.message.startswith("energy drift") and "above 0.0e+00" in status.message


@pytest.mark.parametrize(
    ("setting", "words"),
    [
        ({"mode": "warp"}, ["parameter mode", "'warp'", "realtime, lockstep, fast"]),
        ({"wrench_at": "tip"}, ["parameter wrench_at", "'tip'", "origin, com"]),
        ({"realtime_factor": "0.0"}, ["parameter realtime_factor", "0.0", "from 0.01 to 100"]),
        ({"realtime_factor": "swift"}, ["parameter realtime_factor", "'swift'"]),
        ({"realtime_factor": "2"}, ["parameter realtime_factor", "2", "2.0"]),
        ({"outputs__odom": "-1.0"}, ["parameter outputs.odom", "-1.0"]),
        ({"outputs__odom": ".nan"}, ["parameter outputs.odom", "nan"]),
        ({"wrench_hold": "0.0"}, ["parameter wrench_hold", "0.0"]),
        ({"publish_clock": "5"}, ["parameter publish_clock", "5"]),
        ({"frame_prefix": "5"}, ["parameter frame_prefix", "5"]),
    ],
)
def test_a_wrong_override_ends_the_start_with_one_sentence(ros, setting, words):
    child = ros.start(**setting)
    assert child.wait() == 1
    (line,) = child.stderr.strip().splitlines()
    assert line.startswith("rbt: ")
    for word in words:
        assert word in line


def test_a_misspelt_parameter_is_told_with_the_one_that_is_meant(ros):
    child = ros.start(realtime_facto=2.0, hinges__wheel__kp=1.0, outputs__odom=50.0)
    child.until_printed("t = ")
    said = [line for line in child.stderr.splitlines() if "there is none of this name" in line]
    assert len(said) == 2 and "parameter hinges.wheel.kp:" in said[0] and "[WARN]" in said[0]
    assert "parameter realtime_facto:" in said[1] and "Is realtime_factor meant?" in said[1]


@pytest.mark.parametrize(
    ("scenario", "words"),
    [
        ("nowhere", ["'nowhere' is neither a YAML file nor a scenario of the package (cubesat"]),
        ("missing.yaml", ["there is no file missing.yaml"]),
        ("5", ["parameter scenario", "INTEGER"]),
    ],
)
def test_a_wrong_scenario_ends_the_executable_with_one_sentence(ros, programs, scenario, words):
    """`rbt_simulator` names its scenario by a parameter."""
    child = ros.run(*programs["rbt_simulator"], "--ros-args", "-p", f"scenario:={scenario}")
    assert child.wait() == 1
    (line,) = child.stderr.strip().splitlines()
    assert line.startswith("rbt_simulator: ")
    for word in words:
        assert word in line
