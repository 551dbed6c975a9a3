"""The schema of scenario files: what it accepts, what it refuses, and that defaults and documentation come from it."""

import inspect
import json
from dataclasses import fields

import pytest
from test_docs import PAGES, blocks, rbt_command, scenarios

import rbt_ros as rbt
from rbt_ros.errors import ScenarioError
from rbt_ros.model.reading import parse_yaml
from rbt_ros.model.scenario import KEYS, Scenario, scenario_from_text
from rbt_ros.model.schema import json_schema, tables
from rbt_ros.paths import share

jsonschema = pytest.importorskip("jsonschema", reason="this system lacks jsonschema: pip install 'rbt_ros[dev]'")
SCHEMA = json_schema(KEYS, "Scenario")
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)
LEAST = (
    "rbt: 1\nrobot: {bodies: {a: {mass: 1, inertia: [1, 1, 1]}, b: {mass: 1, inertia: [1, 1, 1]}}, hinges: HINGES}\n"
)
LEAST = LEAST.replace("HINGES", "{h: {kind: revolute, parent: a, child: b}}")


def faults(text):
    """What the schema has against a scenario."""
    return [fault.message for fault in VALIDATOR.iter_errors(parse_yaml(text, "x").plain())]


def test_it_accepts_what_ships_and_what_the_documentation_shows():
    shipped = [file.read_text(encoding="utf-8") for file in sorted(share("config").glob("*.yaml"))]
    shown = [whole for page in PAGES for _, text in blocks(page, "yaml") for whole in scenarios(text)]
    assert len(shipped) > 10 and len(shown) > 10
    assert [found for text in (*shipped, *shown) if (found := faults(text))] == []


@pytest.mark.parametrize(
    "wrong",
    [
        "sede: 7",
        "seed: 7.5",
        "seed: -1",
        "step: 0",
        "step: 1 kg",
        "step: .nan ms",
        "rtol: 1",
        "integrator: rk5",
        "gravity: [0, 0]",
        "gravity: down",
        "work_of_inputs: 1",
        "mode: slow",
        "outputs: {tf: -1}",
        "outputs: {tf: off}",
        "outputs: {tg: 1}",
        "attraction: {at: [0, 0, 0]}",
        "attraction: {mu: -1}",
        "stabilise: much",
        "stabilise: {order: seed}",
        "stabilise: {method: gradient, order: last}",
        "start: {bodies: {a: {position: [1, 2]}}}",
        "start: {bodies: {a: {euler: [XXZ, 0, 0, 0]}}}",
        "start: {bodies: {a: {euler: [ZYX, 0, 0, 0], quaternion: [1, 0, 0, 0]}}}",
        "start: {hinges: {h: {angle: 1 m}}}",
        "inputs: {wrench: a}",
        "inputs: [{wrench: a}]",
        "inputs: [{force: [0, 0, 1]}]",
        "inputs: [{hinge: h, effort: 1 s}]",
        "inputs: [{wrench: a, force: [0, 0, 1], at: tip}]",
        "inputs: [{wrench: a, force: [0, 0, 1], signal: {sines: {terms: [[1, 2]]}}}]",
        "inputs: [{lock: h}]",
        "inputs: [{lock: h, at: -1}]",
        "inputs: [{prescribe: h, motion: 1, measured: {delay: 1}, at: 0}]",
        "inputs: [{dock: [a], at: 0}]",
    ],
)
def test_it_refuses_what_the_reader_refuses(wrong):
    assert faults(f"{LEAST}{wrong}\n")
    with pytest.raises(ScenarioError):
        scenario_from_text(f"{LEAST}{wrong}\n")


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("rbt: 1", "rbt: 2"),
        ("kind: revolute, ", ""),
        ("revolute", "knee"),
        ("child: b", "child: b, pitch: 1 s"),
        ("child: b", "child: b, limits: [1]"),
        ("inertia: [1, 1, 1]}, b", "inertia: [1, 1]}, b"),
        ("{mass: 1, inertia: [1, 1, 1]}, b", "{mass: 1}, b"),
        ("{mass: 1, inertia: [1, 1, 1]}, b", "{mass: {file: a.stl}, com: [0, 0, 0]}, b"),
        ("[1, 1, 1]}, b", "[1, 1, 1], shapes: [{kind: cone}]}, b"),
        ("bodies: {a", "base: fixed, bodies: {a"),
        ("child: b}}", "child: b}}, constraints: {h: {mimic: g, couple: {g: 1}}}"),
        ("child: b}}", "child: b}}, ropes: {r: {bodies: [a, b]}}"),
        ("child: b}}", "child: b}}, ropes: {r: {bodies: [a, b], length: 1, impact: soft}}"),
        ("{bodies: {a", "{array: l_shapes, bodies: {a"),
        ("{bodies: {a", "{urdf: arm.urdf, bodies: {a"),
    ],
)
def test_so_it_does_in_the_robot(old, new):
    assert old in LEAST and not faults(LEAST)
    assert faults(LEAST.replace(old, new, 1))
    with pytest.raises(ScenarioError):
        scenario_from_text(LEAST.replace(old, new, 1))


def test_defaults_of_scenario_and_simulation_are_those_of_the_table():
    """And each satisfies the schema itself."""
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    read = scenario_from_text(LEAST)
    plain = Scenario(read.robot)
    assert all(
        getattr(read, field.name) == getattr(plain, field.name)
        for field in fields(Scenario)
        if field.name not in ("robot", "text", "folder")
    )
    options = inspect.signature(rbt.Simulation).parameters
    assert (options["step"].default, options["integrator"].default, options["stabilise"].default) == (
        1e-3,
        SCHEMA["properties"]["integrator"]["default"],
        SCHEMA["properties"]["stabilise"]["default"],
    )
    for section in (SCHEMA, *SCHEMA["$defs"].values()):
        for key, part in section.get("properties", {}).items():
            if "default" in part:
                own = VALIDATOR.evolve(schema={**part, "$defs": SCHEMA["$defs"]})
                assert own.is_valid(part["default"]), key


def test_the_command_prints_it_and_the_tables_of_the_documentation(monkeypatch, capsys):
    """Both in this process, whose tests may have plugged in more since: so only what is ours is compared."""
    assert rbt_command(monkeypatch, "schema") == 0
    printed = json.loads(capsys.readouterr().out)
    assert printed["properties"]["step"] == SCHEMA["properties"]["step"] and set(SCHEMA["$defs"]) <= set(
        printed["$defs"]
    )
    assert rbt_command(monkeypatch, "schema", "--tables") == 0 and "| `step` | time |" in capsys.readouterr().out
    page = next(page for page in PAGES if page.name == "scenario.md").read_text(encoding="utf-8")
    assert page.endswith(f"\n\n{tables(SCHEMA)}\n"), "write them anew: rbt schema --tables"
