"""The page in a real browser. What is shown is compared with the simulation; time passes as the tests say."""

import base64
import io

import numpy as np
import pytest

import rbt_ros as rbt
from rbt_ros.model.scenario import scenario_from_text

DISPLAYED = """(name => { const made = rbt.stage.bodies.find(({ body }) => body.name === name).group;
    made.updateWorldMatrix(true, false); const { x, y, z, w } = made.quaternion;
    return [...made.position.toArray(), w, x, y, z]; })"""
HIGH = """
rbt: 1
robot:
  name: swing
  bodies: {seat: {mass: 1 kg, inertia: [0.01, 0.01, 0.01], shapes: [{kind: sphere, size: [0.1]}]}}
  ropes: {line: {bodies: [world, seat], at_a: [0, 0, 2], length: 2 m}}
"""
TWINS = """
rbt: 1
robot:
  name: twins
  bodies: {one: {mass: 1 kg, inertia: [1, 1, 1]}, other: {mass: 1 kg, inertia: [1, 1, 1]}}
"""
ONE = "rbt: 1\nrobot: {name: m, bodies: {m: {mass: 1 kg, inertia: [1, 1, 1], shapes: [%s]}}}"
TOLD = "(key => rbt.settings.controls.find((control) => control.key === key))"


def picture(page, script="rbt.stage.draw()"):
    """The canvas as (height, width, 3) of 0 to 255."""
    from PIL import Image

    uri = page(f"({script}, rbt.stage.renderer.domElement.toDataURL('image/png'))")
    image = Image.open(io.BytesIO(base64.b64decode(uri.partition(",")[2])))
    return np.asarray(image.convert("RGB")).astype(int)


def test_the_first_state_is_shown_before_anything_moves(run, open_page):
    r = run("five_body", paused=True)
    page = open_page(r.address)
    sample = r.live.sim.sample()
    for i, body in enumerate(r.live.sim.robot.bodies):
        shown = page(f"{DISPLAYED}('{body.name}')")
        expected = [*sample.pose[i, 4:], *sample.pose[i, :4]]
        np.testing.assert_array_equal(np.float32(shown), np.float32(expected))
    assert len(np.unique(picture(page).reshape(-1, 3), axis=0)) > 100  # the canvas is not blank
    assert page.warnings == []


def test_the_displayed_pose_is_that_of_the_simulation_at_that_time(run, open_page):
    """To float32, at the t that stands on the page; the title of the page names the scenario."""
    r = run("cubesat")
    page = open_page(r.address)
    for _ in range(3):
        r.until(page, f"rbt.t > {r.live.sim.t_ns * 1e-9}", 0.017)
        r.until(page, f"Math.abs(rbt.t - {r.live.sim.t_ns * 1e-9}) < 1e-9")
        sample = r.live.sim.sample()
        shown = np.float32(page(f"{DISPLAYED}('cubesat')"))
        np.testing.assert_array_equal(shown, np.float32([*sample.pose[0, 4:], *sample.pose[0, :4]]))
    assert page("document.getElementById('time').textContent") == f"t = {r.live.sim.t_ns * 1e-9:.3f} s"
    assert page.page.title() == "cubesat – rbt view"


def test_keys_pause_step_and_reset_the_simulation(run, open_page):
    r = run("cubesat")
    page = open_page(r.address)
    press = page.page.keyboard.press
    r.until(page, "rbt.t > 0.01", 0.017)
    press("Space")
    r.until(page, "rbt.paused")
    tick = r.live.sim.tick
    r.live.turn(1e9)
    assert r.live.sim.tick == tick
    press(".")
    r.until(page, f"rbt.source.tick === {tick + 1}")
    press("r")
    r.until(page, "rbt.source.tick === 0")
    assert r.live.sim.digest() == rbt.load("cubesat").simulation().digest()
    press("Space")
    r.until(page, "!rbt.paused")
    press("-")
    r.until(page, f"{TOLD}('rate').value === 0.5")
    assert r.live.rate == 0.5


def test_hinges_are_locked_and_unlocked_in_the_panel(run, open_page):
    r = run("five_body", paused=True)
    page = open_page(r.address)
    page.page.click("[data-tab=set]")
    for key in ("wrist.mode", "elbow.mode"):
        select = page.page.locator(f"[data-key='{key}'] select")
        assert "locked" in select.locator("option").all_inner_texts()
        select.select_option("locked")
        r.until(page, f"{TOLD}('{key}').value === 'locked'")
    assert set(r.live.sim.sample().locked) == {"wrist", "elbow"}
    page.page.locator("[data-key='wrist.mode'] select").select_option("position")
    r.until(page, f"{TOLD}('wrist.mode').refused !== ''")
    assert "position needs a gain" in page.page.locator("[data-key='wrist.mode'] .refused").inner_text()
    page.page.locator("[data-key='elbow.mode'] select").select_option("free")
    r.until(page, f"{TOLD}('elbow.mode').value === 'free'")
    assert r.live.sim.sample().locked == ("wrist",)


def test_controls_act_on_the_simulation_and_refusals_stand_beside_them(run, open_page):
    r = run("cubesat", paused=True)
    page = open_page(r.address)
    page.page.click("[data-tab=set]")

    def fill(key, *values):
        boxes = page.page.locator(f"[data-key='{key}'] input[type=number]").all()
        for box, value in zip(boxes, values, strict=True):
            box.fill(str(value))
            box.press("Tab")

    fill("push.force", 0.1, 0.2, 0.3)
    fill("friction.external", 0.25)
    fill("body.mass", 5)
    page.page.select_option("[data-key=integrator] select", "dop853")
    page.page.select_option("[data-key=stabilise] select", "projection")
    fill("step_size", 0.0005)
    r.until(page, f"{TOLD}('step_size').value === 0.0005 && {TOLD}('body.mass').value === 5")
    sim = r.live.sim
    assert sim.sample().load[0, 8:11].tolist() == [0.1, 0.2, 0.3]
    assert (sim.integrator, sim.stabilise.method, sim.h_ns) == ("dop853", "projection", 500_000)
    assert sim.robot.model.freedom[0, 2] == 0.25 and sim.robot.mass != 5
    page.page.click("[data-key=reset] button")
    r.until(page, "rbt.scene.bodies[0].mass === 5")
    assert r.live.sim.robot.mass == 5
    fill("body.mass", 500)
    r.until(page, f"{TOLD}('body.mass').refused !== ''")
    beside = page("document.querySelector('[data-key=\"body.mass\"] .refused').textContent")
    assert beside == "Mass: 500 must be a number from 0.1 to 100 kg."
    assert r.live.sim.robot.mass == 5
    units = page("[...document.querySelectorAll('#set .row')].map((row) => [row.dataset.key, row.title])")
    assert ["body.mass", "0.1 to 100 kg"] in units


def test_the_polhode_lies_on_both_quadrics(still):
    """Σ I ω² = 2E and Σ I² ω² = L² for every point, to the float32 of the ω that came."""
    page = still
    page("rbt.press('o')")
    page("rbt.stage.update(rbt.t, rbt.row)")
    curve = np.array(page("rbt.stage.poinsot.curve"))
    moments = np.array(page("rbt.scene.bodies[0].moments"))
    sample = still.live.sim.sample()
    L = np.linalg.norm(sample.angular_momentum_com)
    np.testing.assert_allclose(curve**2 @ moments, 2 * sample.energy.kinetic, rtol=1e-6)
    np.testing.assert_allclose(np.linalg.norm(curve * moments, axis=1), L, rtol=1e-6)
    assert len(curve) == 241 and np.array_equal(curve[0], curve[-1])
    np.testing.assert_allclose(page("rbt.stage.poinsot.axes"), np.sqrt(2 * sample.energy.kinetic / moments), rtol=1e-6)
    drawn = "rbt.stage.poinsot"
    assert page(f"{drawn}.polhode.visible && {drawn}.ellipsoid.visible && {drawn}.plane.visible")
    assert np.any(picture(page) != picture(page, "rbt.press('o'), rbt.stage.draw()"))


# ------------------------------------------------------------------------------------------------------------- stereo

PROBE = """(share => { const { stage } = rbt; const ahead = stage.orbit.target.clone().sub(stage.camera.position);
    const point = stage.camera.position.clone().addScaledVector(ahead, share).toArray();
    stage.draw(); const [left, right] = stage.stereo.seen(point); return right - left; })"""


def test_stereo_has_no_parallax_at_the_focus_and_the_right_signs_before_and_behind(still):
    """By similar triangles: parallax on the screen = s (d - f)/d of its half width f tan(fov/2): exact to round-off."""
    page = still
    page("(rbt.stage.stereo.mode = 'anaglyph', 1)")
    near, at, far = (page(f"{PROBE}({share})") for share in (0.5, 1.0, 2.0))
    assert abs(at) < 1e-12 and near < 0 < far
    page("(rbt.stage.stereo.focusShare = 0.5, 1)")
    nearer = page(f"{PROBE}(0.5)"), page(f"{PROBE}(1.0)")
    page("(Object.assign(rbt.stage.stereo, { mode: 'off', focusShare: 1 }), 1)")
    assert abs(nearer[0]) < 1e-12 and nearer[1] > 0


def test_both_halves_are_one_picture_where_the_eyes_are_not_apart(run, open_page):
    page = open_page(run("cubesat", paused=True).address, width=1281)  # panel of 330: an odd canvas, too
    page("rbt.manual = true")
    width = page("document.getElementById('canvas').width") // 2
    for mode in ("side by side", "cross-eyed"):
        page(f"(rbt.stage.stereo.mode = '{mode}', rbt.stage.stereo.separation = 0.06, 1)")
        apart = picture(page)
        assert np.any(apart[:, :width] != apart[:, -width:])
        page("(rbt.stage.stereo.separation = 0, 1)")
        same = picture(page)
        different = np.any(same[:, :width] != same[:, -width:], axis=2).mean()
        assert different < 0.02  # edges, where half a pixel is left over
        if mode == "side by side":
            eyes = apart
    assert np.mean(eyes[:, :width] != apart[:, -width:]) < 0.02  # cross-eyed has them the other way round


def test_red_is_the_left_eye(run, open_page):
    """A white body before the focus: the left eye (red) sees it farther to the right than the right eye (cyan)."""
    scenario = scenario_from_text(
        "rbt: 1\nrobot: {name: b, bodies: {b: {mass: 1 kg, inertia: [1, 1, 1], shapes: "
        "[{kind: sphere, size: 0.3 m, rgba: [1, 1, 1, 1]}]}}}"
    )
    page = open_page(run(scenario, paused=True).address)
    page("rbt.manual = true")
    page(
        "(rbt.setTheme('dark'), "
        "Object.keys(rbt.stage.show).forEach((key) => { rbt.stage.show[key] = key === 'bodies'; }), 1)"
    )
    page("(Object.assign(rbt.stage.stereo, { mode: 'anaglyph', separation: 0.1, focusShare: 1.6 }), 1)")
    page("rbt.stage.update(rbt.t, rbt.row)")
    image = picture(page)
    columns = np.arange(image.shape[1])
    red, cyan = ((image[..., k] > 110).sum(axis=0) for k in (0, 2))
    assert red.sum() > 1000 and cyan.sum() > 1000
    assert (red @ columns) / red.sum() > (cyan @ columns) / cyan.sum() + 5


def test_a_headset_shows_the_world_upright(run, open_page, headset):
    """An emulated one: two views of the world, whose z is up there as its y."""
    r = run("cubesat", paused=True)
    page = open_page(r.address, before=headset)
    page.wait(
        "document.getElementById('VRButton') !== null && !/NOT/.test(document.getElementById('VRButton').textContent)"
    )
    page.page.click("#VRButton")
    page.wait("rbt.stage.renderer.xr.isPresenting")
    page.wait("rbt.stage.world.rotation.x !== 0")
    assert page("rbt.stage.world.rotation.x") == -np.pi / 2
    page.wait("rbt.stage.renderer.xr.getCamera().cameras.length === 2")


# ---------------------------------------------------------------------------------------------------- hands and looks


def test_a_click_picks_a_body_and_shows_its_numbers(run, open_page):
    r = run("five_body", paused=True)
    page = open_page(r.address)
    page("rbt.loop()")
    assert "upper" in page("document.getElementById('readout').textContent")
    where = """(name => { const { stage } = rbt; const made = stage.bodies.find(({ body }) => body.name === name);
        const p = made.com.clone().project(stage.camera); const box = stage.renderer.domElement.getBoundingClientRect();
        return [box.left + box.width * (p.x + 1) / 2, box.top + box.height * (1 - p.y) / 2]; })"""
    page.page.mouse.click(*page(f"{where}('lower')"))
    page.wait("rbt.stage.selected === 1")
    page.wait("/^lower, 3 kg/.test(document.getElementById('readout').textContent)")


def test_seen_from_the_body_it_stands_still(run, open_page):
    """The body's axes in the camera's frame stay; the world turns."""
    r = run("cubesat")
    page = open_page(r.address)
    page("rbt.press('4')")
    turned = """(() => { const { stage } = rbt; stage.camera.updateMatrixWorld();
        return stage.camera.quaternion.clone().invert().multiply(stage.bodies[0].group.quaternion).toArray(); })()"""
    before = page(turned)
    r.until(page, "rbt.t > 0.1", 0.017)
    np.testing.assert_allclose(np.abs(np.dot(before, page(turned))), 1.0, atol=1e-6)


def test_longitude_and_colatitude_of_the_camera(still):
    page = still
    page("(rbt.stage.turnTo(30, 60), 1)")
    assert page("[rbt.stage.longitude, rbt.stage.colatitude]") == pytest.approx([30, 60], abs=1e-6)
    names = page("[...document.querySelectorAll('input[type=range]')].map((slider) => slider.ariaLabel)")
    assert "colatitude" in names and "latitude" not in names  # it counts from above: 60° stand 30° over the horizon
    assert page("(({ x, y, z }) => z / Math.hypot(x, y, z))(rbt.stage.away())") == pytest.approx(0.5, abs=1e-6)


def test_dark_and_light_and_the_sheet_of_shortcuts(still):
    page = still
    first = page("document.documentElement.dataset.theme")
    page.page.keyboard.press("d")
    assert page("document.documentElement.dataset.theme") != first
    page.page.keyboard.press("?")
    assert page("document.getElementById('help').open")


def test_a_missing_mesh_is_a_named_placeholder(run, open_page):
    scenario = scenario_from_text(
        "rbt: 1\nrobot: {name: m, bodies: {m: {mass: 1 kg, inertia: [1, 1, 1], shapes: "
        "[{kind: mesh, file: nowhere.stl}]}}}"
    )
    page = open_page(run(scenario, paused=True).address)
    page.wait("rbt.stage.bodies[0].shapes.children[0].userData.placeholder === true")
    text = "body 'm': there is no mesh nowhere.stl; a box stands for it."
    assert page("document.getElementById('notes').textContent") == text
    holder = "rbt.stage.bodies[0].shapes.children[0]"
    assert page(f"{holder}.children.map((part) => part.name || part.type)") == ["Mesh", "nowhere.stl"]


def test_a_mesh_that_cannot_be_read_is_one_too(run, open_page, tmp_path):
    (tmp_path / "cut.glb").write_bytes(b"glTF\x02\x00\x00\x00 and no more")
    (tmp_path / "m.yaml").write_text(
        "rbt: 1\nrobot: {name: m, bodies: {hub: {mass: 1 kg, inertia: [1, 1, 1], shapes: "
        "[{kind: mesh, file: cut.glb}]}}}"
    )
    page = open_page(run(str(tmp_path / "m.yaml"), paused=True).address)
    page.wait("rbt.stage.bodies[0].shapes.children[0].userData.placeholder === true")
    told = page("document.getElementById('notes').textContent")
    assert told.startswith("body 'hub': ") and told.endswith("; a box stands for it.")
    assert page("rbt.stage.bodies[0].shapes.children[0].children[1].name") == "cut.glb"


IN_PICTURE = """(() => { const { stage } = rbt; stage.draw();
    const shown = (part) => !part || (part.visible && shown(part.parent));
    return stage.letters.filter(shown).map((letter) => {
        const at = letter.getWorldPosition(letter.position.clone()).project(stage.camera);
        return [letter.name, Math.max(Math.abs(at.x), Math.abs(at.y))]; }); })()"""


def test_all_letters_are_in_the_picture_and_larger_where_it_is_small(run, open_page):
    """From home, of the turning CubeSat, on a screen and on a phone; there they are up to twice as large."""
    r = run("cubesat", paused=True)
    for width, height in ((1280, 720), (844, 390)):
        page = open_page(r.address, width=width, height=height)
        page("(rbt.stage.home(), rbt.stage.update(rbt.t, rbt.row))")
        letters = dict(page(IN_PICTURE))
        assert {"ω 51 rad/s", "L 1 N·m·s", "x", "y", "z"} <= set(letters)
        assert max(letters.values()) < 1.0, letters
        size = page("rbt.stage.letters[0].scale.y / rbt.stage.letters[0].userData.scale.y")
        assert size == pytest.approx(max(1.0, 560 / page("document.getElementById('stage').clientHeight")))


BOXES = """(() => { const { stage } = rbt; stage.draw();
    return stage.words().map((word) => {
        const { x, y, z } = word.position.clone().applyMatrix4(stage.camera.matrixWorldInverse);
        return [x / z, y / z, Math.abs(word.scale.x / z), 0.8 * Math.abs(word.scale.y / z)]; }); })()"""


def test_words_do_not_cover_each_other(moving):
    """Names of five bodies and two arrows, seen from four sides: no two boxes in the picture overlap."""
    for view in ("home", "top", "side", "front"):
        moving(f"rbt.stage.setView('{view}')")
        boxes = np.array(moving(BOXES))
        assert len(boxes) == 7
        for i, (x, y, wide, high) in enumerate(boxes):
            for u, v, wider, higher in boxes[:i]:
                assert abs(x - u) > (wide + wider) / 2 - 1e-6 or abs(y - v) > (high + higher) / 2 - 1e-6, (view, i)


def test_an_arrow_is_as_long_as_the_largest_that_is_drawn(moving):
    """Others turn faster and have no arrow: that of the slowest one, picked, measures the scene's size."""
    values = moving("rbt.stage.bodies.map(({ omega }) => omega.value)")
    slowest = int(np.argmin(values))
    moving(f"(rbt.stage.forgetPast(), rbt.select({slowest}), 1)")
    shown = moving("rbt.stage.bodies.map(({ omega }) => omega.group.visible)")
    assert [k for k, visible in enumerate(shown) if visible] == [slowest] and values[slowest] < 0.9 * max(values)
    length = moving(f"rbt.stage.bodies[{slowest}].omega.head.position.y")
    assert length == pytest.approx(moving("1.05 * rbt.stage.size"))


def test_all_bodies_leave_trails(run, open_page):
    """Hinged ones, too; the last point is where the centre of mass is, to float32."""
    r = run("five_body")
    page = open_page(r.address)
    r.until(page, "rbt.t > 0.05", 0.02)
    last = """rbt.stage.bodies.map(({ com, trail }) => { const k = 3 * (trail.count - 1);
        const away = com.toArray().map((x, n) => x - trail.points[k + n]);
        return [trail.line.visible, trail.count > 1, Math.hypot(...away)]; })"""
    for visible, several, away in page(last):
        assert visible and several and away < 1e-6


def test_round_off_is_no_arrow(run, open_page):
    """The net folds with L = 0: what is left of it is chance. A push of 1e-6 N·m for 0.1 s is some momentum."""
    r = run("cubic_net")
    page = open_page(r.address)
    shown = "[rbt.stage.totalL.value, rbt.stage.totalL.group.visible, rbt.stage.totalL.label.visible]"
    r.until(page, "rbt.t > 0.3", 0.02)
    value, arrow, label = page(shown)
    assert 0.0 < value < 1e-12 and not arrow and not label
    assert page("rbt.stage.bodies[0].omega.group.visible")
    r.live.controls.do({"key": "push.moment", "value": [0, 0, 1e-6]})
    r.until(page, "rbt.t > 0.4", 0.02)
    r.until(page, "rbt.stage.totalL.value > 9e-8")
    assert page(shown)[1:] == [True, True]
    assert page("rbt.stage.totalL.label.name").startswith("L ")


def test_plots_do_not_enlarge_the_round_off_of_float32(run, open_page):
    """The energy of the CubeSat is the same for ever; its axis spans more than the steps of float32 (6e-8 of it)."""
    r = run("cubesat")
    page = open_page(r.address)
    r.until(page, "rbt.t > 0.3", 0.05)
    page("(rbt.tab('plots'), 1)")
    low, high = page("(({ min, max }) => [min, max])(rbt.plots.slots[0].chart.scales.y)")
    assert low < 20.0 < high and 1e-4 * 20.0 <= high - low < 1.0 or low <= 0.0 < 20.0 < high < 30.0


def test_names_are_as_large_in_a_chain_as_of_one_body(run, open_page):
    """Names and arrows' letters measure the same share of the picture, however many bodies are in it."""
    shares = []
    for scenario in ("cubesat", "rod_chain"):
        page = open_page(run(scenario, paused=True).address)
        share = "rbt.stage.totalL.label.scale.y / rbt.stage.away().length()"
        page.wait(f"(rbt.stage.home(), {share} > 0)")
        shares.append(page(share))
    assert shares[1] == pytest.approx(shares[0])


def test_where_a_rope_is_tied_to_the_world_is_in_the_picture(run, open_page):
    page = open_page(run(scenario_from_text(HIGH), paused=True).address)
    page("(rbt.stage.home(), rbt.stage.draw())")
    place = """(() => { const { stage } = rbt; const p = stage.ropes[0].line.geometry.attributes.position;
        return [0, 24].map((k) => stage.camera.position.clone().fromBufferAttribute(p, k))
            .flatMap((at) => at.project(stage.camera).toArray().slice(0, 2)); })()"""
    assert np.abs(page(place)).max() < 1.0


def test_names_at_one_place_stand_above_each_other(run, open_page):
    page = open_page(run(scenario_from_text(TWINS), paused=True).address)
    low, high = page("rbt.stage.bodies.map(({ label }) => label.position.z)")
    assert high - low == pytest.approx(page("0.09 * rbt.stage.size * rbt.stage.enlarged"), rel=1e-5)


def test_on_a_phone_numbers_are_shown_of_what_is_picked_and_help_begins_at_its_top(run, open_page):
    page = open_page(run("cubesat", paused=True).address, width=844, height=390)
    shown = "getComputedStyle(document.getElementById('readout')).display !== 'none'"
    assert not page(shown)
    page("(rbt.select(0), rbt.loop())")
    page.wait(shown)
    page("rbt.select(-1)")
    assert not page(shown)
    assert page("(rbt.press('?'), document.getElementById('help').scrollTop)") == 0


def test_keys_act_after_a_click_on_a_box_and_a_control_tells_its_range(run, open_page):
    r = run("cubesat", paused=True)
    page = open_page(r.address)
    page.page.click("#show-trails")
    page.page.keyboard.press("s")
    assert page("rbt.stage.stereo.mode") == "side by side"
    page.page.keyboard.press(" ")  # of the box, and not: go on
    assert page("rbt.stage.show.trails")
    r.until(page, "document.querySelector('[data-key=\"body.mass\"]') !== null")
    assert r.live.paused
    page("(rbt.tab('set'), document.querySelector('[data-key=\"body.mass\"] input[type=number]').focus())")
    told = "document.querySelector('[data-key=\"body.mass\"] .range')"
    assert page(f"[{told}.textContent, getComputedStyle({told}).display]") == ["0.1 to 100 kg", "block"]


def test_bodies_are_glass_while_the_construction_is_shown_in_them(still):
    page = still
    opacity = "(rbt.press('{}'), rbt.stage.opacity)"
    assert [page(opacity.format(key)) for key in "oco"] == [0.35, 0.35, 0.35]
    assert page(opacity.format("c")) == 1
    page("rbt.stage.setOpacity(0.6)")  # one's own choice stays
    assert [page(opacity.format("o")), page(opacity.format("o"))] == [0.6, 0.6]
    page("rbt.stage.setOpacity(1)")


def test_a_mesh_is_shown(run, open_page, tmp_path):
    (tmp_path / "tetra.stl").write_text(
        "solid t\n" + "facet normal 0 0 0\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nvertex 0 1 0\nendloop\nendfacet\n"
        "facet normal 0 0 0\nouter loop\nvertex 0 0 0\nvertex 0 0 1\nvertex 1 0 0\nendloop\nendfacet\nendsolid t\n"
    )
    (tmp_path / "m.yaml").write_text(
        "rbt: 1\nrobot: {name: m, bodies: {m: {mass: 1 kg, inertia: [1, 1, 1], shapes: "
        "[{kind: mesh, file: tetra.stl, size: [2, 2, 2]}]}}}"
    )
    page = open_page(run(str(tmp_path / "m.yaml"), paused=True).address)
    page.wait("rbt.stage.bodies[0].shapes.children[0].children.length === 1")
    assert page("rbt.stage.bodies[0].shapes.children[0].children[0].geometry.attributes.position.count") == 6
    assert page("document.getElementById('notes').textContent") == ""


def test_a_kind_of_shape_that_the_page_does_not_know_is_its_triangles(run, open_page):
    """And smooth, however small: at each corner the normal is that of the capsule, to half a facet (7.5 degrees)."""
    looks = "{kind: capsule, size: [1 mm, 3 mm]}"
    page = open_page(run(scenario_from_text(ONE % looks), paused=True).address)
    geometry = "rbt.stage.bodies[0].shapes.children[0].children[0].geometry.attributes"
    place, normal = (np.array(page(f"[...{geometry}.{key}.array]")).reshape(-1, 3) for key in ("position", "normal"))
    p_from_axis = place - np.clip(place[:, 2:], -1.5e-3, 1.5e-3) * [0, 0, 1]
    assert np.linalg.norm(p_from_axis, axis=1) == pytest.approx(1e-3, rel=1e-5)
    assert (normal * p_from_axis).sum(axis=1).min() > 1e-3 * np.cos(np.radians(7.5))


def test_a_run_that_ends_is_told(run, open_page):
    r = run("cubesat", paused=True)
    page = open_page(r.address)
    r.server.close()
    page.wait("/has ended/.test(document.getElementById('notes').textContent)")
    page("(rbt.source.open = () => {}, 1)")  # no more attempts to reach it again
    page.errors.clear()  # of those before
