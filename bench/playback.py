"""How exactly the page keeps time: what it shows against the clock on the wall, in a real browser.

The demonstrations of the Rigid Body Toolbox's animation module: that of the precession lasted 1.35 % too long, that of
the CubeSat at a time scale of 0.05 4.2 % (R. Vega Ayora, 2018, section 3.3).
"""

import runpy
import tempfile
import time
from pathlib import Path

from harness import Group, Missing, Row

EXAMPLES = Path(__file__).resolve().parents[1] / "examples"
SHARE = 0.95  # of the whole that is watched: 9.5 s of 10 s on the wall
LOOK_S = 0.25
PLAYS = (  # example, simulated seconds per second, what the toolbox was in error by [%]
    ("precession", 1.0, 1.35),
    ("cubesat", 0.05, 4.2),
    ("precession", 0.5, None),
    ("cubesat", 0.025, None),
)
NEXT_PICTURE = """() => new Promise((done) => {
    const before = rbt.frames;
    const ended = () => rbt.frames > before || !rbt.playback.playing;
    const look = () => (ended() ? done([rbt.t, rbt.frames]) : requestAnimationFrame(look));
    look();
})"""


def seen(page):
    """(wall [s], t of the picture that has just been drawn [s], pictures so far), by our clock, not the page's."""
    t, frames = page.evaluate(NEXT_PICTURE)
    return time.perf_counter(), t, frames


def error_of(page, rate):
    """(error of the time scale, pictures per second) over the whole of it but its end."""
    page.evaluate(f"rbt.playback.seek(rbt.playback.first), rbt.playback.set({{ rate: {rate}, playing: true }})")
    end = page.evaluate("rbt.playback.last")
    for _ in range(3):  # shaders and fonts are there
        wall, t, frames = seen(page)
    later = wall, t, frames
    while (now := seen(page))[1] < SHARE * end:
        later = now
        time.sleep(LOOK_S)
    elapsed = later[0] - wall
    return abs((later[1] - t) / (rate * elapsed) - 1.0), (later[2] - frames) / elapsed


def playback(wanted):
    try:
        from playwright.sync_api import sync_playwright

        from rbt_ros.errors import SetupError
        from rbt_ros.web.export import FLAGS, browser_path
    except ImportError as err:
        raise Missing("playwright is not installed: pip install 'rbt_ros[film]'") from err
    try:
        path = browser_path()
    except SetupError as err:
        raise Missing(str(err)) from err
    errors, told = [], []
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=list(FLAGS))
        for name, rate, toolbox in PLAYS:
            file = Path(folder, f"{name}.html")
            if not file.exists():
                runpy.run_path(str(EXAMPLES / f"animation_{name}.py"))["animation"]().save(file)
            page = browser.new_page(viewport={"width": 640, "height": 360})
            page.goto(file.as_uri())
            page.wait_for_function("() => window.rbt && rbt.ready && rbt.frames > 0", timeout=60_000)
            error, fps = error_of(page, rate)
            page.close()
            errors.append(100.0 * error)
            beside = f" (toolbox {toolbox} %)" if toolbox else ""
            told.append(f"{name} x {rate:g}: {100 * error:.3f} %{beside}, {fps:.0f} pictures/s")
        browser.close()
    note = "; ".join(told)
    return {
        "playback_error": Row(max(errors), max(errors), 4.2, "% of the time of 10 to 20 s of play: at most 0.5", note)
    }


GROUPS = (Group(("playback_error",), playback),)
