"""Our package as others get it: pip install ., pip install -e ., colcon build, each in an environment of its own."""

import os
import re
import sys
import sysconfig
import xml.etree.ElementTree as ElementTree
from importlib import metadata
from pathlib import Path

import pytest

import rbt_ros

WHERE = """
import json, rbt_ros, rbt_ros.paths
print(json.dumps({"package": rbt_ros.__file__, "config": str(rbt_ros.paths.share("config"))}))
"""


# ----------------------------------------------------------------------------------------------------- one metadata


def test_version_and_licence_are_the_same_everywhere(root):
    package = ElementTree.parse(root / "package.xml").getroot()
    assert package.findtext("name") == "rbt_ros"
    assert package.findtext("version") == rbt_ros.__version__
    assert package.findtext("license") == "Apache-2.0"


def test_the_changelog_has_the_headings_that_ros_tools_read(root):
    """REP 132: what is not released comes first, as Forthcoming; each release has a number and a date."""
    text = (root / "CHANGELOG.rst").read_text(encoding="utf-8")
    headings = re.findall(r"^(.+)\n-+$", text, re.M)
    released = headings[1:] if headings[0] == "Forthcoming" else headings
    assert [each for each in released if not re.fullmatch(r"\d+\.\d+\.\d+ \(\d{4}-\d\d-\d\d\)", each)] == []


def test_every_ros_package_that_we_import_is_declared(root):
    package = ElementTree.parse(root / "package.xml").getroot()
    declared = {each.text for each in package.findall("exec_depend")}
    sources = [file.read_text(encoding="utf-8") for file in (root / "rbt_ros" / "ros").rglob("*.py")]
    imported = {
        name
        for text in sources
        for name in re.findall(r"^\s*(?:from|import) (rclpy|\w+_msgs|\w+_interfaces)", text, re.M)
    }
    assert imported <= declared


# --------------------------------------------------------------------------------------------------------- the pins


@pytest.fixture(scope="module", params=["constraints.txt", "constraints-bench.txt"])
def pins(root, request):
    """The requirement lines of a file of pins."""
    lines = (root / request.param).read_text(encoding="utf-8").splitlines()
    return [line for line in lines if line and not line.startswith("#")]


def test_pins_are_exact_versions_and_nothing_else(pins):
    form = re.compile(
        r"[a-z0-9-]+==[0-9][0-9a-z.]*( ; python_version [<>]=? \"3\.\d+\"( and python_version < \"3\.\d+\")?)?"
    )
    assert [line for line in pins if not form.fullmatch(line)] == []


def test_every_pin_has_the_hashes_of_its_files_and_no_other_file_has_one(root, bootstrap):
    text = (root / "hashes.txt").read_text(encoding="utf-8")
    lines = [line for line in text.splitlines() if not line.startswith("#")]
    assert [line for line in lines if not re.fullmatch(r"[0-9a-f]{64}  [\w.+-]+", line)] == []  # no address either
    files = [line.partition("  ")[2] for line in lines]
    assert len(files) == len(set(files))
    names = ("constraints.txt", "constraints-bench.txt")
    pins = {line.partition(";")[0].strip() for name in names for line in bootstrap.pin_lines(root / name)}
    assert set(bootstrap.read_hashes(text)) == pins


@pytest.mark.parametrize("minor", range(10, 15))
def test_each_python_finds_a_file_with_a_hash_for_its_pins(root, bootstrap, minor):
    """A wheel for x86_64, or the source: so nothing that is pinned for it is refused for want of a hash."""
    from packaging.requirements import Requirement
    from packaging.tags import compatible_tags, cpython_tags
    from packaging.utils import parse_wheel_filename

    glibc = [f"manylinux_2_{number}_x86_64" for number in range(40, 4, -1)]
    platforms = [*glibc, "manylinux2014_x86_64", "manylinux2010_x86_64", "manylinux1_x86_64", "linux_x86_64"]
    tags = {*cpython_tags((3, minor), platforms=platforms), *compatible_tags((3, minor), f"cp3{minor}", platforms)}
    lines = (root / "hashes.txt").read_text(encoding="utf-8").splitlines()[1:]
    found = set()
    for file in (line.partition("  ")[2] for line in lines):
        if not file.endswith(".whl") or not tags.isdisjoint(parse_wheel_filename(file)[3]):
            found.add(bootstrap.pin_of(file))
    pins = [Requirement(line) for line in bootstrap.pin_lines(root / "constraints.txt")]
    here = {"python_version": f"3.{minor}"}
    mine = {f"{each.name}{each.specifier}" for each in pins if each.marker is None or each.marker.evaluate(here)}
    assert mine - found == set()


def canonical(name):
    return re.sub(r"[-_.]+", "-", name).lower()


def test_what_is_installed_is_what_is_pinned(root):
    """Each pip package of this environment stands in constraints.txt: a new transitive one needs a pin, too."""
    from packaging.requirements import Requirement

    if os.environ.get("ROS_DISTRO"):
        pytest.skip("an installed ROS brings its own versions")
    wanted = {}
    for line in (root / "constraints.txt").read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            requirement = Requirement(line)
            if requirement.marker is None or requirement.marker.evaluate():
                wanted[canonical(requirement.name)] = str(requirement.specifier).removeprefix("==")
    installed = {
        canonical(each.name): each.version
        for each in metadata.distributions(path=[sysconfig.get_path("purelib")])
        if each.read_text("INSTALLER") is not None and canonical(each.name) != "rbt-ros"
    }
    differing = {name: version for name, version in installed.items() if wanted.get(name) != version}
    assert differing == {}


# ---------------------------------------------------------------------------------------------------------- licences


def licences(root):
    """Package, or the begin of its name before a star, and its licence, as docs/licences.md has them."""
    text = (root / "docs" / "licences.md").read_text(encoding="utf-8")
    rows = [row.split(" | ") for row in re.findall(r"^\| (\S.*\S) \|$", text, re.M)[1:]]
    return {name: licence for names, licence, _ in rows for name in names.split(", ")}


def licence_of(name, told):
    """That of the package itself, or of the family it belongs to."""
    return told.get(name) or next((told[key] for key in told if key[-1] == "*" and name.startswith(key[:-1])), None)


def test_every_dependency_has_its_licence_in_the_list_and_no_other_has(root, bootstrap):
    """The licences' families are those that the installed packages name themselves."""
    seen = {}
    told = licences(root)
    for line in bootstrap.our_requirements(bootstrap.our_setup()["extras_require"]):
        name = re.split(r"[\[; ]", line)[0]
        seen[name] = licence_of(name, told)
    assert [name for name, licence in seen.items() if licence is None] == []
    assert [key for key in told if not any(name == key or licence_of(name, {key: "x"}) for name in seen)] == []
    families = re.compile(r"\b(BSD|MIT|Apache|LGPL|GPL|MPL|EPL|PSF|Python Software Foundation)")
    differing = {}
    for name, licence in seen.items():
        try:
            words = metadata.metadata(name)
        except metadata.PackageNotFoundError:  # of an extra that is not installed here
            continue
        classes = [each for each in words.get_all("Classifier") or [] if each.startswith("License")]
        own = set(families.findall(" ".join([words.get("License-Expression") or words.get("License") or "", *classes])))
        own = {"PSF" if family == "Python Software Foundation" else family for family in own}
        if own and own.isdisjoint(families.findall(licence)):
            differing[name] = (licence, own)
    assert differing == {}


# -------------------------------------------------------------------------------------------------------------- pip


@pytest.fixture(scope="module")
def second_venv(tmp_path_factory, run):
    """second_venv() -> a new environment that finds our dependencies in this one's, but not our package."""

    def second_venv():
        prefix = tmp_path_factory.mktemp("second")
        run([sys.executable, "-m", "venv", "--without-pip", prefix])
        site = next(prefix.glob("lib/python3*/site-packages"))
        # a plain path: the .pth files over there (the ROS wheels' one, our editable install) are not read
        (site / "first.pth").write_text(sysconfig.get_path("purelib") + "\n")
        return prefix

    return second_venv


@pytest.fixture(scope="module")
def pip_install(run, fresh_environ):
    """pip_install(prefix, *what): the pip of this environment works for the one at `prefix`."""

    def pip_install(prefix, *what):
        options = ["--no-deps", "--no-build-isolation", "--no-index", "--ignore-installed", "--no-compile"]
        run([prefix / "bin" / "python", "-m", "pip", "install", *options, *what], env=fresh_environ)

    return pip_install


@pytest.fixture(scope="module")
def installed(second_venv, pip_install, source_copy):
    """The prefix of an environment after `pip install .`."""
    prefix = second_venv()
    pip_install(prefix, source_copy)
    return prefix


def where(run, prefix, environ, folder):
    """The paths that Python of `prefix`, started in `folder`, has for our package and its configuration."""
    import json

    return json.loads(run([prefix / "bin" / "python", "-c", WHERE], env=environ, cwd=folder))


def test_pip_installs_the_package_and_its_files(installed, run, fresh_environ, tmp_path):
    found = where(run, installed, fresh_environ, tmp_path)
    assert Path(found["package"]).is_relative_to(installed)
    assert Path(found["config"]) == installed / "share" / "rbt_ros" / "config"


def test_the_wheel_has_every_shipped_file_and_nothing_else(installed, root):
    share = installed / "share" / "rbt_ros"
    shipped = {file.relative_to(share) for file in share.rglob("*") if file.is_file()}
    sources = [file for top in ("launch", "config", "urdf", "rviz") for file in (root / top).rglob("*")]
    files = {file.relative_to(root) for file in sources if file.is_file() and file.suffix != ".pyc"}
    assert shipped == files | {Path("package.xml")}
    assert (installed / "share/ament_index/resource_index/packages/rbt_ros").is_file()
    site = next(installed.glob("lib/python3*/site-packages"))
    assert {entry.name for entry in site.iterdir()} == {
        "first.pth",
        "rbt_ros",
        f"rbt_ros-{rbt_ros.__version__}.dist-info",
    }
    modules = {file.relative_to(root) for file in (root / "rbt_ros").rglob("*.py")}
    assert {file.relative_to(site) for file in site.rglob("*.py")} == modules


def test_pip_puts_both_executables_into_bin(installed, run, fresh_environ, tmp_path):
    assert "usage: rbt" in run([installed / "bin" / "rbt", "--help"], env=fresh_environ, cwd=tmp_path)
    assert os.access(installed / "bin" / "rbt_simulator", os.X_OK)


def test_the_installed_physics_runs_in_a_fresh_environment(installed, run, fresh_environ, tmp_path):
    command = [installed / "bin" / "rbt", "info", "cubesat"]
    assert "cubesat" in run(command, env=fresh_environ, cwd=tmp_path)


def test_an_editable_install_reads_the_source_tree(second_venv, pip_install, source_copy, run, fresh_environ, tmp_path):
    prefix = second_venv()
    pip_install(prefix, "--editable", source_copy)
    found = where(run, prefix, fresh_environ, tmp_path)
    assert Path(found["package"]) == source_copy / "rbt_ros" / "__init__.py"
    assert Path(found["config"]) == source_copy / "config"
    assert "usage: rbt" in run([prefix / "bin" / "rbt", "--help"], env=fresh_environ, cwd=tmp_path)


# ----------------------------------------------------------------------------------------------------------- colcon


@pytest.fixture(scope="module", params=["copied", "linked"])
def workspace(tmp_path_factory, source_copy, run, request):
    """A scratch workspace after `colcon build`, with and without --symlink-install."""
    folder = tmp_path_factory.mktemp("workspace")
    (folder / "src").mkdir()
    (folder / "src" / "rbt_ros").symlink_to(source_copy)
    colcon = Path(sysconfig.get_path("scripts"), "colcon")
    options = ["--symlink-install"] if request.param == "linked" else []
    run([colcon, "build", *options], cwd=folder)
    return folder


def sourced(workspace, *command):
    """The command as typed in a shell that has sourced the workspace."""
    return ["sh", "-c", 'cd "$0" && . install/setup.sh && exec "$@"', workspace, *command]


def test_colcon_puts_both_executables_where_ros2_run_looks(workspace):
    programs = workspace / "install" / "rbt_ros" / "lib" / "rbt_ros"
    assert sorted(file.name for file in programs.iterdir() if os.access(file, os.X_OK)) == ["rbt", "rbt_simulator"]
    assert (workspace / "install/rbt_ros/share/ament_index/resource_index/packages/rbt_ros").is_file()


def test_a_sourced_workspace_finds_its_own_files(workspace, source_copy, run):
    import json

    found = json.loads(run(sourced(workspace, sys.executable, "-c", WHERE)))
    places = [workspace, source_copy.resolve()]  # linked: the source tree itself
    assert any(Path(found["package"]).resolve().is_relative_to(place) for place in places)
    assert any(Path(found["config"]).resolve().is_relative_to(place) for place in places)
    assert (Path(found["config"]) / "cubesat.yaml").is_file()


@pytest.mark.parametrize("workspace", ["copied"], indirect=True)
def test_the_installed_node_runs_and_ends(workspace, run, tmp_path):
    """From its own folder; uncompiled, because the kernel cache of another folder does not serve this one."""
    from domain_coordinator import domain_id

    program = workspace / "install" / "rbt_ros" / "lib" / "rbt_ros" / "rbt"
    own = {"ROS_AUTOMATIC_DISCOVERY_RANGE": "LOCALHOST", "ROS_LOG_DIR": str(tmp_path), "NUMBA_DISABLE_JIT": "1"}
    with domain_id() as domain:
        environ = {**os.environ, **own, "ROS_DOMAIN_ID": str(domain)}
        output = run(sourced(workspace, program, "node", "cubesat", "--duration", "0.5"), env=environ)
    assert "cubesat starts as /rbt_simulator" in output
