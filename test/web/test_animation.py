"""Animations: every body where its own series says, at any time; the examples; what is refused."""

import importlib.util
import itertools
import re
import subprocess
import threading
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from imageio_ffmpeg import get_ffmpeg_exe

import rbt_ros as rbt
from rbt_ros.errors import ModelError, ScenarioError
from rbt_ros.model.attitude import turn_all
from rbt_ros.web.animation import Animation, Series, arrows, box, colour, cone, cubesat_3u, facets, given, shape

EXAMPLES = Path(__file__).parents[2] / "examples"


def rows(animation, folder):
    """(t, {name: (N, 10) of p, q, w}) as it is played."""
    recording = animation.recording(folder)
    poses = recording.rows.reshape(len(recording.t), -1)[:, : 10 * len(recording.scene["bodies"])]
    names = [body["name"] for body in recording.scene["bodies"]]
    return recording, dict(zip(names, poses.reshape(len(recording.t), -1, 10).transpose(1, 0, 2), strict=True))


def drawing(what):
    """An animation that is told not to draw something."""
    show = Animation("a").add("b", given([0, 1], [[0, 0, 0], [1, 0, 0]]))
    show.draw = {what: False}
    return show


def filmed(camera):
    """An animation with that camera."""
    show = Animation("a").add("b", given([0, 1], [[0, 0, 0], [1, 0, 0]]))
    show.camera = camera
    return show


def test_bodies_move_by_their_own_times(tmp_path):
    """The union of all times; between its own a body goes straight and turns evenly, outside it stands still."""
    show = Animation("two")
    show.add("a", given([0.0, 1.0, 2.0], [[0, 0, 0], [1, 0, 0], [4, 0, 0]]))
    show.add("b", given([0.5, 1.5], euler=("XYZ", [[0, 0, 0], [0, 0, 1.0]])))
    recording, seen = rows(show, tmp_path)
    np.testing.assert_array_equal(recording.t, [0, 0.5, 1, 1.5, 2])
    np.testing.assert_allclose(seen["a"][:, 0], [0, 0.5, 1, 2.5, 4])
    np.testing.assert_allclose(2 * np.arctan2(seen["b"][:, 6], seen["b"][:, 3]), [0, 0, 0.5, 1, 1], atol=1e-6)
    assert recording.scene["play"] == {"rate": 1.0, "fps": 30.0, "backward": False, "show": {}}


def test_inverse_and_transforms(tmp_path):
    q = [[np.cos(0.3), 0, 0, np.sin(0.3)]] * 2
    show = Animation("turned").add("plain", given([0, 1], quaternion=q))
    show.add("inverse", given([0, 1], quaternion=q), inverse=True)
    show.add("shifted", given([0, 1], quaternion=q), transform=lambda t, p, q: (p + [0, 0, 5], q))
    _, seen = rows(show, tmp_path)
    np.testing.assert_allclose(seen["inverse"][:, 3:7], np.float32(q) * [1, -1, -1, -1], rtol=1e-6)
    np.testing.assert_allclose(seen["shifted"][:, 2], 5)


def test_results_and_functions_are_motions(tmp_path):
    result = rbt.load("five_body").simulation().run(until=0.1, every=0.05)
    show = (
        Animation("five").add("tee", result, body="tee").add("made", lambda: given([0.0, 0.1], [[0, 0, 0], [1, 1, 1]]))
    )
    _, seen = rows(show, tmp_path)
    np.testing.assert_allclose(seen["tee"][:, :3], result.body("tee").com, atol=1e-6)
    lab = rbt.simulate(rbt.RigidBody(inertia=(1, 2, 3)), omega_b=(1, 0.1, 0), duration=0.1)
    _, seen = rows(Animation("lab").add("b", lab), tmp_path)
    np.testing.assert_allclose(seen["b"][-1, 3:7], lab.quaternion[-1], atol=1e-6)


def test_bodies_come_and_go(tmp_path, open_page):
    show = Animation("guests").add("late", given([0, 1], [[0, 0, 0], [1, 0, 0]]), start=0.5)
    show.add("early", None, arrows(0.2)).remove("early", at=0.4)
    show.save(tmp_path / "guests.html")
    page = open_page((tmp_path / "guests.html").as_uri())
    there = (
        "(rbt.playback.set({{ playing: false }}), rbt.seek({}), rbt.stage.bodies.map(({{ group }}) => group.visible))"
    )
    assert [page(there.format(t)) for t in (0.1, 0.45, 0.7)] == [[False, True], [False, False], [True, False]]
    assert page("rbt.stage.bodies[1].shapes.children.length") == 3


def test_frames_of_a_film_are_equally_apart_and_backward_they_fall():
    show = Animation("slow", time_scaling=0.05, fps=25).add("a", given([0, 1], [[0, 0, 0], [1, 0, 0]]))
    times = show.times()
    np.testing.assert_allclose(np.diff(times), 0.05 / 25, rtol=1e-9)
    assert len(times) == 501 and times[-1] == pytest.approx(1.0)
    show.backward = True
    np.testing.assert_array_equal(show.times(), times[::-1])


def test_a_camera_along_a_path(tmp_path, open_page):
    show = Animation("camera").add("a", given([0, 1], [[0, 0, 0], [1, 0, 0]]))
    show.camera = [(0, 5, 0, 0, 0, 0, 0), (1, 0, 5, 0, 0, 0, 0)]
    show.save(tmp_path / "camera.html")
    page = open_page((tmp_path / "camera.html").as_uri())
    where = page("(rbt.playback.set({ playing: false }), rbt.seek(0.5), rbt.stage.camera.position.toArray())")
    assert where == pytest.approx([2.5, 2.5, 0])


def test_a_camera_is_a_function_of_time(tmp_path):
    show = Animation("camera").add("a", given([0, 2], [[0, 0, 0], [1, 0, 0]]))
    show.camera = lambda t: ((5 - t, t, 1), (0, 0, 0))
    path = show.recording(tmp_path).scene["camera"]
    assert (path[0][0], path[-1][0]) == (0, 2)
    assert all(row == [t := row[0], *(5 - t, t, 1), *(0, 0, 0)] for row in path)


def test_play_shows_it_until_it_is_told(built, capfd):
    ended = threading.Event()
    ended.set()
    Animation("shown").add("a", given([0, 1], [[0, 0, 0], [1, 0, 0]])).play(port=0, browser=False, until=ended)
    assert "view: http://127.0.0.1:" in capfd.readouterr().out


def example(name):
    """A demonstration of the toolbox."""
    spec = importlib.util.spec_from_file_location(name, EXAMPLES / f"animation_{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_cones_of_the_precession_touch_along_omega(tmp_path):
    """ω lies on the body's cone and on that of space at every instant: its angles with both axes are constant."""
    module = example("precession")
    recording, seen = rows(module.animation(), tmp_path)
    q, w = seen["disc"][:, 3:7].astype(float), seen["disc"][:, 7:].astype(float)
    unit = w / np.linalg.norm(w, axis=1, keepdims=True)
    L = module.OMEGA * [module.IX, module.IX, module.IZ]
    about = {"body": turn_all(q, np.tile([0.0, 0.0, 1.0], (len(q), 1))), "space": L / np.linalg.norm(L)}
    first = module.OMEGA / np.linalg.norm(module.OMEGA)
    # rates are differences of float32 attitudes: 1e-7 over a sample of 5 ms is 2e-5 of ω; the chord of the arc is less
    np.testing.assert_allclose(np.sum(unit * about["body"], axis=1), first[2], atol=2e-3)
    np.testing.assert_allclose(unit @ about["space"], first @ about["space"], atol=2e-3)
    assert recording.t[-1] == 10


def test_the_cubesat_keeps_its_arrows_and_those_of_the_world_stand_still(tmp_path):
    """The toolbox's three premises: one set turns with the satellite, the other stands, and they never meet again."""
    show = example("cubesat").animation()
    recording, seen = rows(show, tmp_path)
    assert show.times()[-1] == pytest.approx(0.5) and len(show.times()) == 301, "20 times slower, 30 pictures a second"
    assert np.ptp(seen["world"], axis=0).max() == 0
    axes = [shape["kind"] for shape in recording.scene["bodies"][0]["shapes"]].count("arrow")
    assert axes == 3, "in the satellite's own frame"
    angle = 2 * np.arccos(np.minimum(1, np.abs(seen["satellite"][:, 3])))
    assert angle[0] == 0 and angle[10:].min() > 0.2


def test_the_spheres_go_as_the_toolbox_says(tmp_path):
    """Its Eq. 3.7: 3 sin(2π t/5); the third on a circle around x, turning about z in 10 s."""
    show = example("spheres").animation()
    recording, seen = rows(show, tmp_path)
    r, c = 3 * np.sin(2 * np.pi * recording.t / 5), 3 * np.cos(2 * np.pi * recording.t / 5)
    none = 0 * recording.t
    for name, way in (("along x", (r, none, none)), ("along y", (none, r, none)), ("around x", (none, r, c))):
        np.testing.assert_allclose(seen[name][:, :3], np.column_stack(way), atol=1e-6)
    yaw = np.pi * recording.t / 5
    turned = np.abs(seen["around x"][:, 3] * np.cos(yaw / 2) + seen["around x"][:, 6] * np.sin(yaw / 2))
    np.testing.assert_allclose(turned, 1, atol=1e-6)


def pictures(film):
    """(size, frames per second, {frame: how often}) of a film, told by ffmpeg."""
    told = subprocess.run([get_ffmpeg_exe(), "-i", film], capture_output=True, text=True, check=False).stderr
    size, fps = re.search(r"Video: .* (\d+x\d+)[ ,].* ([\d.]+) fps", told).groups()
    command = [get_ffmpeg_exe(), "-v", "error", "-i", film, "-f", "framemd5", "-"]
    sums = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return size, float(fps), Counter(line.split(",")[-1] for line in sums.splitlines() if not line.startswith("#"))


@pytest.mark.parametrize(("suffix", "fps"), [(".mp4", 24), (".gif", 25)])  # a GIF counts hundredths of a second
def test_an_animation_is_saved_as_a_film_with_every_frame(chromium_path, suffix, fps, tmp_path):
    show = Animation("film", time_scaling=0.5, fps=fps).add("a", given([0, 0.25], [[0, 0, 0], [1, 0, 0]]))
    done = []
    show.save(tmp_path / f"film{suffix}", size=(320, 180), progress=done.append)
    size, rate, frames = pictures(tmp_path / f"film{suffix}")
    count = round(0.25 / 0.5 * fps) + 1
    assert (size, rate) == ("320x180", fps)
    assert sum(frames.values()) == len(frames) == count == len(done), "as many as there should be, no two alike"


def test_an_animation_is_saved_as_a_strip_of_pictures(chromium_path, tmp_path):
    """Four beside each other, each another one, with a body in it and its own time."""
    from PIL import Image

    show = Animation("strip").add("a", given([0, 1], [[0, 0, 0], [1, 0, 0]]))
    show.save(tmp_path / "strip.png", size=(320, 180))
    with Image.open(tmp_path / "strip.png") as strip:
        assert strip.size == (1280, 180)
        parts = [np.asarray(strip.crop((320 * k, 0, 320 * k + 320, 180))).astype(int) for k in range(4)]
    for a, b in itertools.combinations(parts, 2):
        assert np.abs(a - b).max() > 50
    assert all(np.ptp(part, axis=(0, 1)).max() > 50 for part in parts)


def test_the_frames_are_pictures_to_work_with(chromium_path):
    """As many as a film has, backward in the other order."""
    show = Animation("frames", fps=4).add("a", given([0, 0.5], [[0, 0, 0], [1, 0, 0]]))
    frames = show.frames(size=(320, 180))
    assert frames.shape == (3, 180, 320, 3) and frames.dtype == np.uint8
    assert all(np.abs(a.astype(int) - b).max() > 50 for a, b in itertools.combinations(frames, 2))
    show.backward = True
    np.testing.assert_array_equal(show.frames(size=(320, 180)), frames[::-1])


@pytest.mark.parametrize(
    ("make", "error", "words"),
    [
        (lambda: Animation("a", time_scaling=0), ScenarioError, "time_scaling 0 must lie between 0.001 and 1000"),
        (lambda: Animation("a", fps=0), ScenarioError, "fps 0 must lie between 0.1 and 1000"),
        (
            lambda: drawing("shadows").recording(Path()),
            ScenarioError,
            "draw has no 'shadows'; it has bodies, trails, grid",
        ),
        (lambda: filmed([(0, 1, 2, 3)]).recording(Path()), ScenarioError, "camera must be rows of 7 numbers: t, eye"),
        (lambda: filmed([(0, *[1] * 6)] * 2).recording(Path()), ScenarioError, "camera: .* times must rise"),
        (lambda: filmed(5).recording(Path()), ScenarioError, "camera must be rows of 7 numbers: t, eye"),
        (lambda: filmed(lambda t: 7).recording(Path()), ScenarioError, "or f\\(t\\) that gives both"),
        (lambda: filmed(()).frames(size=(0, 5)), ScenarioError, "size \\(0, 5\\) must be \\(width, height\\)"),
        (lambda: Animation("a").add("b", None, box((1, 1, 1))), ModelError, "shapes of body 'b' must be a list of box"),
        (lambda: Animation("a").add("b", None, [1]), ModelError, "shapes of body 'b' must be a list of box"),
        (lambda: Animation("a").add("b", start="now"), ModelError, "start: 'now' is neither a number"),
        (lambda: Animation("a").add("b").remove("b", at="x"), ModelError, "at: 'x' is neither a number"),
        (
            lambda: Animation("a").add("b", transform=lambda t, p, q: 7),
            ModelError,
            "transform of body 'b' must give \\(position, quaternion\\), not 7",
        ),
        (lambda: box((1, 2)), ModelError, "shape: the size of a box is \\(x, y, z\\), .*; not \\(1, 2\\)"),
        (lambda: box((1, -2, 3)), ModelError, "each above zero; not \\(1, -2, 3\\)"),
        (lambda: cone("wide", 1), ModelError, "size of a cone"),
        (lambda: Animation("a").span, ModelError, "animation 'a' has nothing that moves"),
        (lambda: Animation("a").remove("b"), ModelError, "has no body 'b'; it has none"),
        (lambda: Animation("a").add("b").add("b"), ModelError, "body 'b' is there already; remove it first"),
        (lambda: Animation("a").add("b", 7), ModelError, "motion 7 is no Result, LabResult, given"),
        (lambda: given([0, 1], [[0, 0, 0]]), ModelError, "must be \\(N,\\), \\(N, 3\\), \\(N, 4\\)"),
        (lambda: given([0, 0], [[0, 0, 0]] * 2), ModelError, "times must rise"),
        (lambda: given([0], quaternion=[[0, 0, 0, 0]]), ModelError, "a quaternion is zero"),
        (lambda: facets([[0, 0, 0]], [[0, 1, 2]]), ModelError, "faces name vertices 0 to 2, and there are 1"),
        (lambda: facets([[0, 0, 0]], [[0, 1]]), ModelError, "must be \\(M, 3\\) whole numbers"),
    ],
)
def test_what_no_animation_can_be_is_refused(make, error, words):
    with pytest.raises(error, match=words):
        make()


def test_shapes_of_the_toolbox():
    assert [part["kind"] for part in cubesat_3u()] == ["box"] * 3
    assert len(shape("capsule", (0.1, 0.4), at=(1, 0, 0))["vertices"]) == 434  # 12 rings of 36, two tips
    assert cone(0.5, 1.0)["size"] == [0.5, 1.0] and isinstance(given([0.0]), Series)
    assert len({colour(k) for k in range(8)}) == 8
    tetrahedron = facets([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 2]], [[0, 1, 2], [0, 1, 3], [1, 2, 3], [0, 2, 3]])
    assert tetrahedron["size"] == [1, 1, 2] and len(tetrahedron["facets"]) == 4
