"""The package of docs/extending.md, in a folder, as pip would have installed it."""

import re
from pathlib import Path

PAGE = Path(__file__).parents[1] / "docs" / "extending.md"
FILE = re.compile(r"^```python\n# (my_package/\w+\.py)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LINES = re.compile(r"^```toml\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def install(folder):
    """The files of the page, and its entry points as an installer writes them."""
    text = PAGE.read_text(encoding="utf-8")
    for name, source in FILE.findall(text):
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(source, encoding="utf-8")
    info = folder / "my_package-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: my_package\nVersion: 1.0\n")
    lines = "".join(LINES.findall(text)).replace('project.entry-points."', "").replace('"', "")
    (info / "entry_points.txt").write_text(lines)
