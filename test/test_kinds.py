"""Arguments of another kind than declared, on the public face: an error of ours that names them, or none."""

import contextlib
import importlib
import inspect
import pkgutil
import typing

import numpy as np
import pytest
from robots import pair

import rbt_ros as rbt
from rbt_ros.checkpoint import load_state, save_state
from rbt_ros.control import in_process
from rbt_ros.kinds import in_words, odd_argument
from rbt_ros.model.hinge_commands import HingeCommand

ODD = {
    "None": None,
    "nan": float("nan"),
    "text": "odd",
    "array": np.array([1.0, 2.0]),
    "texts": np.array(["a", "b"]),
    "dict": {"x": 1},
    "huge": 10**400,
    "negative": -1,
    "empty": [],
    "ragged": [[1.0], [1.0, 2.0]],
    "object": object(),
    "complex": 1j,
}


def sim() -> rbt.Simulation:
    return rbt.Simulation(pair().build(), step=1e-2)


def measured() -> rbt.Simulation:
    run = sim()
    run.prescribe("g", rbt.Measured())
    return run


def recorded(folder: str, **options) -> None:
    with rbt.Recorder(folder, **{"sim": sim(), "compression": "none"} | options):
        pass


@pytest.fixture(scope="module")
def bag(tmp_path_factory) -> rbt.Bag:
    folder = tmp_path_factory.mktemp("odd") / "bag"
    run = sim()
    with rbt.Recorder(folder, run):
        run.advance(3)
    return rbt.Bag(folder)


WRENCH, EFFORT = rbt.Wrench("a", (1.0, 0.0, 0.0)), HingeCommand(("g",), (), (), (1.0,))
ARRAY, RODS = rbt.modular.l_shape(), rbt.modular.rods()
CLEAR, PLANNER, PATH = (rbt.modular.Clearance(ARRAY), rbt.modular.Planner(ARRAY, grid=5), rbt.modular.rectangle(1, 1))
LENGTHS = rbt.modular.planar.of_rods(RODS)

# name -> (call, good arguments): each argument is replaced by each of ODD
CALLS = {
    "closure": (lambda **k: pair().closure("k", **k), dict(kind="point", body_a="world", body_b="c")),
    "rope": (lambda **k: pair().rope("k", "world", "c", **k), dict(length=5.0, impact="stop")),
    "dock": (lambda **k: sim().dock(**k), dict(body_a="a", body_b="c", kind="weld", at=(0, 0, 0), name="d")),
    "Measured": (lambda **k: sim().prescribe("g", rbt.Measured(**k)), dict(delay=0.1, timeout=1.0, on_loss="hold")),
    "Measurement": (
        lambda **k: measured().command(rbt.Measurement(**k)),
        dict(joints=("g",), position=(0.1,), velocity=(0.0,), age_ns=0),
    ),
    "recall": (lambda **k: sim().recall(**k), dict(memory=sim().memory())),
    "has_gone": (lambda **k: sim().has_gone(**k), dict(ticks=1)),
    "WrenchCommand": (lambda **k: sim().command(rbt.WrenchCommand(**k)), dict(wrench=WRENCH, hold_ns=10**7)),
    "Wrench": (lambda **k: sim().add_input(rbt.Wrench("a", **k)), dict(frame="body", at="com")),
    "HingeCommand": (
        lambda **k: sim().command(HingeCommand(**k)),
        dict(joints=("g",), position=(), velocity=(), effort=(1.0,)),
    ),
    "fallback": (lambda **k: sim().fallback(**k), dict(command=EFFORT, how="zero")),
    "of": (lambda **k: rbt.Simulation.of(**k), dict(scenario=None)),
    "advance_many": (lambda **k: rbt.advance_many([sim()], **k), dict(ticks=1)),
    "rope of a result": (lambda **k: sim().run(0.01).rope(**k), dict(name="r")),
    "stop of a result": (lambda **k: sim().run(0.01).stop(**k), dict(joint="r")),
    "columns": (lambda **k: sim().run(0.01).columns(**k), dict(reactions=False)),
    "in_process": (lambda **k: in_process(**k), dict(controller=None, wrench_hold=0.1, wrench_at="com")),
    "arrows": (rbt.Animation.__init__.__globals__["arrows"], dict(length=1.0)),
    "nastran": (lambda **k: rbt.mass.nastran("none", length_unit="mm", mass_unit="t", **k), dict(ignore=())),
    "guard": (lambda **k: rbt.modular.guard(**k), dict(robot=ARRAY, margin=0.0)),
    "look of a guard": (rbt.modular.guard(ARRAY), dict(sim=rbt.Simulation(ARRAY))),
    "of_shapes": (CLEAR.of_shapes, dict(shapes=np.zeros((1, 2)))),
    "of_pose": (CLEAR.of_pose, dict(pose=rbt.Simulation(ARRAY).sample().pose)),
    "clash": (CLEAR.clash, dict(path=PATH, margin=0.0)),
    "grid": (CLEAR.grid, dict(psi1=[0.0], psi2=[0.0], joints=("psi1", "psi2"), held={})),
    "trajectory": (rbt.modular.trajectory, dict(path=PATH, duration=1.0, kind="trapezoid", points=5)),
    "fly": (rbt.modular.fly, dict(robot=ARRAY, path=PATH, profile="odd", watch=None)),
    "plan": (PLANNER.plan, dict(target=(1, 0, 0, 0), start=(1, 0, 0, 0))),
    "plan_in_plane": (rbt.modular.plan_in_plane, dict(robot=RODS, turn=0.0)),
    "pointing": (rbt.modular.pointing, dict(robot=ARRAY, targets={}, boresight=(0, 0, 1))),
    "Steering": (rbt.modular.Steering, dict(planner=PLANNER, target=(1, 0, 0, 0))),
    "at": (PATH.at, dict(s=np.zeros(1))),
    "rectangle_turn": (rbt.modular.planar.rectangle_turn, dict(rods=LENGTHS, psi1=1.0, psi2=1.0, start=(0, 0))),
    "area_turn": (rbt.modular.planar.area_turn, dict(rods=LENGTHS, psi1=1.0, psi2=1.0, order=8)),
    "curl": (rbt.modular.planar.curl, dict(rods=LENGTHS, psi1=1.0, psi2=1.0)),
    "path_turn": (rbt.modular.planar.path_turn, dict(rods=LENGTHS, points=np.zeros((2, 2)))),
    "fit": (rbt.modular.planar.fit, dict(rods=LENGTHS, locked=0.0, samples=10)),
    "poinsot": (rbt.poinsot, dict(inertia=(1, 2, 2.5), q_WB=(1, 0, 0, 0), w_WB_B=(1, 0, 0))),
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", CALLS)
def test_odd_arguments_end_in_our_errors_or_are_accepted(name):
    call, good = CALLS[name]
    for argument in good:
        for odd in ODD.values():
            try:
                call(**good | {argument: odd})
            except rbt.RbtError as err:
                assert str(err)


def test_odd_arguments_of_bags_and_checkpoints_end_in_our_errors(bag, tmp_path):
    file = tmp_path / "state.json"
    save_state(sim(), file)
    for k, odd in enumerate(ODD.values()):
        for call in (
            lambda odd=odd: bag.topic(odd),
            lambda odd=odd: list(bag.parts("joint_states", most=odd)),
            lambda odd=odd, k=k: recorded(str(tmp_path / f"a{k}"), sim=odd),
            lambda odd=odd, k=k: recorded(str(tmp_path / f"b{k}"), most_waiting=odd),
            lambda odd=odd: save_state(odd, file),
            lambda odd=odd: load_state(odd, file),
        ):
            with contextlib.suppress(rbt.RbtError):  # anything else is a failure
                call()


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: sim().recall({"scenario": 3}), r"\{'scenario': 3\} is no memory of a simulation; `memory\(\)` gives"),
        (lambda: sim().has_gone(-1), r"ticks -1 must not be negative"),
        (lambda: sim().has_gone(2**62), r"lies beyond 9e\+09 s"),
        (lambda: sim().fallback(EFFORT, np.zeros(2)), r"Simulation.fallback: how array\(\[0., 0.\]\) must be a text\."),
        (lambda: sim().dock("a", "c", name=np.zeros(2)), r"Dock: name array\(\[0., 0.\]\) must be a text\."),
        (lambda: rbt.modular.guard(ARRAY, margin="1 mm"), r"guard: margin '1 mm' must be a number\."),
        (
            lambda: sim().command(rbt.WrenchCommand("a", 1)),
            r"'a' is no wrench; rbt.Wrench\(body, force, moment\) is one\.",
        ),
        (
            lambda: sim().command(HingeCommand(("g",), (), (), ("x",))),
            r"HingeCommand|effort",
        ),
        (lambda: in_process(abs), r"in_process: controller <built-in function abs> must be a Controller\."),
    ],
)
def test_the_error_names_the_argument_the_value_and_the_rule(call, words):
    with pytest.raises(rbt.RbtError, match=words):
        call()


def test_a_damaged_memory_leaves_a_simulation_as_it_was():
    run = sim()
    run.set_hinge("g", 0.3, rate=1.0)
    run.advance(5)
    memory = run.memory()
    for key in memory:
        for odd in (None, 3.5, "x", [], {}, [1, 2, 3, 4]):
            before = run.digest()
            try:
                run.recall(memory | {key: odd})
            except rbt.ScenarioError:
                assert run.digest() == before
    run.recall(memory)
    run.advance(5)
    twin = sim()
    twin.set_hinge("g", 0.3, rate=1.0)
    twin.advance(10)
    assert run.digest() == twin.digest()


def test_errors_of_a_callers_own_function_stay_what_they_are():
    """What is declared was given: the error is no argument's."""

    @in_words(rbt.ModelError)
    def applied(function: typing.Callable[[float], float], x: float) -> float:
        return function(x)

    with pytest.raises(ZeroDivisionError):
        applied(lambda x: 1 / x, 0.0)
    with pytest.raises(TypeError, match="unexpected keyword argument 'z'"):
        applied(abs, z=1)
    with pytest.raises(rbt.ModelError, match=r"applied: x 'x' must be a number"):
        applied(abs, "x")


def test_declarations_of_all_that_answers_in_words_can_be_read():
    """They are read only when a call has failed."""
    seen = 0
    for module in pkgutil.walk_packages(rbt.__path__, "rbt_ros."):
        if module.name.startswith(("rbt_ros.ros", "rbt_ros.core")) or module.name.endswith("__main__"):
            continue
        found = vars(importlib.import_module(module.name)).values()
        for owner in [x for x in found if getattr(x, "__module__", "") == module.name]:
            for call in [owner, *vars(owner).values()] if inspect.isclass(owner) else [owner]:
                call = getattr(call, "__func__", call)
                if (
                    inspect.isfunction(call)
                    and call.__code__.co_filename.endswith("kinds.py")
                    and hasattr(call, "__wrapped__")
                ):
                    typing.get_type_hints(call)
                    seen += 1
    assert seen > 40


def test_kinds_are_compared_part_by_part():
    def call(a: int = 0, b: "dict[str, float] | None" = None, c: tuple[str, float] = ("", 0.0), *d: bool): ...

    assert odd_argument(call, (np.int64(3), {"x": np.float32(1)}, ("x", 1), True), {}) == ""
    for given, words in (
        ((True,), "a True must be a whole number"),
        ((0, {"x": "y"}), "b {'x': 'y'} must be a dict, each key a text, each value a number or None."),
        ((0, None, ("x",)), "c ('x',) must be (a text; a number)."),
        ((0, None, ("x", 1), 1), "d (1,) must be a list, each element True or False."),
    ):
        assert words in odd_argument(call, given, {})
