"""Panels that must not touch: distances against another library, domains against the closed form, paths, guards."""

import warnings

import fcl
import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import rbt_ros as rbt
from rbt_ros.core.clearance import AXES, BOX_COLUMNS, CENTRE, HALF, distance
from rbt_ros.modular import clearance, paths, planar
from rbt_ros.modular.clearance import Clearance


def two(rng, spread):
    """Two random boxes, thick and thin."""
    rows = np.empty((2, BOX_COLUMNS))
    for row in rows:
        row[CENTRE:AXES] = rng.normal(0, spread, 3)
        row[AXES:HALF] = Rotation.random(random_state=rng).as_matrix().ravel()
        row[HALF:] = rng.uniform(0.01, 1, 3) * rng.choice([0.01, 1.0], 3)
    return rows


def box(centre, half, turn=None):
    """A box as a row; turn: rotation vector."""
    R = np.eye(3) if turn is None else Rotation.from_rotvec(turn).as_matrix()
    return np.concatenate([centre, R.ravel(), half])


def as_fcl(row):
    return fcl.CollisionObject(
        fcl.Box(*(2 * row[HALF:])), fcl.Transform(row[AXES:HALF].reshape(3, 3), row[CENTRE:AXES])
    )


@pytest.mark.parametrize("spread", [0.3, 1.0, 3.0])
def test_distance_is_that_of_the_flexible_collision_library(spread):
    """Boxes apart: 1e-12 (measured 2e-14); which ones overlap, and no deeper than its contacts say."""
    rng = np.random.RandomState(3)
    request = fcl.DistanceRequest(enable_signed_distance=True)
    request.distance_tolerance = 1e-13
    contacts = fcl.CollisionRequest(num_max_contacts=50, enable_contact=True)
    overlaps = 0
    for _ in range(300):
        rows = two(rng, spread)
        one, other = (as_fcl(row) for row in rows)
        right, found = fcl.distance(one, other, request, fcl.DistanceResult()), distance(rows, 0, 1, np.inf)
        assert found == pytest.approx(distance(rows, 1, 0, np.inf), abs=1e-13)
        if found > 0:
            assert found == pytest.approx(right, abs=1e-12)
            continue
        overlaps += 1
        result = fcl.CollisionResult()
        assert right <= 0 and fcl.collide(one, other, contacts, result) > 0
        assert -found <= max(contact.penetration_depth for contact in result.contacts) + 1e-12
    assert overlaps > 20 or spread > 0.3


def test_depth_is_the_least_way_that_parts_them():
    """Moved by less than that in any of many directions they still overlap; a bit more parts them in one."""
    rng = np.random.RandomState(4)
    directions = rng.normal(size=(3000, 3))
    directions /= np.linalg.norm(directions, axis=1)[:, None]
    for _ in range(10):
        rows = two(rng, 0.02)
        rows[:, HALF:] = rng.uniform(0.3, 1, (2, 3))
        depth, middle = -distance(rows, 0, 1, np.inf), rows[1, :3].copy()
        assert depth > 0
        gaps = []
        for direction in directions:
            rows[1, :3] = middle + 0.999 * depth * direction
            assert distance(rows, 0, 1, np.inf) <= 0
            rows[1, :3] = middle + 1.05 * depth * direction
            gaps.append(distance(rows, 0, 1, np.inf))
        assert max(gaps) > 0


@pytest.mark.parametrize(
    ("other", "right"),
    [
        (box((0, 0, 4), (1, 1, 1)), 2),  # face above face
        (box((3, 0, 0), (1, 1, 1)), 1),
        (box((3, 3, 0), (1, 1, 1)), np.sqrt(2)),  # edge beside edge
        (box((3, 3, 3), (1, 1, 1)), np.sqrt(3)),  # corner to corner
        (box((0, 0, 4), (1, 1, 1), (0, 0, np.pi / 4)), 2),  # a star: no corner over the other's face
        (box((0, 0, 4), (3, 0.1, 1)), 2),  # a cross: likewise
        (box((0, 0, 4), (1, 1, np.sqrt(2) / 2), (np.pi / 4, 0, 0)), 2.5 - np.sqrt(0.5)),
        (box((1, 1, 0), (1, 1, 1)), -1),  # overlap
        (box((2, 0, 0), (1, 1, 1)), 0),  # touch
        (box((0, 0, 3), (2, 0, 0)), 2),  # a line
        (box((4, 0, 0), (0, 0, 0)), 3),  # a point
        (box((0, 0, 0), (0.1, 0.1, 0.1), (0.3, 0.2, 0.1)), None),  # inside
    ],
)
def test_distance_of_what_is_parallel_or_degenerate(other, right):
    rows = np.array([box((0, 0, 0), (1, 1, 1)), other])
    found = distance(rows, 0, 1, np.inf)
    if right is None:
        assert found < -1
    else:
        assert found == pytest.approx(right, abs=2e-15)
    assert distance(rows, 0, 1, 0.5) == found or min(distance(rows, 0, 1, 0.5), found) >= 0.5


def test_thin_rods_collide_where_the_closed_form_says():
    """Rods 2 cm thick: away from the border of the exact domain by more than that, the same."""
    robot = rbt.modular.rods()
    psi = np.random.default_rng(1).uniform(-np.pi, np.pi, (4000, 2))
    found = Clearance(robot, inset=0.0).of_shapes(psi) < 0
    exact = planar.collide((2, 2, 2), psi[:, 0], psi[:, 1])
    near = (np.abs(psi) > np.pi - 0.03).any(axis=1)  # folded back on b, the tip of a rod is at the other's hinge
    for shift in 0.05 * np.array([(-1, -1), (1, 1), (1, -1), (-1, 1), (0, 1), (1, 0), (0, -1), (-1, 0)]):
        near |= planar.collide((2, 2, 2), *(psi + shift).T) != exact
    assert np.array_equal(found[~near], exact[~near]) and near.mean() < 0.1 and exact.mean() > 0.05


def test_flat_l_is_free_and_folded_over_itself_is_not():
    """Flat, the corners of a and c are 7 mm apart: both are drawn in by 5 mm. With both on b they lie in its plane, and
    as two sides of a cube, without a mitre, their rims are in each other."""
    seen = Clearance(rbt.modular.l_shape())
    assert seen.of_shapes(np.zeros((1, 2)))[0] == pytest.approx(0.005 * np.sqrt(2), abs=1e-14)
    corners = seen.of_shapes(
        np.array([(np.pi, np.pi), (np.pi, -np.pi), (np.pi / 2, np.pi / 2), (np.pi / 2, -np.pi / 2)])
    )
    assert (corners < 0).tolist() == [True, True, True, False]


def test_map_is_symmetric_as_the_array():
    """Mirrored at its own plane: (psi1, psi2) -> (-psi1, -psi2)."""
    grid = np.linspace(-np.pi, np.pi, 25)
    found = Clearance(rbt.modular.l_shape()).grid(grid, grid)
    assert found == pytest.approx(found[::-1, ::-1], abs=1e-12)


def test_shapes_and_poses_agree_wherever_the_centres_of_mass_are():
    """The same distance from a shape alone and from the poses of a simulation that has it."""
    robot = rbt.modular.l_shape(offset={"a": (0.1, -0.2, 0.3), "c": (0.0, 0.1, 0.0)})
    sim = rbt.Simulation(robot)
    sim.set_body("a", position=(1, 2, 3), euler=("ZYX", 0.3, 0.2, 0.1))
    sim.set_hinge("psi1", 1.0)
    sim.set_hinge("psi2", -2.0)
    seen = Clearance(robot)
    found = seen.of_pose(sim.sample().pose)
    assert found.distance == pytest.approx(seen.of_shapes(np.array([(1.0, -2.0)]))[0], abs=1e-14)
    assert found.distance == pytest.approx(Clearance(rbt.modular.l_shape()).of_shapes(np.array([(1.0, -2.0)]))[0])


def test_clash_says_where():
    seen = Clearance(rbt.modular.l_shape())
    assert seen.clash(paths.rectangle(1.0, -1.0)) is None and seen.is_free(paths.rectangle(1.0, -1.0))
    assert not seen.is_free(paths.rectangle(np.pi, np.pi)) and not seen.is_free(paths.rectangle(3.5, -1.0))
    with pytest.raises(
        rbt.ScenarioError, match=r"collides in its piece 2 at .* % of it \(psi1 180°, psi2 .*°\): the panels"
    ):
        seen.require_free(paths.rectangle(np.pi, np.pi))
    with pytest.raises(rbt.ScenarioError, match=r"collides in its piece 2 .*°\), t = (.*) s: the panels") as err:
        seen.require_free(paths.rectangle(np.pi, np.pi), leg=5.0)
    # flown, the panels are that near at that time, within the 64th of a piece that is looked at
    flight, told = {}, float(str(err.value).split("t = ")[1].split(" s:")[0])

    def watch(sim):
        flight.setdefault(seen.of_pose(sim.sample().pose).distance > 0.0, sim.t_ns * 1e-9)

    rbt.modular.fly(
        seen.robot,
        paths.rectangle(np.pi, np.pi),
        leg=5.0,
        profile="minimum_jerk",
        kp=100,
        kd=40,
        step=0.005,
        watch=watch,
    )
    assert flight[False] == pytest.approx(told, abs=0.2)
    # a curve has one start and one stop, however many pieces it has
    curve = paths.spline([(0.0, 0.0), (2.0, 0.0), (2.0, 2.5), (0.0, 1.0)])
    clash = seen.clash(curve)
    with pytest.raises(rbt.ScenarioError, match="collides in its piece") as err:
        seen.require_free(curve, leg=5.0)
    told = float(str(err.value).split("t = ")[1].split(" s:")[0])
    assert told == pytest.approx(20.0 * paths.when_at((clash.piece + clash.s) / 4), abs=6e-3)
    with pytest.raises(rbt.ScenarioError, match="collides in its piece 1 .* hinge 'psi1' is beyond its limits"):
        seen.require_free(paths.rectangle(3.5, 1.0))


def test_nothing_is_missed_between_the_shapes_looked_at():
    """Of many: the first contact where a fine search has it, and the least distance of it within 0.1 mm."""
    seen = Clearance(rbt.modular.l_shape())
    s = np.linspace(0, 4, 10001)
    rng = np.random.default_rng(2)
    for p, q in rng.uniform(-np.pi, np.pi, (12, 2)):
        path = paths.rectangle(p, q)
        near = seen.of_shapes(path.at(s)[0])
        clash = seen.clash(path, 0.001)
        assert (clash is None) == bool((near > 0.001).all()) == seen.is_free(path, 0.001)
        if clash is not None:
            at = clash.piece + clash.s
            assert (near[s < at] > 0.001).all()
            assert seen.of_shapes(path.at(np.array([at]))[0])[0] <= 0.001 + 1.01e-5
        assert seen.along(path) == pytest.approx(near.min(), abs=1.01e-4)


def test_a_needle_that_is_met_for_a_moment_is_seen():
    """A hinge swings a rod 1 mm thick past another, half a turn in one piece: met during a thousandth of it."""
    b = rbt.RobotBuilder("needles")
    b.body("hub", mass=1, inertia=(1, 1, 1), shapes=[dict(kind="box", size=(0.1, 0.1, 0.1))])
    needle = dict(kind="box", size=(1.0, 1e-3, 1e-3), at=(0.7, 0, 0))
    for name, at in (("one", (0, 0, 0.5)), ("other", (0, 0, 0.5))):
        b.body(name, mass=1, inertia=(1, 1, 1), shapes=[needle])
        b.hinge(f"{name}_hinge", "revolute", parent="hub", child=name, at=at, axis=(0, 0, 1))
    seen = Clearance(b.build(), inset=0.0)
    met, missed = ([(-1.5, angle), (1.5, angle)] for angle in (0.123, 1.6))
    joints = ("one_hinge", "other_hinge")
    assert seen.clash(paths.polygon(met, joints)).s == pytest.approx((1.5 + 0.123) / 3, abs=2e-3)
    assert seen.clash(paths.polygon(missed, joints)) is None


@pytest.mark.parametrize("stop", [True, False])
def test_guard_stops_or_warns_while_simulating(stop):
    """Hinges that run freely into each other: the run ends at the first contact, or goes on with one warning."""
    robot = rbt.modular.l_shape()
    sim = rbt.Simulation(robot, step=0.01)
    sim.set_hinge("psi1", 2.0, rate=0.0)
    sim.set_hinge("psi2", 0.3, rate=1.0)
    look = clearance.guard(robot, stop=stop)
    if stop:
        with pytest.raises(rbt.SolveError, match=r"t = .* s: 'a' and 'c' collide: .* m apart, 0 m is asked for\."):
            sim.run(until=2.0, every=0.01, controller=look)
        assert -0.02 < Clearance(robot).of_pose(sim.sample().pose).distance <= 0.0
    else:
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            sim.run(until=2.0, every=0.01, controller=look)
        assert len([w for w in told if "collide" in str(w.message)]) == 1


def test_a_robot_without_boxes_cannot_collide():
    b = rbt.RobotBuilder("bare").body("a", mass=1, inertia=(1, 1, 1)).body("b", mass=1, inertia=(1, 1, 1))
    robot = b.hinge("psi1", "revolute", parent="a", child="b").build()
    with pytest.raises(rbt.ModelError, match="robot 'bare': no body has a box as its shape, so nothing can collide."):
        Clearance(robot)
