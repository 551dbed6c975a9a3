"""The Blender script: what it reads and where it puts the camera without Blender; the film itself in `make soak`."""

import importlib.util
import math
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import rbt_ros as rbt
from rbt_ros.bags.convert import convert
from rbt_ros.model.attitude import from_roll_pitch_yaw, matrices
from rbt_ros.model.urdf import urdf_text

TOOLS = Path(__file__).parents[2] / "tools"
SPAN, RATE = 0.5, 24.0


def module():
    spec = importlib.util.spec_from_file_location("blender_film", TOOLS / "blender_film.py")
    loaded = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(loaded)
    return loaded


script = module()


@pytest.fixture(scope="module")
def swing(tmp_path_factory):
    """Half a second of seed 002's chain: the run, its table, its URDF."""
    folder = tmp_path_factory.mktemp("swing")
    sim = rbt.load("five_body").simulation()
    with rbt.Recorder(folder / "bag", sim, outputs={"tf": 1000.0}):
        result = sim.run(until=SPAN, every=1e-3)
    convert(str(folder / "bag"), str(folder / "swing.csv"), layout="blender", frame_rate=RATE)
    (folder / "five_body.urdf").write_text(urdf_text(sim.robot), encoding="utf-8")
    return result, folder


def test_a_frame_shows_the_bodies_where_the_run_had_them(swing):
    """Tables hold 17 digits and TF is in float64: poses relative to parents are put together again, to round-off."""
    result, folder = swing
    motion = script.read_motion(folder / "swing.csv")
    script.check_rate(motion, RATE)
    assert motion.frames == list(range(1, 14)) and set(motion.poses) == {b.name for b in result.robot.bodies}
    for name, poses in motion.poses.items():
        at = [round(t * 1000) for t in motion.times]
        body = result.body(name)
        np.testing.assert_allclose([pose[:3] for pose in poses], body.position[at], atol=1e-14)
        same = np.abs(np.sum([pose[3:] for pose in poses] * body.quaternion[at], axis=1))
        np.testing.assert_allclose(same, 1.0, rtol=1e-14)


def test_bodies_look_as_their_urdf_says(swing):
    result, folder = swing
    visuals = script.read_visuals(folder / "five_body.urdf")
    bodies = script.bodies_to_film(script.read_motion(folder / "swing.csv"), visuals)
    for body in result.robot.bodies:
        for shape, found in zip(body.shapes, bodies[body.name], strict=True):
            assert (found.kind, found.size, found.at) == (shape.kind, shape.size, shape.at)
            assert found.rgb == pytest.approx(shape.rgba[:3])
            turned = np.abs(np.dot(found.quaternion or script.quaternion_of(found.rpy), shape.quaternion))
            assert turned == pytest.approx(1.0, abs=1e-12)


def test_turns_are_those_of_the_textbook():
    rng = np.random.default_rng(5)
    for _ in range(20):
        rpy, v = rng.uniform(-3, 3, 3), rng.normal(size=3)
        q = script.quaternion_of(tuple(rpy))
        R = matrices(np.array([from_roll_pitch_yaw(rpy, "rpy")]))[0]
        np.testing.assert_allclose(script.turned(q, tuple(v)), R @ v, atol=1e-14)


@pytest.mark.parametrize("size", [(640, 360), (360, 640)])
def test_the_camera_sees_all_that_moves(swing, size):
    """Each corner of each shape in each frame lies in the pyramid of the picture, and the picture is not empty."""
    _, folder = swing
    motion = script.read_motion(folder / "swing.csv")
    bodies = script.bodies_to_film(motion, script.read_visuals(folder / "five_body.urdf"))
    middle, radius = script.surroundings(motion, bodies)
    eye = np.array(script.camera_place(middle, radius, size))
    forward = (np.array(middle) - eye) / np.linalg.norm(np.array(middle) - eye)
    right = np.cross(forward, (0, 0, 1)) / np.linalg.norm(np.cross(forward, (0, 0, 1)))
    seen = []
    for name, shapes in bodies.items():
        for pose in motion.poses[name]:
            for corner in (corner for shape in shapes for corner in script.corners(shape)):
                p = np.array(script.added(pose[:3], script.turned(pose[3:], corner))) - eye
                seen.append((p @ right / (p @ forward), p @ np.cross(right, forward) / (p @ forward)))
    widest = np.array([script.SENSOR_MM / 2 / script.LENS_MM * x / max(size) for x in size])
    share = np.abs(seen).max(axis=0) / widest
    assert (share < 1.0).all() and share.max() > 0.3


def table(folder, text):
    file = folder / "table.csv"
    file.write_text(text, encoding="utf-8")
    return file


HEAD = "frame,t [s]," + ",".join(f"b.{part}" for part in script.POSE)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("stamp [ns],t [s]\n", "does not begin with 'frame,t [s]'; make it by rbt convert"),
        ("", "does not begin with 'frame,t [s]'"),
        ("frame,t [s]\n1,0\n", "lacks the column 'BODY.x [m]'"),
        (HEAD.replace(",b.qy", "") + "\n", "lacks the column 'b.qy'"),
        (HEAD + "\n", "has no frames"),
        (HEAD + "\n1,0,0,0,0,1,0,0\n", "line 2: 8 cells under 9 names"),
        (HEAD + "\n1,0,0,0,here,1,0,0,0\n", "line 2: could not convert string to float: 'here'"),
    ],
)
def test_a_table_that_is_none_is_refused(tmp_path, text, words):
    with pytest.raises(script.FilmError) as told:
        script.read_motion(table(tmp_path, text))
    assert words in str(told.value)


def test_a_rate_that_is_not_that_of_the_table_is_refused(swing):
    motion = script.read_motion(swing[1] / "swing.csv")
    with pytest.raises(script.FilmError, match=r"which is not 30 per second; say the --frame-rate of rbt convert"):
        script.check_rate(motion, 30.0)


def test_another_robot_is_refused(tmp_path):
    motion = script.read_motion(table(tmp_path, HEAD + "\n1,0,0,0,0,1,0,0,0\n"))
    urdf = tmp_path / "other.urdf"
    box = '<visual><geometry><box size="1 1 1"/></geometry></visual>'
    urdf.write_text(f'<robot name="r"><link name="c">{box}</link></robot>', encoding="utf-8")
    with pytest.raises(script.FilmError, match="the table has no columns of 'c'; it holds b"):
        script.bodies_to_film(motion, script.read_visuals(urdf))
    urdf.write_text('<robot name="r"><link name="c"/></robot>', encoding="utf-8")
    with pytest.raises(script.FilmError, match="the URDF has none of the bodies b"):
        script.bodies_to_film(motion, script.read_visuals(urdf))


def test_without_blender_the_way_to_it_is_told(swing, capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "bpy", None)
    _, folder = swing
    files = [str(folder / name) for name in ("swing.csv", "five_body.urdf", "film.mp4")]
    assert script.main(files) == 1
    assert "python3.11 -m pip install -r tools/blender.txt" in capsys.readouterr().err


@pytest.mark.soak
@pytest.mark.timeout(3600)
def test_the_film_has_its_frames(swing, tmp_path):
    """In an environment of its own: every frame, of the right size, at its rate; something moves in them."""
    import imageio_ffmpeg

    _, folder = swing
    python = shutil.which("python3.11")
    assert python, "Blender as a module wants python3.11"
    subprocess.run([python, "-m", "venv", tmp_path / "blender"], check=True)
    own = tmp_path / "blender" / "bin" / "python"
    subprocess.run([own, "-m", "pip", "install", "-q", "-r", TOOLS / "blender.txt"], check=True)
    film, size = tmp_path / "film.mp4", (160, 90)
    options = ["--size", "160x90", "--samples", "4"]
    command = [own, TOOLS / "blender_film.py", folder / "swing.csv", folder / "five_body.urdf", film, *options]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    assert f"wrote {film}: 13 frames at 24 per second" in done.stdout
    reader = imageio_ffmpeg.read_frames(str(film))
    about = next(reader)
    frames = [np.frombuffer(frame, np.uint8).reshape(*size[::-1], 3).astype(int) for frame in reader]
    assert (tuple(about["size"]), about["fps"], len(frames)) == (size, RATE, 13)
    moved = [np.abs(after - before).max() for before, after in zip(frames, frames[1:], strict=False)]
    assert min(moved) > 5 and np.abs(frames[-1] - frames[0]).max() > 30  # of 255; measured: 12 and 60
    assert math.isclose(len(frames) / RATE, SPAN, abs_tol=1.5 / RATE)
