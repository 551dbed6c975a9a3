"""What the web tests share: the built page, a server beside a run, Chromium. Without the last two they are not run.

With CI=true a missing node or Chromium is a failure: continuous integration installs both.
"""

import importlib.util
import os
import sys
import time
from pathlib import Path

import pytest

from rbt_ros.errors import SetupError
from rbt_ros.model.scenario import read_scenario
from rbt_ros.stream.process import Server
from rbt_ros.web import build
from rbt_ros.web.export import FLAGS, browser_path
from rbt_ros.web.live import Live

INSTALL = "sudo apt install chromium; pip install 'rbt_ros[view,film]'"
LONGEST_S = 60  # for anything that a page is waited for


def not_here(what, install):
    """Reports tests as not run, with the line that changes that; in continuous integration they fail."""
    text = f"web tests are not run: there is no {what}; {install}"
    if os.environ.get("CI") == "true":
        pytest.fail(text)
    pytest.skip(text)


@pytest.fixture(scope="session")
def built(tmp_path_factory):
    """The page, built anew where its sources are newer."""
    sources = [file for file in build.SOURCES.rglob("*") if file.is_file() and file != build.PAGE]
    newest = max(file.stat().st_mtime for file in sources)
    if not build.PAGE.exists() or build.PAGE.stat().st_mtime < newest:
        try:
            build.build(tmp_path_factory.mktemp("page"))
        except SetupError as err:
            not_here(f"page ({err})", "sudo apt install nodejs npm")
    return build.PAGE


@pytest.fixture(scope="session")
def chromium_path(built):
    """The browser of this machine, which playwright can drive."""
    if importlib.util.find_spec("playwright") is None:
        not_here("playwright", INSTALL)
    try:
        return browser_path()
    except SetupError:
        not_here("Chromium", INSTALL)


@pytest.fixture(scope="module")
def chromium(chromium_path):
    """A browser, as users have it; told not to ask its maker for anything."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium_path, args=list(FLAGS))
        yield browser
        browser.close()


class Page:
    """A page with what happened in it."""

    def __init__(self, browser, address, width=1280, height=720, before=""):
        self.page = browser.new_page(viewport={"width": width, "height": height})
        self.errors, self.warnings, self.requests = [], [], []
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.page.on("console", self._heard)
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.on("websocket", lambda socket: self.requests.append(socket.url))
        if before:
            self.page.add_init_script(before)
        self.page.goto(address)
        self.wait("window.rbt && rbt.ready && rbt.frames > 0")

    def _heard(self, message):
        if message.type == "error":
            self.errors.append(message.text)
        elif message.type == "warning" and "GL Driver" not in message.text:
            self.warnings.append(message.text)

    def __call__(self, script):
        """The value of a JavaScript expression."""
        return self.page.evaluate(script)

    def wait(self, script):
        """Until an expression is true: looked at from outside, as the page's policy forbids eval inside."""
        end = time.monotonic() + LONGEST_S
        while not self.page.evaluate(script):
            assert time.monotonic() < end, f"{script} did not come true; errors: {self.errors}"
            self.page.wait_for_timeout(20)


class Run:
    """A paced run with its server; `turn` lets time pass as the test says."""

    def __init__(self, scenario, **options):
        self.live = Live(read_scenario(scenario) if isinstance(scenario, str) else scenario, **options)
        self.server = Server(self.live.stream.folder, 0)
        self.address = self.server.address

    def until(self, page, script, seconds=0.0):
        """Turn, without time passing unless told, until the page says yes."""
        end = time.monotonic() + LONGEST_S
        while True:
            self.live.turn(seconds * 1e9)
            if page(script):
                return
            assert time.monotonic() < end, f"{script} did not come true; errors: {page.errors}"
            page.page.wait_for_timeout(20)

    def close(self):
        self.server.close()
        self.live.close()


@pytest.fixture
def run(built):
    """run(scenario) -> a Run; closed at the end."""
    opened = []

    def run(scenario, **options):
        opened.append(Run(scenario, **options))
        return opened[-1]

    yield run
    for each in opened:
        each.close()


def close_page(page):
    """It must have had no error, and none but loopback requests."""
    page.page.close()
    assert page.errors == []
    allowed = ("http://127.0.0.1:", "ws://127.0.0.1:", "data:", "file:", "blob:")
    assert [url for url in page.requests if not url.startswith(allowed)] == []


@pytest.fixture
def open_page(chromium):
    """open_page(address, ...) -> a Page; looked through at the end."""
    opened = []

    def open_page(address, **options):
        opened.append(Page(chromium, address, **options))
        return opened[-1]

    yield open_page
    for each in opened:
        close_page(each)


@pytest.fixture(scope="module")
def still(chromium):
    """A page of the CubeSat before its first step, for all tests that only look; `still.live` is the run behind."""
    run = Run("cubesat", paused=True)
    page = Page(chromium, run.address)
    page.live = run.live
    yield page
    close_page(page)
    run.close()


@pytest.fixture(scope="module")
def moving(chromium):
    """A page of the five bodies amid their motion, which stands still there."""
    run = Run("five_body")
    page = Page(chromium, run.address)
    run.until(page, "rbt.t > 1", 0.1)
    page("(rbt.source.socket.onmessage = null, 1)")
    yield page
    close_page(page)
    run.close()


@pytest.fixture(scope="session")
def headset(built, tmp_path_factory):
    """A script that makes the browser believe in a headset: npm's iwer, beside what the page is built of."""
    iwer = Path("node_modules", "iwer", "build", "iwer.min.js")
    work = Path(sys.prefix, "page")  # where the set-up has built the page
    if not (work / iwer).exists():
        work = tmp_path_factory.mktemp("iwer")
        try:
            build.build(work)
        except SetupError as err:
            not_here(f"node ({err})", "sudo apt install nodejs npm")
    script = (work / iwer).read_text(encoding="utf-8")
    start = "new IWER.XRDevice(IWER.metaQuest3).installRuntime({ forceInstall: true });"
    return f"{script}\n{start}"
