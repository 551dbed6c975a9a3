"""Runs as one file: what is in it is shown offline; films have the frames, rate and size that were asked for."""

import re
import subprocess

import numpy as np
import pytest

import rbt_ros as rbt
from rbt_ros.errors import ScenarioError, SetupError
from rbt_ros.stream.layout import Layout
from rbt_ros.stream.scene import described, strays
from rbt_ros.web import export
from rbt_ros.web.recording import Recording

TRIANGLE = (
    "solid t\nfacet normal 0 0 0\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nvertex 0 1 0\nendloop\nendfacet\nendsolid\n"
)


@pytest.fixture(scope="module")
def result():
    return rbt.load("cubesat").simulation().run(until=0.5, every=0.01)


def test_a_run_in_one_file_asks_nobody_and_shows_its_frames(built, result, open_page, tmp_path):
    name = "a </script> <!--<script> ]]> &lt; b"  # what ends a script, and what would keep it from ending
    export.write_html(Recording.of(result, name), tmp_path / "run.html")
    page = open_page((tmp_path / "run.html").as_uri())
    assert page.requests == [(tmp_path / "run.html").as_uri()]
    assert page.page.title() == f"{name} – rbt view"
    rows = Layout(result.robot).rows(result)
    for k in (0, 13, 50):
        shown = page(f"(rbt.seek({float(result.t[k])!r}), [...rbt.row])")
        np.testing.assert_array_equal(np.float32(shown)[:7], rows[k, :7])
    page("(rbt.tab('plots'), rbt.stage.stereo.mode = 'anaglyph', rbt.stage.draw(), 1)")
    assert page("rbt.plots.slots[0].chart.data[0].length") == 51


def test_meshes_travel_in_the_file(built, open_page, tmp_path):
    (tmp_path / "t.stl").write_text(TRIANGLE)
    shapes = [dict(kind="mesh", file=str(tmp_path / "t.stl"))]
    robot = rbt.RobotBuilder("m").body("m", mass=1.0, inertia=(1, 1, 1), shapes=shapes).build()
    export.write_html(Recording.of(rbt.Simulation(robot).run(until=0.01)), tmp_path / "m.html")
    (tmp_path / "t.stl").unlink()
    page = open_page((tmp_path / "m.html").as_uri())
    page.wait("rbt.stage.bodies[0].shapes.children[0].children.length === 1")
    assert page("rbt.stage.bodies[0].shapes.children[0].userData.placeholder") is None


@pytest.fixture
def elsewhere(tmp_path):
    """recording(name) of a robot in tmp_path/given whose mesh has that name; a secret file lies beside that folder."""
    (tmp_path / "secret").mkdir()
    (tmp_path / "secret" / "key.stl").write_text(TRIANGLE)
    (tmp_path / "given" / "meshes").mkdir(parents=True)
    (tmp_path / "given" / "meshes" / "own.stl").write_text(TRIANGLE)

    def recording(name):
        shapes = [dict(kind="mesh", file=name)]
        robot = rbt.RobotBuilder("m").body("hub", mass=1.0, inertia=(1, 1, 1), shapes=shapes).build()
        made = Recording.of(rbt.Simulation(robot).run(until=0.01))
        return Recording(described(robot, folder=tmp_path / "given"), made.t, made.rows)

    return recording


@pytest.mark.parametrize(
    ("name", "link", "target"),
    [
        ("logo.stl", "given/logo.stl", "secret/key.stl"),  # the file is a link
        ("looks/key.stl", "given/looks", "secret"),  # a folder on the way is one
        ("../looks/key.stl", "looks", "/"),  # also beside the folder of the scenario
        ("{tmp}/looks/key.stl", "looks", "secret"),  # also by an absolute name
    ],
)
def test_a_mesh_that_is_a_link_to_elsewhere_is_not_exported(built, elsewhere, tmp_path, name, link, target):
    """A scenario of strangers would send what they have no right to read to whom the export is given."""
    where = tmp_path / "secret" if target == "/" else tmp_path / target
    if target == "/":
        where = tmp_path.parent / f"{tmp_path.name}-apart"
        where.mkdir()
        (where / "key.stl").write_text(TRIANGLE)
    (tmp_path / link).symlink_to(where)
    recording = elsewhere(name.format(tmp=tmp_path))
    with pytest.raises(ScenarioError, match=r"body 'hub': mesh .* is a link that leads to .*, outside of .*; copy"):
        export.write_html(recording, tmp_path / "out.html")
    assert not (tmp_path / "out.html").exists()


def test_links_within_the_folder_of_the_scenario_are_exported(built, elsewhere, tmp_path):
    (tmp_path / "given" / "logo.stl").symlink_to("meshes/own.stl")
    (tmp_path / "linked").symlink_to("given")
    for name in ("logo.stl", "meshes/own.stl", "../secret/key.stl", f"file://{tmp_path}/secret/key.stl"):
        export.write_html(elsewhere(name), tmp_path / "out.html")
        assert "data:model/stl;base64" in (tmp_path / "out.html").read_text()
    shapes = [dict(kind="mesh", file="logo.stl")]
    robot = rbt.RobotBuilder("m").body("hub", mass=1.0, inertia=(1, 1, 1), shapes=shapes).build()
    assert strays(described(robot, folder=tmp_path / "linked")) == []


def test_a_film_has_its_frames(chromium_path, result, tmp_path):
    """As many, of that size, at that rate, no two alike; told by ffmpeg itself."""
    from imageio_ffmpeg import get_ffmpeg_exe

    film, done = tmp_path / "film.mp4", []
    export.write_film(
        Recording.of(result), film, times=np.linspace(0, 0.5, 12), fps=24, size=(320, 180), progress=done.append
    )
    told = subprocess.run([get_ffmpeg_exe(), "-i", film], capture_output=True, text=True, check=False).stderr
    assert re.search(r"Video: h264.* 320x180.* 24 fps", told)
    command = [get_ffmpeg_exe(), "-v", "error", "-i", film, "-f", "framemd5", "-"]
    sums = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    frames = [line.split(",")[-1] for line in sums.splitlines() if not line.startswith("#")]
    assert len(frames) == len(set(frames)) == 12
    assert done[-1] == 1.0 and done == sorted(done)


def test_what_cannot_be_filmed_is_told(result, tmp_path, monkeypatch):
    recording = Recording.of(result)
    with pytest.raises(ScenarioError, match=r"film.avi is none of \*.html, \*.mp4, \*.gif, \*.png"):
        export.write_film(recording, tmp_path / "film.avi", times=[0])
    with pytest.raises(ScenarioError, match="size 321 x 180: films want even numbers of pixels"):
        export.write_film(recording, tmp_path / "film.mp4", times=[0], size=(321, 180))
    with pytest.raises(ScenarioError, match="cannot be written .No such file or directory.; give a file in a folder"):
        export.write_film(recording, tmp_path / "no" / "film.mp4", times=[0])
    monkeypatch.setattr(export.shutil, "which", lambda name: None)
    with pytest.raises(SetupError, match="there is none here: sudo apt install chromium"):
        export.browser_path()
    with pytest.raises(ScenarioError, match="cannot be written"):
        export.write_html(recording, tmp_path / "no" / "run.html")
