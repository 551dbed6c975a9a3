"""Write hashes.txt: the SHA-256 of every file that our pins allow, as the package index tells it.

    .venv/bin/python tools/hashes.py [--index ADDRESS]

Files for CPython 3.10 to 3.14 on Linux (x86_64, aarch64), and the sources. Run it after a pin has changed: set-up
installs nothing that has no hash, or another one. Read the difference before you commit it: for pins that did not
change it is empty.
"""

import argparse
import os
import re
import sys
import urllib.request
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from urllib.parse import unquote

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

import bootstrap  # noqa: E402

PYTHONS = range(10, 15)  # 3.10 to 3.14
PLATFORM = re.compile(r"any|(manylinux\w*|linux)_(x86_64|aarch64)")
LINK = re.compile(r'href="[^"#]*?([^"/#]+)#sha256=([0-9a-f]{64})"')
HEAD = """\
# SHA-256 of every file that constraints.txt and constraints-bench.txt allow. Written by tools/hashes.py; do not edit.
"""


def fits(file: str) -> bool:
    """Whether we may install it: a source, or a wheel for one of our Pythons and machines."""
    if not file.endswith(".whl"):
        return True
    *_, pythons, abi, platforms = file.removesuffix(".whl").split("-")
    numbers = [int(number) for number in re.findall(r"\bcp3(\d+)", pythons)]
    last = max(PYTHONS)
    for_us = any(number in PYTHONS or (abi == "abi3" and number <= last) for number in numbers)
    pure = "none" in abi.split(".") and ("py3" in pythons.split(".") or for_us)
    own = abi == "abi3" or any(abi == f"cp3{number}" for number in PYTHONS)
    machine = any(PLATFORM.fullmatch(platform) for platform in platforms.split("."))
    return machine and (pure or (for_us and own))


def files(index: str, name: str) -> Iterator[tuple[str, str]]:
    """All files of a package on the index, each with its hash."""
    with urllib.request.urlopen(f"{index.rstrip('/')}/{name}/", timeout=60) as answer:
        page = answer.read().decode()
    yield from ((unquote(file), digest) for file, digest in LINK.findall(page))


def allowed(index: str, name: str, pins: set[str]) -> list[tuple[str, str]]:
    """The files of a package that its pins allow, sorted."""
    found = [(file, digest) for file, digest in files(index, name) if bootstrap.pin_of(file) in pins and fits(file)]
    lacking = pins - {bootstrap.pin_of(file) for file, _ in found}
    if lacking:
        sys.exit(f"the index has no file of {', '.join(sorted(lacking))}: is it a version that exists?")
    return sorted(set(found))


def default_index() -> str:
    """That of the environment, or else that of pip."""
    from pip._internal.models.index import PyPI

    return os.environ.get("PIP_INDEX_URL") or PyPI.simple_url


def main() -> int:
    """Write the file."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--index", default=default_index(), help="a simple index; pip's own by default")
    index = parser.parse_args().index
    pins: dict[str, set[str]] = {}
    for file in ("constraints.txt", "constraints-bench.txt"):
        for name, lines in bootstrap.read_pins((ROOT / file).read_text(encoding="utf-8")).items():
            pins.setdefault(name, set()).update(line.split(";")[0].strip() for line in lines)
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda name: allowed(index, name, pins[name]), sorted(pins)))
    lines = [f"{digest}  {file}" for group in found for file, digest in group]
    (ROOT / bootstrap.HASHES).write_text(HEAD + "\n".join(lines) + "\n", encoding="utf-8")
    print(f"wrote {bootstrap.HASHES}: {len(lines)} files of {len(pins)} packages")
    return 0


if __name__ == "__main__":
    sys.exit(main())
