"""The documentation runs: every example, every scenario, every link; and the public face is all described."""

import argparse
import re
import shlex
from pathlib import Path

import pytest

import rbt_ros
from rbt_ros import cli

ROOT = Path(__file__).parents[1]
NAMES = ("README.md", "CONTRIBUTING.md", "SECURITY.md")
PAGES = [*(ROOT / name for name in NAMES), *sorted((ROOT / "docs").glob("*.md"))]
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
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
def test_scenarios_run(page, tmp_path, monkeypatch, capsys):
    """As `rbt check --strict` does it: read, started, one step, no warnings. Parts of one are completed."""
    monkeypatch.chdir(tmp_path)
    named_files(tmp_path, page.read_text(encoding="utf-8"))
    for line, text in blocks(page, "yaml"):
        for k, whole in enumerate(scenarios(text)):
            file = Path(f"{page.stem}_line_{line}_{k}.yaml")
            file.write_text(whole, encoding="utf-8")
            assert rbt_command(monkeypatch, "check", str(file), "--strict") == 0, capsys.readouterr().out


def test_the_diagram_of_the_rooms_is_that_of_the_imports(monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "tools")
    import rooms

    (block,) = blocks(ROOT / "docs" / "architecture.md", "mermaid")
    assert block[1] == rooms.diagram(), "run python tools/rooms.py and put what it prints into the page"


def scenarios(text):
    """The scenarios that a block shows: itself; or, of a part, one for each of its ways to say the same."""
    if re.match(r"(#.*\n)*rbt: 1", text):
        return [text]
    if text.startswith("bodies:"):
        return ["rbt: 1\nrobot:\n" + re.sub("^", "  ", text, flags=re.MULTILINE)]
    ways = [way for way in re.split(r"^(?=robot:)", text, flags=re.MULTILINE) if way]
    robot = "" if "robot:" in text else "robot: {bodies: {top: {mass: 1, inertia: [1, 2, 3]}}}\n"
    return [f"rbt: 1\n{robot}{way}" for way in ways]


def named_files(folder, text):
    """The files that a page names: a robot, meshes of a block in mm, a NASTRAN deck."""
    robot = rbt_ros.RobotBuilder("arm").body("link", mass=1.0, inertia=(1, 1, 1))
    for name in ("arm.urdf", "arm.urdf.xacro"):
        (folder / name).write_text(rbt_ros.urdf_text(robot.build()), encoding="utf-8")
    (folder / "sat.bdf").write_text("BEGIN BULK\nGRID,1,,0.,0.,0.\nCONM2,2,1,,1.-3,,,,+\n+,8.,,8.,,,8.\nENDDATA\n")
    if "hub.stl" in text:
        trimesh = pytest.importorskip("trimesh", reason="this system lacks trimesh: pip install 'rbt_ros[mesh]'")
        for name in ("hub.stl", "panel.obj"):
            trimesh.creation.box((100, 100, 340)).export(folder / name)


def rbt_command(monkeypatch, *words):
    """The exit code of `rbt WORDS`, run here."""
    monkeypatch.setattr("sys.argv", ["rbt", *words])
    with pytest.raises(SystemExit) as end:
        cli.main()
    return end.value.code


MENTIONED = ("rbt solve effort", "rbt view --build")  # of what there is, in sentences


def commands(page):
    """The command lines of `rbt` of a page, in order: of its blocks, without what is said beside; and within sentences,
    where they are whole: with arguments, and no words in capitals that stand for some."""
    text = page.read_text(encoding="utf-8")
    shells = [block[2] for block in BLOCK.finditer(text) if block[1] in ("", "sh", "text")]
    lines = [re.split(r"\s{3,}|\s+# ", line)[0] for shell in shells for line in shell.splitlines()]
    inside = [
        line for line in re.findall(r"(?<!`)`(rbt [^`]+)`(?!`)", text) if re.fullmatch(r"rbt \S+ [^-A-Z][^A-Z]*", line)
    ]
    single = [part.strip() for line in (*lines, *inside) for part in line.split("&&")]
    return [shlex.split(line) for line in dict.fromkeys(single) if line.startswith("rbt ") and line not in MENTIONED]


def pages_with_commands():
    return [pytest.param(page, id=page.name) for page in PAGES if commands(page)]


class Parsed(Exception):
    """A command line is understood; nothing more is asked."""


@pytest.mark.parametrize("page", pages_with_commands())
def test_command_lines_are_understood(page, monkeypatch):
    """By the parsers of `rbt`, to the last option."""
    parse_args = argparse.ArgumentParser.parse_args

    def parsed(parser, words=None, namespace=None):
        parse_args(parser, words, namespace)
        raise Parsed

    def run(arguments, rest):  # three verbs leave their arguments to a parser of their own
        if arguments.verb in ("map", "solve", "study"):
            cli._module(arguments.verb).run(arguments, rest)
        raise Parsed

    monkeypatch.setattr(argparse.ArgumentParser, "parse_args", parsed)
    monkeypatch.setattr(cli, "_run", run)
    for words in commands(page):
        monkeypatch.setattr("sys.argv", words)
        try:
            cli.main()
        except Parsed:
            continue
        except SystemExit as end:
            pytest.fail(f"{page.name}: {shlex.join(words)} ends with {end.code}")


ELSEWHERE = {  # verbs whose lines need more than a moment and a folder; their own tests run them
    "node": "ROS 2",
    "record": "ROS 2",
    "replay": "ROS 2",
    "setup-ros": "ROS 2",
    "view": "a browser",
    "study": "minutes",
}
LONG = ("--workers 2", "1000", "solve effort", "solve time", "--mode dynamic", "--view", "solve point")


@pytest.mark.soak
@pytest.mark.parametrize("page", pages_with_commands())
def test_command_lines_run(page, tmp_path, monkeypatch, capsys):
    """In order, in one folder, which holds what the pages take from elsewhere: files that they name, runs, a map."""
    wanted = [words for words in commands(page) if words[1] not in ELSEWHERE]
    wanted = [words for words in wanted if not any(long in " ".join(words) for long in LONG)]
    if not wanted:
        return
    monkeypatch.chdir(tmp_path)
    named_files(tmp_path, "hub.stl")
    runs = [("cubesat", "flight"), ("five_body", "bag"), ("five_body", "swing")]
    made = {" ".join(words[-2:]) for words in wanted}  # by the page itself
    before = [f"run {what} --until 1 --record {bag}" for what, bag in runs if f"--record {bag}" not in made]
    before += ["map l_shape --psi1=-60:60:5 --psi2=-60:60:5"]
    for words in [*(["rbt", *line.split()] for line in before), *wanted]:
        assert rbt_command(monkeypatch, *words[1:]) == 0, f"{page.name}: {shlex.join(words)}\n{capsys.readouterr().out}"


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
