"""The documentation runs: every example, every scenario, every link; and the public face is all described."""

import re
from pathlib import Path

import pytest

import rbt_ros
from rbt_ros.model.scenario import scenario_from_text

ROOT = Path(__file__).parents[1]
NAMES = ("README.md", "CONTRIBUTING.md", "SECURITY.md")
PAGES = [*(ROOT / name for name in NAMES), *sorted((ROOT / "docs").glob("*.md"))]
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")


def blocks(page, language):
    """(line number, text) of the code blocks of a page."""
    text = page.read_text(encoding="utf-8")
    return [(text.count("\n", 0, m.start(2)) + 1, m[2]) for m in BLOCK.finditer(text) if m[1] == language]


def anchors(page):
    """The headings of a page, as links name them."""
    heads = re.findall(r"^#+ (.*)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", head.lower()).replace(" ", "-") for head in heads}


def pages_with(language):
    return [pytest.param(page, id=page.name) for page in PAGES if blocks(page, language)]


@pytest.mark.parametrize("page", pages_with("python"))
def test_examples_run(page, tmp_path, monkeypatch):
    """In order, in one namespace, as a reader would type them: a failure names the line of the page."""
    monkeypatch.chdir(tmp_path)
    namespace = {"__name__": page.stem}
    for line, text in blocks(page, "python"):
        exec(compile("\n" * (line - 1) + text, str(page), "exec"), namespace)


@pytest.mark.parametrize("page", pages_with("yaml"))
def test_scenarios_load(page):
    for line, text in blocks(page, "yaml"):
        if text.startswith("rbt: 1"):
            assert scenario_from_text(text, f"{page.name}, line {line}").robot.bodies


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page):
    """To a file of the repository, and to a heading in it where one is named."""
    for target in LINK.findall(page.read_text(encoding="utf-8")):
        if "://" in target:
            continue
        name, _, anchor = target.partition("#")
        file = page.parent / name if name else page
        assert file.exists(), f"{page.name} links to {target}"
        assert not anchor or anchor in anchors(file), f"{page.name} links to {target}, which has no such heading"


def test_index_names_every_page():
    index = (ROOT / "docs" / "README.md").read_text(encoding="utf-8")
    assert {page.name for page in (ROOT / "docs").glob("*.md")} - {"README.md"} <= set(LINK.findall(index))


@pytest.mark.parametrize("name", rbt_ros.__all__)
def test_face_is_described(name):
    """Every public name stands in docs/API.md as a word of its own."""
    assert re.search(rf"(?<!\w){re.escape(name)}(?!\w)", (ROOT / "docs" / "API.md").read_text(encoding="utf-8"))
