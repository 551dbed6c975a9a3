"""The linters of the ROS ecosystem that pip has: what they find is an error. QUALITY_DECLARATION.md."""

import os
import re
import shutil
import subprocess
import sys

import pytest

SOURCES = ("rbt_ros", "launch", "examples", "bench", "test")
# D401, D402, D403: a docstring says what comes back, in its own letters (rpm, w_WB); D213, D209: where it begins and
# ends is ours; D205, D400, D415: a first sentence may take two lines
OUR_STYLE = ("D205", "D209", "D213", "D400", "D401", "D402", "D403", "D415")


@pytest.mark.parametrize(
    ("module", "options"),
    [
        ("ament_flake8.main", ["--config", ".flake8", *SOURCES]),
        ("ament_pep257.main", ["--add-ignore", *OUR_STYLE, "--", "rbt_ros", "launch"]),
    ],
)
def test_nothing_is_found(root, run, module, options):
    pytest.importorskip(module.partition(".")[0], reason="not here: make env, or apt install ros-jazzy-ament-lint-auto")
    code = f"import sys; from {module} import main; sys.exit(main())"
    assert "No problems found" in run([sys.executable, "-c", code, *options], cwd=root, limit=170)


def test_xmllint_finds_nothing(root, run, tmp_path):
    """Debian's xmllint through ament_xmllint, .urdf files too; without the schema of package.xml, which is on the web.

    What that asks for catkin_pkg checks. It rejects a file that is not well-formed.
    """
    if shutil.which("xmllint") is None:
        reason = "no xmllint here: sudo apt install libxml2-utils"
        (pytest.fail if os.environ.get("CI") == "true" else pytest.skip)(reason)
    from catkin_pkg.package import parse_package

    files = [root / "package.xml", *sorted((root / "urdf").iterdir())]
    assert len(files) > 3
    for file in files:
        text = file.read_text(encoding="utf-8")
        copy = tmp_path / file.with_suffix(".xml").name
        copy.write_text(re.sub(r"<\?xml-model .*?\?>\n", "", text), encoding="utf-8")
    code = "import sys; from ament_xmllint.main import main; sys.exit(main())"
    output = run([sys.executable, "-c", code, tmp_path], cwd=root)
    assert output.count("is valid") == len(files) and "No problems found" in output
    parse_package(str(root / "package.xml"))
    (tmp_path / "package.xml").write_text("<package><name></package>", encoding="utf-8")
    failed = subprocess.run([sys.executable, "-c", code, tmp_path], capture_output=True, text=True, check=False)
    assert failed.returncode == 1 and "1 files are invalid" in failed.stderr
