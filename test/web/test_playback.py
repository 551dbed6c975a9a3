"""The timeline of a recording, driven by a clock of the test's own."""

import numpy as np
import pytest

import rbt_ros as rbt
from rbt_ros.stream.layout import Layout
from rbt_ros.stream.process import Server
from rbt_ros.web.recording import Recording


@pytest.fixture(scope="module")
def recorded():
    """The CubeSat for 2 s, a frame every 10 ms."""
    return rbt.load("cubesat").simulation().run(until=2.0, every=0.01)


@pytest.fixture
def player(built, recorded, open_page, tmp_path):
    """A page that plays it; its clock stands at `now` [s]."""
    recording = Recording.of(recorded)
    recording.write(tmp_path)
    server = Server(tmp_path, 0)
    page = open_page(server.address)
    page("(window.now = 0, rbt.playback.clock = () => window.now, 1)")
    yield page
    server.close()


def times(page, *walls):
    """Where playback is at these times of the wall."""
    return [page(f"(window.now = {wall}, rbt.playback.tick())") for wall in walls]


def test_it_plays_at_any_rate_without_drift(player):
    """t = t0 + rate · elapsed, to round-off, however often one looks."""
    assert player("[rbt.playback.first, rbt.playback.last]") == [0, 2]
    for rate in (0.05, 0.1, 1, 4):
        player(f"(window.now = 0, rbt.playback.seek(0), rbt.playback.set({{ rate: {rate}, playing: true }}), 1)")
        walls = np.linspace(0.0, min(20.0, 1.9 / rate), 7)
        np.testing.assert_allclose(times(player, *walls), rate * walls, rtol=1e-14, atol=0)


def test_the_bar_shows_what_keys_and_the_command_line_have_set(player, recorded, open_page, tmp_path):
    """--rate of a recording is in its scene; + and - change the number that stands there."""
    shown = "document.querySelector('#timeline input[aria-label=\"×\"]').value"
    assert (player("rbt.playback.rate"), player(shown)) == (1, "1")
    player("(rbt.press('-'), rbt.press('-'))")
    assert (player("rbt.playback.rate"), player(shown)) == (0.25, "0.25")
    (tmp_path / "slow").mkdir()
    recording = Recording.of(recorded)
    recording.scene["rate"] = 0.05
    recording.write(tmp_path / "slow")
    server = Server(tmp_path / "slow", 0)
    page = open_page(server.address)
    assert (page("rbt.playback.rate"), page(shown)) == (0.05, "0.05")
    server.close()


def test_backwards_it_falls_strictly_and_stops_at_the_start(player):
    player("(rbt.playback.seek(1), rbt.playback.set({ backward: true, playing: true }), 1)")
    seen = times(player, 0.0, 0.1, 0.25, 0.5, 0.99)
    assert np.all(np.diff(seen) < 0) and seen[-1] == pytest.approx(0.01)
    assert times(player, 5.0) == [0] and not player("rbt.playback.playing")


def test_it_loops_between_any_start_and_stop_and_keeps_to_its_frames(player):
    player("(rbt.playback.set({ start: 0.5, stop: 1.0, loop: true, playing: true }), 1)")
    player("(rbt.playback.seek(0.5), 1)")
    assert times(player, 0.0, 0.4) == pytest.approx([0.5, 0.9])
    assert times(player, 0.7)[0] == pytest.approx(0.7)
    player("(window.now = 0, rbt.playback.set({ fps: 10, loop: false }), rbt.playback.seek(0.5), 1)")
    assert times(player, 0.0, 0.09, 0.11, 0.29) == pytest.approx([0.5, 0.5, 0.6, 0.7])


def test_the_same_time_is_the_same_picture_and_frames_are_those_of_the_run(player, recorded):
    """A frame is shown to float32; between two the attitude lies on the arc between them."""
    layout = Layout(recorded.robot)
    rows = layout.rows(recorded)
    row = "(rbt.seek({}), [...rbt.layout.part(rbt.row, 'pose')].slice(0, 7))"
    for k in (0, 57, 200):
        np.testing.assert_array_equal(np.float32(player(row.format(float(recorded.t[k])))), rows[k, :7])
    between = np.array(player(row.format(0.505)))[3:]
    a, b = rows[50, 3:7].astype(float), rows[51, 3:7].astype(float)
    middle = (a + np.sign(a @ b) * b) / np.linalg.norm(a + np.sign(a @ b) * b)
    np.testing.assert_allclose(np.abs(middle @ between), 1.0, atol=1e-7)
    first = player("rbt.film(0.505)")
    assert player("(rbt.film(1.2), rbt.film(0.505))") == first and player("rbt.t") == 0.505


def test_of_a_long_recording_the_frame_itself_is_shown_where_it_stands(built, open_page, tmp_path):
    """10 001 frames: the page has 4000 of them, and fetches all around where one looks; then steps are of one frame."""
    one = rbt.load("cubesat").simulation().run(until=0.01, every=0.01)
    t = np.arange(10_001) * 1e-3
    rows = np.repeat(Layout(one.robot).rows(one)[:1], len(t), axis=0)
    rows[:, 0] = np.arange(len(t)) % 7  # what lies between the frames of the overview is not on a line
    Recording(Recording.of(one).scene, t, rows).write(tmp_path)
    server = Server(tmp_path, 0)
    page = open_page(server.address)
    page(f"rbt.seek({t[5003]!r})")
    page.wait(f"rbt.row[0] === {5003 % 7}")
    page("rbt.press('.')")
    assert page("[rbt.t, rbt.row[0]]") == [t[5004], 5004 % 7]
    page(f"rbt.seek({t[6500]!r})")  # beyond what is near by; the next is fetched before it is needed
    page.wait(f"rbt.row[0] === {6500 % 7}")
    page(f"rbt.seek({t[6500] + 0.75 * page('rbt.source.share')!r})")
    page.wait("rbt.source.detail.last > rbt.t + 0.9 * rbt.source.share")
    server.close()


def test_one_frame_on_and_back(player, recorded):
    player("rbt.seek(0.5)")
    player.page.keyboard.press(".")
    assert player("rbt.t") == pytest.approx(0.51)
    player.page.keyboard.press(",")
    player.page.keyboard.press(",")
    assert player("rbt.t") == pytest.approx(0.49)
    player.page.keyboard.press("Space")
    assert player("rbt.playback.playing")
