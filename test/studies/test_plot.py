"""`rbt plot`: what the lines of each figure are, from every source; units; colours that everybody tells apart."""

import itertools
import re
import sys

import numpy as np
import pytest

import rbt_ros as rbt
from rbt_ros import cli
from rbt_ros.bags.recorder import Recorder
from rbt_ros.core.poinsot import poinsot
from rbt_ros.errors import ScenarioError
from rbt_ros.model.attitude import turn_all, without_flips, zxz_angles
from rbt_ros.studies import figure_style as style
from rbt_ros.studies.histories import history_of, read_history
from rbt_ros.studies.plots import zxz_figure
from rbt_ros.studies.poinsot_figures import cones_figure, ellipsoid, herpolhode_figure, once_round, polhode_figure
from rbt_ros.studies.time_figures import (
    attitude_figure,
    energy_figure,
    forces_figure,
    hinges_figure,
    momentum_figure,
    position_figure,
    rates_figure,
)

# what protanopes, deuteranopes and tritanopes see of linear red, green, blue: Machado, Oliveira, Fernandes, IEEE TVCG
# 15 (2009) 1291, severity 1
SEEN = (
    ((0.152286, 1.052583, -0.204868), (0.114503, 0.786281, 0.099216), (-0.003882, -0.048116, 1.051998)),
    ((0.367322, 0.860646, -0.227968), (0.280085, 0.672501, 0.047413), (-0.011820, 0.042940, 0.968881)),
    ((1.255528, -0.076749, -0.178779), (-0.078411, 0.930809, 0.147602), (0.004733, 0.691367, 0.303900)),
)


@pytest.fixture(scope="module")
def free():
    """The CubeSat, which tumbles freely."""
    return rbt.load("cubesat").simulation().run(until=0.4, every=0.004)


@pytest.fixture(scope="module")
def five():
    return rbt.load("five_body").simulation().run(until=0.5, every=0.01)


def lines(ax):
    """(times, value) of each line of a diagram."""
    return [np.array(line.get_data()) for line in ax.lines]


def labels(figure):
    return [text for ax in figure.axes for text in (ax.get_xlabel(), ax.get_ylabel()) if text]


def same(ax, t, values):
    """The first lines are the columns of `values` over t, bit for bit."""
    for line, column in zip(lines(ax), np.atleast_2d(np.asarray(values).T), strict=False):
        np.testing.assert_array_equal(line, [t, column])
    assert len(ax.lines) >= np.atleast_2d(np.asarray(values).T).shape[0]


def test_histories_are_drawn_as_they_are(free):
    history, body = history_of(free), free.body("cubesat")
    same(attitude_figure(history, 170).axes[0], free.t, without_flips(body.quaternion))
    same(rates_figure(history, 170).axes[0], free.t, body.omega_body)
    same(position_figure(history, 170).axes[0], free.t, body.position)
    above, below = energy_figure(history, 170).axes
    same(above, free.t, np.column_stack([free.energy.total, free.energy.kinetic, free.energy.potential]))
    same(below, free.t, free.energy.total - free.energy.total[0])
    L, P, dL, dP = momentum_figure(history, 170).axes
    same(L, free.t, free.angular_momentum_com)
    same(P, free.t, free.momentum)
    same(dL, free.t, np.linalg.norm(free.angular_momentum_com - free.angular_momentum_com[0], axis=1))
    assert lines(dP)[0][1].max() == 0


def test_momenta_that_cancel_are_not_enlarged_and_the_label_says_so():
    """Two arms that push each other off have no momentum: what is left is round-off of Σ|L_k|, Σ|P_k| of the bodies.

    So little is a flat line on an axis of 1e-12 of these sums; what is not round-off has its own axis,
    as the energy has, which the motor changes.
    """
    b = rbt.RobotBuilder("pair").body("a", mass=1.0, inertia=(0.1, 0.2, 0.3))
    b.body("b", mass=2.0, inertia=(0.3, 0.2, 0.1), com=(0.3, 0.1, 0.2))
    b.hinge("wrist", "revolute", parent="a", child="b", at=(0.2, 0, 0.1), axis=(1, 2, 3))
    sim = rbt.Simulation(b.build(), step=1e-3)
    sim.add_input(rbt.Effort("wrist", (1.0,)))
    result = sim.run(until=0.5, every=0.01)
    sums = [max(x) for x in result.sums_of_momenta()]
    a, b = (result.body(name) for name in "ab")
    com = (a.com + 2 * b.com) / 3
    spins = [np.linalg.norm(m.omega_body @ k.inertia, axis=1) for m, k in zip((a, b), result.robot.bodies, strict=True)]
    speeds = [
        np.gradient(m.com, result.t, axis=0) for m in (a, b)
    ]  # of the centres of mass, off by their change h² / 6
    P = [k * np.linalg.norm(v, axis=1) for k, v in zip((1, 2), speeds, strict=True)]
    arms = [np.linalg.norm(m.com - com, axis=1) for m in (a, b)]
    assert sums[0] == pytest.approx(max(sum(spins) + sum(p * r for p, r in zip(P, arms, strict=True))), rel=2e-2)
    assert sums[1] == pytest.approx(max(sum(P)), rel=2e-2)
    figure = momentum_figure(history_of(result), 170)
    for k, (ax, letter) in enumerate(zip(figure.axes, "LPLP", strict=True)):
        assert 0 < max(np.abs(line[1]).max() for line in lines(ax)) < 1e-12 * sums[k % 2]
        assert ax.get_ylim() == (-1e-12 * sums[k % 2], 1e-12 * sums[k % 2])
        assert ax.get_ylabel().endswith(f"\naxis: 1e-12 of Σ|{letter}| of bodies")
    assert all(ax.get_title(loc="right").startswith("round-off: ") for ax in figure.axes[2:])
    with style.for_print():
        narrow = momentum_figure(history_of(result), 85)
        narrow.canvas.draw()
    boxes = [title.get_window_extent() for ax in narrow.axes for title in (ax.title, ax._right_title)]
    assert all(box.x0 >= 0 and box.x1 <= narrow.bbox.x1 for box in boxes), "no title is cut"
    below = energy_figure(history_of(result), 170).axes[1]
    assert "axis" not in below.get_ylabel() and "round-off" not in below.get_title(loc="right")


def test_euler_angles_are_those_of_the_attitude_without_jumps(free):
    """Steps of less than half a turn, and the same attitude as the quaternion."""
    from scipy.spatial.transform import Rotation

    figure = attitude_figure(history_of(free), 170, euler="ZYX")
    angles = np.array([line[1] for line in lines(figure.axes[0])]).T
    assert np.abs(np.diff(angles, axis=0)).max() < 180
    turned = Rotation.from_euler("ZYX", angles, degrees=True).as_quat()[:, [3, 0, 1, 2]]
    same_turn = np.abs(np.sum(turned * free.body("cubesat").quaternion, axis=1))
    np.testing.assert_allclose(same_turn, 1, atol=1e-12)


def test_hinges_have_position_and_rate_and_ball_hinges_their_angles(five):
    history = history_of(five)
    axes = hinges_figure(history, 170).axes
    assert [ax.get_title(loc="left") for ax in axes[::2]] == ["wrist", "right_pivot", "left_pivot", "shoulder", "elbow"]
    same(axes[0], five.t, five.hinge("wrist").angle)
    same(axes[1], five.t, five.hinge("wrist").rate)
    for row, name in ((3, "shoulder"), (4, "elbow")):
        angles = np.array([line[1] for line in lines(axes[2 * row])]).T
        rates = np.array([line[1] for line in lines(axes[2 * row + 1])]).T
        np.testing.assert_allclose(angles, zxz_angles(five.hinge(name).quaternion), atol=1e-12)
        np.testing.assert_allclose(rates, five.hinge(name).omega, atol=1e-12)


def test_where_no_rate_is_known_there_is_no_empty_diagram_and_legends_hide_no_line(five):
    history = history_of(five)
    history.balls = {name: ball._replace(omega=None) for name, ball in history.balls.items()}
    figure = hinges_figure(history, 170)
    assert all(ax.get_visible() == bool(ax.lines) for ax in figure.axes)
    assert [ax.get_xlabel() for ax in figure.axes if ax.get_xlabel()] == ["time t [s]"] * 2
    figure.canvas.draw()
    for ax in (*figure.axes, *momentum_figure(history, 170).axes):
        if ax.get_legend():
            ax.figure.canvas.draw()
            assert ax.get_legend().get_window_extent().y0 >= ax.get_window_extent().y1


def test_forces_of_constraints_ropes_and_hinges_are_drawn(tmp_path, monkeypatch, capsys):
    """A row for each, with its name, unit and numbers: from a Result, from a table; hinges where that was asked for."""
    b = rbt.RobotBuilder("crane").body("jib", mass=2.0, inertia=(0.1, 0.1, 0.1), com=(0.5, 0, 0))
    b.hinge("luff", "revolute", parent="world", child="jib", axis=(0, -1, 0)).prescribe("luff", rbt.polynomial([0, 1]))
    b.body("load", mass=1.0, inertia=(0.1, 0.1, 0.1)).rope("line", "jib", "load", at_a=(1, 0, 0), length=1.0)
    b.body("door", mass=1.0, inertia=(0.1, 0.1, 0.1), com=(0.3, 0, 0))
    b.hinge("jamb", "revolute", parent="world", child="door", limits=(-1, 1), stop_restitution=0.5)
    b.body("bob", mass=1.0, inertia=(0.1, 0.1, 0.1), com=(0.2, 0, 0))
    b.closure("ball", "weld", "jib", "bob", at_a=(0.5, 0, 0))
    sim = rbt.Simulation(b.build(), gravity=(0, 0, -9.81))
    sim.set_body("load", position=(1, 0, -1))
    result = sim.run(until=0.05, every=0.01)
    result.to_csv(tmp_path / "crane.csv", reactions=True)
    for history, hinges in ((history_of(result), 0), (read_history(str(tmp_path / "crane.csv")), 2)):
        axes = forces_figure(history, 170).axes
        rows = {axes[k].get_title(loc="left"): axes[k : k + 2] for k in range(0, len(axes), 2)}
        assert list(rows) == ["luff", "ball", "line", "jamb, stop", "luff, hinge", "jamb, hinge"][: 4 + hinges]
        same(rows["luff"][0], result.t, result.constraint("luff").effort)
        same(rows["line"][0], result.t, result.rope("line").tension)
        same(rows["ball"][0], result.t, result.constraint("ball").wrench[:, 3:])
        same(rows["ball"][1], result.t, result.constraint("ball").wrench[:, :3])
        assert [ax.get_ylabel() for ax in rows["ball"]] == ["force [N]", "moment [N·m]"]
        assert [rows[k][0].get_ylabel() for k in ("luff", "line")] == ["effort [N·m or N]", "tension [N]"]
        if hinges:
            same(rows["luff, hinge"][0], result.t, result.reaction("luff").force)
    code, out = rbt_plot(monkeypatch, capsys, tmp_path / "crane.csv", "--what", "forces", "--out", tmp_path)
    assert code == 0 and f"wrote {tmp_path / 'crane_forces.png'}" in out


def test_the_figure_of_a_run_shows_sliding_hinges_too():
    """Of `rbt run`: it had turning ones only, and of a slider the energy alone."""
    b = rbt.RobotBuilder("lift").body("car", mass=2.0, inertia=(1, 1, 1))
    b.hinge("shaft", "prismatic", parent="world", child="car").body("door", mass=1.0, inertia=(1, 1, 1))
    b.hinge("post", "revolute", parent="car", child="door")
    result = rbt.Simulation(b.build(), gravity=(0, 0, -9.81)).run(until=0.1, every=0.05)
    figure = zxz_figure(result)
    assert [ax.get_ylabel() for ax in figure.axes] == ["shaft [m]", "post [rad]", "energy [J]"]
    same(figure.axes[0], result.t, result.hinge("shaft").position)


def test_the_figure_of_a_run_shows_hinges_of_several_freedoms():
    """They were left out. What turns and slides has a diagram of each."""
    b = rbt.RobotBuilder("four")
    for k, kind in enumerate(("planar", "cylindrical", "universal", "spherical")):
        axes = {"axis": (1, 0, 0), "axis2": (0, 1, 0)} if kind == "universal" else {}
        b.body(f"b{k}", mass=1.0, inertia=(1, 1, 1))
        b.hinge(f"h{k}", kind, parent="world", child=f"b{k}", **axes)
    sim = rbt.Simulation(b.build())
    sim.set_hinge("h0", (0.1, 0.2, 0.3), rate=(1.0, 2.0, 3.0))
    result = sim.run(until=0.1, every=0.05)
    axes = zxz_figure(result).axes
    labels = ["h0 [rad]", "h0 [m]", "h1 [rad]", "h1 [m]", "h2 [rad]", "h3 [rad]", "energy [J]"]
    assert [ax.get_ylabel() for ax in axes] == labels
    lines = [[line.get_label() for line in ax.lines] for ax in axes[:5]]
    assert lines == [["turn"], ["x", "y"], ["turn"], ["slide"], ["1", "2"]]
    x, y, turn = result.hinge("h0").position.T
    assert (axes[0].lines[0].get_ydata() == turn).all() and (axes[1].lines[1].get_ydata() == y).all()
    assert all(ax.get_legend() for ax in axes)


def test_what_has_no_forces_says_so(free):
    with pytest.raises(ScenarioError, match="tells no forces: its robot has no constraints, ropes or stops"):
        forces_figure(history_of(free), 170)


def test_work_is_taken_off_the_change_of_energy():
    robot = rbt.RobotBuilder("pushed").body("b", mass=2.0, inertia=(1, 1, 1)).build()
    sim = rbt.Simulation(robot, work_of_inputs=True)
    sim.add_input(rbt.Wrench("b", force=(3, 0, 0)))
    history = history_of(sim.run(until=1.0, every=0.1))
    below = energy_figure(history, 85).axes[1]
    assert below.get_ylabel().startswith("E - E(0) - W + D [J]")
    assert np.abs(lines(below)[0][1]).max() < 1e-14 * 10 and history.one("energy.kinetic [J]").values[-1] > 2


def test_the_polhode_lies_on_its_ellipsoid_and_is_the_recorded_one(free):
    ax = polhode_figure(history_of(free), 170).axes[0]
    recorded, near, start, curve, other = (np.array(line.get_data_3d()) for line in ax.lines)
    np.testing.assert_array_equal(other, -curve)  # the same |L| and E: that round the other end
    assert np.isnan(near[0]).any() and ax.lines[0].get_alpha() is None, "what is behind is pale, not covered"
    assert all(line.get_zorder() < ax.lines[0].get_zorder() for line in ax.lines[3:])
    for axis in (ax.xaxis, ax.yaxis, ax.zaxis):
        assert len(axis.get_ticklocs()) >= 3, "each axis has its scale"
    np.testing.assert_array_equal(recorded, free.body("cubesat").omega_body.T)
    np.testing.assert_array_equal(start[:, 0], recorded[:, 0])
    body, made = free.robot.bodies[0], free.poinsot("cubesat")
    energies = 0.5 * np.sum(curve * (body.inertia @ curve), axis=0)
    np.testing.assert_allclose(energies, made.energy[0], rtol=1e-12)
    surface = ellipsoid(made.energy_ellipsoid[0], made.R_BP)
    on = 0.5 * np.einsum("imn,ij,jmn->mn", surface, body.inertia, surface)
    np.testing.assert_allclose(on, made.energy[0], rtol=1e-12)
    assert len(ax.collections) == 2, "the surface and its wires"


def _angles_about(axis, vectors):
    """[rad] round an axis, from anywhere."""
    side = np.cross(axis, np.eye(3)[np.argmin(np.abs(axis))])
    return np.arctan2(vectors @ np.cross(axis, side) / np.linalg.norm(axis), vectors @ side)


def test_the_herpolhode_stays_in_its_ring_and_cones_have_the_recorded_rays(free):
    history, made = history_of(free), free.poinsot("cubesat")
    ax = herpolhode_figure(history, 85).axes[0]
    np.testing.assert_array_equal(lines(ax)[0], made.herpolhode_in_plane.T)
    least, largest = (np.hypot(*line)[0] for line in lines(ax)[-2:])
    r = np.hypot(*lines(ax)[0])
    assert least * (1 - 1e-6) <= r.min() and r.max() <= largest * (1 + 1e-6) and r.max() > 0.99 * largest
    body, space = cones_figure(history, 170).axes
    np.testing.assert_array_equal(np.array(body.lines[0].get_data_3d()), made.polhode.T)
    np.testing.assert_array_equal(np.array(space.lines[0].get_data_3d()), made.herpolhode.T)
    for omega in (made.polhode, made.herpolhode):  # a surface goes once round: of more it would be opaque
        mean, part = omega.mean(axis=0), once_round(omega)
        turned = np.abs(np.unwrap(_angles_about(mean, part)) @ np.eye(len(part))[[-1, 0]].T @ [1, -1])
        assert 2 * np.pi <= turned < 2 * np.pi + 0.3 and len(part) < len(omega)
    np.testing.assert_array_equal(once_round(omega[:20]), omega[:20])  # where it has not been round, all
    direction = np.array(space.lines[-1].get_data_3d())[:, 1]
    np.testing.assert_allclose(direction / np.linalg.norm(direction), made.plane_normal[0], atol=1e-12)


def test_a_body_that_does_not_turn_freely_is_drawn_when_it_is_named(five):
    history = history_of(five)
    with pytest.raises(ScenarioError, match="no body that turns freely, at constant energy.*: --body upper"):
        polhode_figure(history, 170)
    ax = polhode_figure(history, 170, ["tee"]).axes[0]
    curve = np.array(ax.lines[-1].get_data_3d())
    omega, body = five.body("tee").omega_body, five.robot.bodies[five.robot.body_index("tee")]
    largest = 0.5 * np.sum(omega @ body.inertia * omega, axis=1).max()
    np.testing.assert_allclose(0.5 * np.sum(curve * (body.inertia @ curve), axis=0), largest, rtol=1e-12)


def test_every_source_gives_the_same_lines(free, five, tmp_path):
    """Table and arrays to the bit; a bag holds what was recorded: attitude and rate at its stamps, hinges."""
    direct = history_of(five)
    five.to_csv(tmp_path / "five_body.csv")
    five.to_npz(tmp_path / "five_body.npz")
    for file in ("five_body.csv", "five_body.npz"):
        read = read_history(str(tmp_path / file))
        assert read.columns.keys() == direct.columns.keys() and read.inertias.keys() == direct.inertias.keys()
        for name, series in direct.columns.items():
            np.testing.assert_array_equal(read.columns[name].values, series.values)
        np.testing.assert_array_equal(read.balls["elbow"].angles.values, direct.balls["elbow"].angles.values)
    sim = rbt.load("cubesat").simulation()
    with Recorder(tmp_path / "bag", sim):
        result = sim.run(until=0.4, every=0.01)
    bag, body = read_history(str(tmp_path / "bag")), result.body("cubesat")
    t, w = bag.vector("cubesat", "omega_body")
    at = np.searchsorted(result.t, t - 1e-9)
    np.testing.assert_allclose(t, result.t[at], atol=1e-12)
    np.testing.assert_allclose(w, body.omega_body[at], rtol=1e-12, atol=1e-12)
    assert "cubesat" in bag.inertias and len(t) > 20
    made = poinsot(bag.inertias["cubesat"], bag.attitude("cubesat").quaternion, w)
    np.testing.assert_array_equal(np.array(polhode_figure(bag, 85).axes[0].lines[0].get_data_3d()), made.polhode.T)


def test_a_laboratory_result_is_drawn_too(tmp_path):
    lab = rbt.simulate(
        rbt.RigidBody(mass=2.0, inertia=(1, 2, 3)), omega_b=(0.1, 1, 0.1), velocity=(1, 0, 0), duration=2
    )
    lab.to_npz(tmp_path / "lab.npz")
    lab.to_csv(tmp_path / "lab.csv")
    for file in ("lab.npz", "lab.csv"):
        history = read_history(str(tmp_path / file))
        same(rates_figure(history, 170).axes[0], lab.time, lab.omega_b)
        same(energy_figure(history, 170).axes[0], lab.time, lab.kinetic_energy + lab.potential_energy)
        same(momentum_figure(history, 170).axes[0], lab.time, lab.angular_momentum_e)
    arrays = read_history(str(tmp_path / "lab.npz"))
    assert len(polhode_figure(arrays, 85).axes) == 1
    with pytest.raises(ScenarioError, match="no body of known inertia and rates; say of which scenario it is: --of"):
        polhode_figure(history, 85)


def test_parts_in_time(free):
    part = history_of(free).between(0.1, 0.2)
    t, w = part.vector("cubesat", "omega_body")
    inside = (free.t >= 0.1) & (free.t <= 0.2)
    np.testing.assert_array_equal(t, free.t[inside])
    np.testing.assert_array_equal(w, free.body("cubesat").omega_body[inside])
    with pytest.raises(ScenarioError, match="cubesat has nothing from 5 to 6 s; it goes from 0 to 0.4 s"):
        history_of(free).between(5, 6)


def test_a_broken_table_is_drawn_up_to_there_and_says_so(five, tmp_path):
    five.to_csv(tmp_path / "five_body.csv")
    text = (tmp_path / "five_body.csv").read_text().splitlines(keepends=True)
    (tmp_path / "five_body.csv").write_text("".join(text[:20]) + text[20][:40])
    with pytest.warns(UserWarning, match="five_body.csv, line 21: no row of"):
        history = read_history(str(tmp_path / "five_body.csv"))
    np.testing.assert_array_equal(history.vector("tee", "position").t, five.t[:19])


def test_every_label_has_its_unit(free, five):
    history, tree = history_of(free), history_of(five)
    figures = [hinges_figure(tree, 170), attitude_figure(tree, 170), attitude_figure(tree, 170, euler="ZXZ")]
    figures += [draw(history, 170) for draw in (rates_figure, position_figure, energy_figure, momentum_figure)]
    figures += [draw(history, 170) for draw in (polhode_figure, herpolhode_figure, cones_figure)]
    for figure in figures:
        assert labels(figure)
        assert [text for text in labels(figure) if "[" not in text or "]" not in text] == []


def lightness_and_colour(rgb):
    """CIE L*a*b* of linear red, green, blue; D65."""
    to_xyz = [[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]]
    x, y, z = np.array(to_xyz) @ np.clip(rgb, 0, 1) / [0.9505, 1.0, 1.089]
    f = [c ** (1 / 3) if c > 0.008856 else 7.787 * c + 16 / 116 for c in (x, y, z)]
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


def test_components_are_told_apart_by_everybody_also_in_grey():
    """Any two of x, y, z, w at least 20 apart in CIELAB, ten times what is just noticed, for every kind of eye."""
    texts = [style.AXES[axis][0] for axis in "xyzw"]
    srgb = [np.array([int(text[k : k + 2], 16) for k in (1, 3, 5)]) / 255 for text in texts]
    linear = [np.where(c <= 0.04045, c / 12.92, ((c + 0.055) / 1.055) ** 2.4) for c in srgb]
    for eye in (np.eye(3), *map(np.array, SEEN)):
        seen = [lightness_and_colour(eye @ c) for c in linear]
        assert min(np.linalg.norm(a - b) for a, b in itertools.combinations(seen, 2)) > 20
    assert len({style.AXES[axis][1] for axis in "xyzw"}) == 4, "lines differ where colours do not"


def rbt_plot(monkeypatch, capsys, *words):
    monkeypatch.setattr(sys, "argv", ["rbt", "plot", *map(str, words)])
    with pytest.raises(SystemExit) as ended:
        cli.main()
    return ended.value.code, capsys.readouterr().out


def test_the_command_writes_every_format_and_tells_what_it_leaves_out(monkeypatch, capsys, tmp_path):
    monkeypatch.chdir(tmp_path)
    words = ("cubesat", "--until", "0.1", "--what", "rates,polhode", "--format", "png,pdf,svg", "--width", 85)
    assert rbt_plot(monkeypatch, capsys, *words)[0] == 0
    heads = {"png": b"\x89PNG", "pdf": b"%PDF", "svg": b"<?xml"}
    for what, (kind, head) in itertools.product(("rates", "polhode"), heads.items()):
        assert (tmp_path / "out" / f"cubesat_{what}.{kind}").read_bytes().startswith(head)
    first = {file: file.read_bytes() for file in (tmp_path / "out").iterdir()}
    rbt_plot(monkeypatch, capsys, *words)
    assert all(file.read_bytes() == data for file, data in first.items()), "the same run gives the same files"
    far = ("cubesat", "--until", "1", "--every", "0.05", "--what", "rates")
    monkeypatch.setattr(sys, "argv", ["rbt", "plot", *far])
    with pytest.raises(SystemExit):
        cli.main()
    warned = r"'cubesat' turns by up to 0.4\d of a turn .* --every \S+ samples it 12 times a turn"
    assert re.search(warned, capsys.readouterr().err)
    code, told = rbt_plot(monkeypatch, capsys, "cubesat", "--until", "0.01", "--out", "all", "--name", "c")
    assert code == 0 and "left out: hinges: cubesat has no positions of hinges" in told
    assert {file.name for file in (tmp_path / "all").iterdir()} == {
        f"c_{what}.png" for what in "attitude rates position energy momentum polhode herpolhode cones".split()
    }


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (("nowhere",), "'nowhere' is neither a YAML file nor a scenario of the package"),
        (("no.csv",), "there is no no.csv; give a bag, a *.csv or *.npz file, or a scenario"),
        (("no.npz",), "there is no no.npz; give a bag"),
        (("cubesat", "--what", "colours"), "--what: there is no 'colours' here; there are hinges, attitude"),
        (("cubesat", "--until", "0.01", "--what", "hinges"), "cubesat has no positions of hinges"),
        (
            ("cubesat", "--until", "0.01", "--format", "jpeg"),
            "--format: there is no 'jpeg' here; there are png, pdf, svg",
        ),
        (("cubesat", "--until", "0.01", "--width", "5"), "--width 5 must lie between 40 and 1000 mm"),
        (
            ("cubesat", "--until", "0.01", "--what", "cones", "--body", "x"),
            "has no rates and inertia of x; it has them",
        ),
        (("cubesat", "--until", "0.01", "--what", "rates", "--body", "x"), "cubesat has no omega_body of x"),
        (("cubesat", "--until", "0.01", "--euler", "ZZ", "--what", "attitude"), "'ZZ' is no Euler sequence"),
        (("cubesat", "--of", "cubesat"), "--of is of tables, files and bags"),
        (("words.csv",), "words.csv has no column 't [s]'"),
        (("header.csv",), "header holds no rows; nothing to draw"),
        (("header.csv", "--until", "3"), "--until is of a scenario, which runs; of header.csv draw a part"),
        (("words.npz",), "words.npz cannot be read as *.npz"),
        (("other.npz",), "other.npz is no run: it has a, ..."),
    ],
)
def test_what_cannot_be_drawn_is_told_with_a_way_out(words, text, monkeypatch, capsys, tmp_path):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "words.csv").write_text("one,two\n1,2\n")
    (tmp_path / "header.csv").write_text("t [s],b.position_x [m]\n")
    (tmp_path / "words.npz").write_text("no archive")
    np.savez(tmp_path / "other.npz", a=np.zeros(3))
    code, _ = rbt_plot(monkeypatch, capsys, *words)
    assert isinstance(code, str) and text in code


def test_balls_turn_as_their_bodies_do(five):
    """w_PC of the elbow, both in world axes: the difference of the bodies' rates."""
    ball = history_of(five).balls["elbow"]
    upper, lower = five.body("upper"), five.body("lower")
    difference = turn_all(lower.quaternion * [1, -1, -1, -1], lower.omega_world - upper.omega_world)
    np.testing.assert_allclose(ball.omega.values, difference, atol=1e-12)
