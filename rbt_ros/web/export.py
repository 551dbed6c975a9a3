"""A run as one HTML file that plays anywhere, or as a film: the page itself, with the run in it."""

import base64
import json
import shutil
import subprocess
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np

from rbt_ros.errors import ScenarioError, SetupError
from rbt_ros.paths import writing
from rbt_ros.stream.scene import meshes, strays
from rbt_ros.web.build import page_text
from rbt_ros.web.recording import Recording
from rbt_ros.web.server import TYPES

PLACE = "<!--RUN-->"
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
FLAGS = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-component-update"),
    *("--disable-background-networking", "--disable-sync", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"),
)
FORMATS = {  # name of a film -> what ffmpeg is told
    ".mp4": (  # JPEGs have the full range of brightness, films that all players show do not
        *("-vf", "scale=out_range=tv", "-c:v", "libx264", "-pix_fmt", "yuv420p", "-color_range", "tv", "-crf", "18"),
        *("-movflags", "+faststart"),
    ),
    ".gif": ("-vf", "split[a][b];[a]palettegen[p];[b][p]paletteuse"),
}
READY_S = 60
STRIP = 4  # pictures beside each other
LARGEST = 8192  # pixels of a side: what Chromium draws


def write_html(recording: Recording, path: str | Path) -> None:
    """One file: page, scene, frames and meshes. It asks nobody for anything. ScenarioError where links hide a mesh."""
    if told := strays(recording.scene):
        raise ScenarioError(" ".join(told))
    with writing(path):
        Path(path).write_text(html_text(recording), encoding="utf-8")


def html_text(recording: Recording) -> str:
    """The page with the run in it."""
    scene = json.loads(json.dumps(recording.scene))  # `meshes` changes it
    files = [Path(name) for name in meshes(scene)]
    run = {
        "scene": scene,
        "t": _base64(np.asarray(recording.t, dtype="<f8").tobytes()),
        "rows": _base64(np.asarray(recording.rows, dtype="<f4").tobytes()),
        "meshes": [f"data:{TYPES.get(f.suffix.lower(), 'text/plain')};base64,{_base64(f.read_bytes())}" for f in files],
    }
    text = json.dumps(run).replace("<", "\\u003c")  # neither an end of the script nor a comment
    return page_text().replace(PLACE, f"<script>window.__RUN__ = {text};</script>", 1)


def write_film(
    recording: Recording,
    path: str | Path,
    *,
    times: Sequence[float],
    fps: float = 30.0,
    size: tuple[int, int] = (1280, 720),
    prepare: Sequence[str] = (),
    progress: Callable[[float], None] | None = None,
) -> None:
    """A film *.mp4 or *.gif: frame k shows times[k] [s], exactly, however long drawing takes.

    prepare: JavaScript that sets the page up: `rbt.press('o')`, `rbt.stage.setView('top')`.
    """
    path = Path(path)
    if path.suffix not in FORMATS:
        raise ScenarioError(f"{path.name} is none of *.html, *.mp4, *.gif, *.png; give it one of these endings.")
    _check_size(size)
    if size[0] % 2 or size[1] % 2:
        raise ScenarioError(f"size {size[0]} x {size[1]}: films want even numbers of pixels, 16 at least.")
    with writing(path):  # before all the drawing
        path.parent.resolve(strict=True)
    ffmpeg = _ffmpeg()
    command = [ffmpeg, "-v", "error", "-y", "-f", "image2pipe", "-framerate", f"{fps:g}", "-c:v", "mjpeg", "-i", "-"]
    command += [*FORMATS[path.suffix], str(path)]

    def draw() -> None:
        with _Pictures(recording, size, prepare) as picture:
            film = subprocess.Popen(command, stdin=subprocess.PIPE, stderr=subprocess.PIPE)
            assert film.stdin is not None
            try:
                for k, t in enumerate(times):
                    film.stdin.write(picture(t))
                    if progress:
                        progress((k + 1) / len(times))
            except BrokenPipeError:
                pass  # its own words come below
            _, words = film.communicate()
        if film.returncode != 0:
            raise ScenarioError(f"{path} cannot be written: {words.decode(errors='replace').strip()[-300:]}")

    _apart(draw)


def _check_size(size: Sequence[int]) -> None:
    try:
        fits = len(size) == 2 and all(16 <= side <= LARGEST and side == int(side) for side in size)
    except (TypeError, ValueError):
        fits = False
    if not fits:
        raise ScenarioError(f"size {size!r:.60} must be (width, height) in pixels, 16 to {LARGEST}.")


def pictures(recording: Recording, times: Sequence[float], size=(640, 360), prepare=()) -> list[Any]:
    """What the page shows at these times [s], as images of pillow."""
    _check_size(size)
    try:
        from PIL import Image
    except ImportError as err:
        raise SetupError("pictures need pillow: pip install 'rbt_ros[film]'") from err

    def draw() -> list[Any]:
        with _Pictures(recording, size, prepare) as picture:
            return [Image.open(BytesIO(picture(t))) for t in times]

    return _apart(draw)


def write_strip(recording: Recording, path: str | Path, times: Sequence[float], size=(640, 360), prepare=()) -> None:
    """Pictures of these times side by side, as *.png."""
    drawn = pictures(recording, times, size, prepare)
    strip = drawn[0].copy().resize((size[0] * len(drawn), size[1]))
    for k, each in enumerate(drawn):
        strip.paste(each, (k * size[0], 0))
    with writing(path):
        strip.save(path)


def _apart(work: Callable[[], Any]) -> Any:
    """What `work` returns or raises, in a thread of its own: playwright wants one without an event loop (notebooks)."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(work).result()


class _Pictures:
    """A browser without a window that draws a run: called with t [s] it gives a JPEG."""

    def __init__(self, recording: Recording, size: tuple[int, int], prepare: Sequence[str]):
        self._html, self._size, self._prepare = html_text(recording), size, prepare

    def __enter__(self) -> Callable[[float], bytes]:
        try:
            from playwright.sync_api import sync_playwright
        except ImportError as err:
            raise SetupError("films need playwright: pip install 'rbt_ros[film]'") from err
        self._playwright = sync_playwright().start()
        try:
            browser = self._playwright.chromium.launch(executable_path=browser_path(), args=list(FLAGS))
            self._page = browser.new_page(viewport={"width": self._size[0], "height": self._size[1]})
            self._page.set_content(self._html)
            self._page.wait_for_function("() => window.rbt && rbt.ready && rbt.frames > 0", timeout=READY_S * 1e3)
            self._page.evaluate(f"rbt.filmed({self._size[0]}, {self._size[1]})")
            for script in self._prepare:
                self._page.evaluate(f"({script}, 0)")
        except BaseException:
            self._playwright.stop()
            raise
        return self.picture

    def __exit__(self, *_: Any) -> None:
        self._playwright.stop()

    def picture(self, t: float) -> bytes:
        """The picture of time t [s]."""
        return base64.b64decode(self._page.evaluate(f"rbt.film({float(t)!r})").partition(",")[2])


def browser_path() -> str:
    """A Chromium of this machine; SetupError names the package."""
    found = next(filter(None, map(shutil.which, BROWSERS)), None)
    if found is None:
        raise SetupError("films are drawn by Chromium, and there is none here: sudo apt install chromium")
    return found


def _ffmpeg() -> str:
    try:
        from imageio_ffmpeg import get_ffmpeg_exe
    except ImportError as err:
        raise SetupError("films need ffmpeg: pip install 'rbt_ros[film]'") from err
    return get_ffmpeg_exe()


def _base64(data: bytes) -> str:
    return base64.b64encode(data).decode("ascii")
