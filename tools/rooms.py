"""Draws who imports whom, as the diagram of docs/architecture.md: python tools/rooms.py.

The boxes are the layers of pyproject.toml, which the import linter keeps; the arrows are the imports that there are,
less those that follow from others, and less those of the last layer, which all use.
"""

import re
from pathlib import Path

import grimp

PROJECT = Path(__file__).parents[1] / "pyproject.toml"


def layers() -> list[list[str]]:
    """The names of each layer, from above."""
    (rows,) = re.findall(
        r'^type = "layers".*?^layers = \[\n(.*?)^\]', PROJECT.read_text("utf-8"), re.MULTILINE | re.DOTALL
    )
    return [re.findall(r"\w+", row) for row in rows.splitlines()]


def arrows(rows: list[list[str]]) -> list[tuple[int, int]]:
    """(importer, imported): the layers, by their numbers."""
    at = {name: k for k, row in enumerate(rows) for name in row}
    graph = grimp.build_graph("rbt_ros", cache_dir=None, exclude_type_checking_imports=True)
    pairs = {
        (at[importer.split(".")[1]], at[found.split(".")[1]])
        for importer in graph.modules - {"rbt_ros"}
        for found in graph.find_modules_directly_imported_by(importer) - {"rbt_ros"}
    }
    pairs = {(a, b) for a, b in pairs if a < b < len(rows) - 1}
    below: dict[int, set[int]] = {}  # all that a layer reaches; those below are known when it is asked
    kept = []
    for a in reversed(range(len(rows))):
        own = {b for x, b in pairs if x == a}
        far = set().union(*(below[b] for b in own))
        below[a] = own | far
        kept += [(a, b) for b in own - far]
    return sorted(kept)


def diagram() -> str:
    """The text of the diagram."""
    rows = layers()
    lines = [f'    {k}["{", ".join(row)}"]' for k, row in enumerate(rows)]
    lines += [f"    {a} --> {b}" for a, b in arrows(rows)]
    return "\n".join(["flowchart TD", *lines]) + "\n"


if __name__ == "__main__":
    print(diagram(), end="")
