"""Massless links, point masses, thin rods: what moves, what cannot."""

import numpy as np
import pytest
from trees import ALL_KINDS, EPS, body_row, chain, model_of, no_input, random_inertia, random_tree, unit

from rbt_ros.core import types as t
from rbt_ros.core.integrate import DOP853, advance
from rbt_ros.core.kinematics import kinematics
from rbt_ros.core.solvable import undetermined
from rbt_ros.core.types import JointKind
from rbt_ros.core.work import workspace

REVOLUTE, PRISMATIC, SPHERICAL, FREE = JointKind.REVOLUTE, JointKind.PRISMATIC, JointKind.SPHERICAL, JointKind.FREE
NONE, ROD, POINT = (0.0, 0.0, 0.0), (0.1, 0.1, 0.0), (0.0, 0.0, 0.0)
X, Y, Z = (1, 0, 0), (0, 1, 0), (0, 0, 1)


def last_pose_after(model, y, ticks=200):
    y = np.array(y, dtype=float)
    work = workspace(model)
    assert advance(model, y, no_input(model), 0, 1_000_000, ticks, DOP853, work).code == t.OK
    n, nv = len(model.tree), model.freedom.shape[0]
    pose, twist = np.zeros((n, 7)), np.zeros((n, 6))
    kinematics(model, y[: len(y) - nv], y[len(y) - nv :], work, pose, twist)
    return np.concatenate([pose[-1], twist[-1]])


def compound(kind, parts, axes):
    """A body on one hinge of `kind`, and the same on a series of turns and slides with massless links between."""
    rng = np.random.default_rng(1)
    I, com, turned = random_inertia(rng), rng.uniform(-0.5, 0.5, 3), tuple(unit(rng, 4))
    axis2 = axes[1] if kind == JointKind.UNIVERSAL else axes[0]
    one = body_row(1.5, com, I, (0.1, 0.2, 0.3), turned, axes[0] if kind != JointKind.PLANAR else axes[2], axis2)
    whole = model_of([(-1, kind)], [one], gravity=(1, 2, -9.81))
    rows = [body_row(0.0, NONE, NONE, axis=axis) for axis in axes[:-1]] + [body_row(1.5, com, I, axis=axes[-1])]
    rows[0][t.POINT : t.POINT + 3] = 0.1, 0.2, 0.3
    rows[0][t.TURN : t.TURN + 4] = turned
    return whole, model_of([(i - 1, part) for i, part in enumerate(parts)], rows, gravity=(1, 2, -9.81))


@pytest.mark.parametrize(
    ("kind", "parts", "axes"),
    [
        (JointKind.UNIVERSAL, (REVOLUTE, REVOLUTE), (X, Y)),
        (JointKind.CYLINDRICAL, (REVOLUTE, PRISMATIC), (Z, Z)),
        (JointKind.PLANAR, (PRISMATIC, PRISMATIC, REVOLUTE), (X, Y, Z)),
    ],
    ids=lambda x: getattr(x, "name", None),
)
def test_a_compound_hinge_is_its_turns_and_slides_with_massless_links_between(kind, parts, axes):
    whole, series = compound(kind, parts, axes)
    assert undetermined(series) is None
    y = [0.3, -0.4, 0.5, 0.2, -0.6, 0.7][: len(parts)] + [0.7, -1.2, 0.4][: len(parts)]
    assert last_pose_after(whole, y) == pytest.approx(last_pose_after(series, y), abs=2000 * EPS)


def test_a_rod_splits_in_two_by_a_fixed_hinge():
    """One rod of 2 kg, 2 m; and two halves of 1 kg, 1 m: the same pendulum, to round-off."""
    whole = model_of([(-1, REVOLUTE)], [body_row(2.0, (0, 0, -1), (2 / 3, 2 / 3, 0), axis=Y)], (0, 0, -9.81))
    half = [body_row(1.0, (0, 0, -0.5), (1 / 12, 1 / 12, 0), point, axis=Y) for point in (NONE, (0, 0, -1.0))]
    halves = model_of([(-1, REVOLUTE), (0, JointKind.FIXED)], half, (0, 0, -9.81))
    a, b = np.array([1.0, 0.5]), np.array([1.0, 0.5])
    for model, y in ((whole, a), (halves, b)):
        assert advance(model, y, no_input(model), 0, 1_000_000, 1000, DOP853, workspace(model)).code == t.OK
    assert a == pytest.approx(b, abs=1000 * EPS)


@pytest.mark.parametrize(
    ("hinges", "rows"),
    [
        ([(-1, REVOLUTE)], [body_row(1.0, (0, 0, -1), POINT, axis=Y)]),
        ([(-1, JointKind.UNIVERSAL)], [body_row(1.0, (0, 0, -1), ROD, axis=X, axis2=Y)]),
        ([(-1, REVOLUTE), (0, SPHERICAL)], [body_row(0, NONE, NONE, axis=Y), body_row(1, (0, 0, -1), (1, 1, 1), X)]),
        ([(-1, PRISMATIC)], [body_row(1.0, NONE, POINT)]),
    ],
    ids=["point mass", "thin rod", "massless link", "sliding point"],
)
def test_light_bodies_that_move_some_mass_are_fine(hinges, rows):
    assert undetermined(model_of(hinges, rows)) is None


@pytest.mark.parametrize(
    ("hinges", "rows", "body", "direction"),
    [
        ([(-1, REVOLUTE)], [body_row(1.0, NONE, POINT, axis=Z)], 0, [1.0]),
        ([(-1, REVOLUTE)], [body_row(1.0, (0, 0, -1), ROD, axis=Z)], 0, [1.0]),
        ([(-1, SPHERICAL)], [body_row(1.0, (0, 0, -1), ROD)], 0, [0, 0, 1.0]),
        ([(-1, FREE)], [body_row(1.0, NONE, ROD)], 0, [0, 0, 1.0, 0, 0, 0]),
        ([(-1, REVOLUTE), (0, REVOLUTE)], [body_row(1, NONE, (1, 1, 1)), body_row(0, NONE, NONE, X)], 1, [0, 1.0]),
    ],
    ids=["point on its axis", "rod on its axis", "rod on a ball", "free rod", "massless end"],
)
def test_what_moves_no_mass_is_found_by_body_and_direction(hinges, rows, body, direction):
    found = undetermined(model_of(hinges, rows))
    assert found is not None and found.body == body
    assert np.abs(found.velocity) == pytest.approx(direction, abs=1e-6)


def test_a_direction_may_lie_between_two_hinges():
    """Two parallel hinges at the same point: turning one against the other moves nothing but the massless link."""
    rows = [body_row(0.0, NONE, NONE), body_row(1.0, (1, 0, 0), (1, 1, 1))]
    found = undetermined(model_of([(-1, REVOLUTE), (0, REVOLUTE)], rows))
    assert found is not None
    assert found.velocity[0] == pytest.approx(-found.velocity[1], rel=1e-6)


@pytest.mark.parametrize("seed", range(4))
def test_what_turns_back_on_its_own_hinge_is_not_to_blame(seed):
    """A free body, a massless link on it, a body on that, about the same axis: the link turns, and nothing else."""
    rng = np.random.default_rng(seed)
    axis = unit(rng)
    rows = [
        body_row(1.0, NONE, (1, 1, 1)),
        body_row(0.0, NONE, NONE, axis=axis),
        body_row(3.0, NONE, (1, 2, 2), axis=axis),
    ]
    found = undetermined(model_of([(-1, FREE), (0, REVOLUTE), (1, REVOLUTE)], rows))
    assert found is not None and found.body == 1


def test_a_rod_between_two_balls_is_to_blame_for_its_own_turn():
    rows = [body_row(1.0, (0, 0, 0.5), (1, 1, 0)), body_row(1.0, NONE, (1, 1, 1), point=(0, 0, 1))]
    found = undetermined(model_of([(-1, SPHERICAL), (0, SPHERICAL)], rows))
    assert found is not None and found.body == 0
    assert np.abs(found.velocity[:3]) / np.abs(found.velocity[2]) == pytest.approx([0, 0, 1], abs=1e-6)


def test_ordinary_models_pass_also_long_and_uneven_ones():
    assert undetermined(chain(128)) is None
    rng = np.random.default_rng(2)
    for _ in range(30):
        assert undetermined(random_tree(rng, 8, ALL_KINDS)) is None
    light = body_row(1e-9, (0, 0, -1e-3), (1e-15, 1e-15, 1e-15), point=(0, 0, -5.0), axis=Y)
    heavy = body_row(1e6, (0, 0, -2.0), (1e7, 1e7, 1e7), axis=Y)
    assert undetermined(model_of([(-1, REVOLUTE), (0, REVOLUTE)], [heavy, light])) is None
