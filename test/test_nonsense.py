"""What is no name, number, path or command is refused in one sentence that names it, wherever it is given."""

import pytest
from robots import pair

import rbt_ros as rbt
from rbt_ros.model.scenario import scenario_from_text

A = (1.0, 0.0, 0.0)
BODY = "rbt: 1\nrobot: {bodies: {a: {mass: 1, inertia: [1, 1, 1]}}}\n"


def sim() -> rbt.Simulation:
    return rbt.Simulation(pair().build())


def acting(*wrench, **when) -> None:
    sim().add_input(rbt.Wrench(*wrench), **when)


CASES = [
    (lambda: pair().couple("k", [("g", 1.0)]), r"coupling 'k': \[\('g', 1.0\)\] is no mapping of joints to factors"),
    (lambda: pair().mimic(None, "h"), r"mimic of joint 'None': None is no name of a joint"),
    (lambda: pair().mimic("h", []), r"mimic of joint 'h': \[\] is no name of a joint"),
    (lambda: pair().prescribe("g", abs), r"prescribed joint 'g': a Python function has no rates"),
    (lambda: sim().dock("a", "c", at=float("nan")), r"at of dock 'a_c': nan is not three numbers"),
    (lambda: sim().dock("a", "c", kind=[]), r"dock 'a_c': '\[\]' is not a kind of dock; use one of weld"),
    (lambda: sim().change(rbt.Lock(3)), r"3 names no hinge; give a name, or a list of them"),
    (lambda: sim().command("x"), r"'x' is no command; rbt.WrenchCommand\(wrench, hold_ns\) is one"),
    (lambda: acting("a", A, A, "moon"), r"wrench on 'a': frame 'moon' is not one of body, world"),
    (lambda: acting("a", A, A, "body", "moon"), r"wrench on 'a': at 'moon' is not one of com, origin"),
    (lambda: acting("a", A, start=2.0, stop=1.0), r"stop 1.0 s must lie after start 2.0 s"),
    (lambda: sim().advance(True), r"ticks True must be a whole number"),
    (lambda: rbt.Simulation(pair().build(), seed=-1), r"seed -1 must be a whole number, 0 or more"),
    (lambda: rbt.Simulation(pair().build(), seed="x"), r"seed 'x' must be a whole number, 0 or more"),
    (lambda: rbt.Simulation(pair().build(), work_of_inputs=1), r"work_of_inputs 1 is neither True nor False"),
    (lambda: rbt.case_rng(1, True), r"case_rng: case True must be a whole number, 0 or more"),
    (lambda: rbt.poinsot("x", (1, 0, 0, 0), A), r"poinsot: inertia 'x' is no array of numbers"),
    (lambda: rbt.poinsot((1, 2, 3), "x", A), r"poinsot: attitude 'x' is no array of numbers"),
    (lambda: rbt.mass.nastran(3), r"mass.nastran: 3 is no path of a file"),
    (lambda: rbt.mass.read_mesh(3), r"mesh: 3 is no path of a file"),
    (lambda: rbt.load_urdf([]), r"URDF: \[\] is no path of a file"),
    (lambda: rbt.urdf_text("x"), r"urdf_text: str is no Robot; RobotBuilder.build makes one"),
    (lambda: sim().run(0.01).plot(3), r"figure: 3 is no path of a file"),
]


@pytest.mark.parametrize(("make", "words"), CASES)
def test_nonsense_in_python_is_named(make, words):
    with pytest.raises(rbt.RbtError, match=words):
        make()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (BODY.replace("rbt: 1", "rbt: true"), r"x:1: rbt: is True; this version reads scenarios of format 1"),
        (BODY + "seed: -1\n", r"x:3: seed: -1 must be 0 or more"),
        (BODY + "clock_start: 3e9 s\n", r"x:3: clock_start: 3e9 s must be less than 2147483648 s: seconds of a stamp"),
        (BODY + "attraction: {mu: -1}\n", r"x:3: attraction.mu: -1 m³/s² is negative"),
        (BODY + "duration: 0.9 ms\n", r"x:3: duration: 0.9 ms is less than one step of 1 ms"),
        (BODY + "stabilise: {method: gradient, k_e: -1}\n", r"x:3: stabilise: k_e -1.0 must be a positive error"),
    ],
)
def test_nonsense_in_a_scenario_is_named_with_its_place_once(text, words):
    with pytest.raises(rbt.ScenarioError, match=words):
        scenario_from_text(text, "x")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (
            BODY + "start: {bodies: {a: {quaternion: [2, 0, 0, 0]}}}\n",
            r"x:3: start.bodies.a.quaternion: the quaternion",
        ),
        (
            BODY + "duration: 1 s\ninputs: [{wrench: a, force: [1, 0, 0], from: 2 s}]\n",
            r"x:4: inputs\[0\]: it starts at 2 s, and a run ends at 1 s",
        ),
    ],
)
def test_what_is_odd_in_a_scenario_is_warned_of_with_its_place(text, words):
    with pytest.warns(UserWarning, match=words):
        scenario_from_text(text, "x")
