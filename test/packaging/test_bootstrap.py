"""The set-up behind `make`: what it finds out about the machine, and when it does what."""

import fcntl
import hashlib
import os
import re
import signal
import subprocess
import sys
import termios
import zipfile
from importlib import metadata

import pytest
from packaging.requirements import Requirement

GOOD = {"python": (3, 12), "cpu": "x86_64", "has_ensurepip": True, "has_headers": True, "has_compilers": True}
SOURCED = {"ROS_DISTRO": "jazzy", "AMENT_PREFIX_PATH": "/opt/ros/jazzy"}


def machine(bootstrap, ros_distro=None, **facts):
    return bootstrap.Machine(**{**GOOD, "ros_distro": ros_distro, **facts})


# ------------------------------------------------------------------------------------------------------ the machine


@pytest.mark.parametrize(
    "environ, importable, expected",
    [
        (SOURCED, True, "jazzy"),
        ({**SOURCED, "ROS_DISTRO": "kilted"}, True, "kilted"),
        (SOURCED, False, None),  # python3 is not the one that this ROS was built for
        ({"ROS_DISTRO": "jazzy"}, True, None),
        ({"AMENT_PREFIX_PATH": "/opt/ros/jazzy"}, True, None),
        ({"ROS_DISTRO": "", "AMENT_PREFIX_PATH": ""}, True, None),
        ({}, True, None),
    ],
)
def test_a_sourced_ros_is_one_that_this_python_can_use(bootstrap, environ, importable, expected):
    assert bootstrap.sourced_ros(environ, lambda module: importable and module == "rclpy") == expected


def test_an_unsourced_shell_is_not_probed(bootstrap):
    """The probe starts an interpreter: a second `make demo` must not pay for it."""
    assert bootstrap.sourced_ros({}, lambda module: pytest.fail("probed")) is None


def test_the_probe_imports_for_real(bootstrap):
    assert bootstrap.can_import("json")
    assert not bootstrap.can_import("no_such_module_anywhere")


def test_with_a_sourced_ros_no_wheels_are_installed(bootstrap):
    with_ros = bootstrap.Environment(bootstrap.ROOT / ".venv", (), [], machine(bootstrap, "jazzy"))
    assert with_ros.ros_extras == []
    assert with_ros.venv_options == ["--system-site-packages"]
    without = bootstrap.Environment(bootstrap.ROOT / ".venv", (), [], machine(bootstrap))
    assert without.ros_extras == ["ros"]
    assert without.venv_options == []


@pytest.mark.parametrize(("target", "made"), [("demo", False), ("test", True), ("bench", True)])
def test_what_tests_and_benchmarks_need_is_made_with_their_environment(bootstrap, target, made):
    """simulation_interfaces, without which a row of the benchmarks was left out."""
    place = bootstrap.environment(target, ("dev",) if target == "test" else ())
    place.machine = machine(bootstrap)
    assert ("simulation_interfaces" in [stage.name for stage in place.stages()]) == made


@pytest.mark.parametrize(
    "facts, words",
    [
        (
            {"has_ensurepip": False},
            "lacks venv and ensurepip: sudo apt install build-essential python3-dev python3-venv",
        ),
        ({"has_headers": False}, "lacks the headers of Python 3.12 (Python.h): sudo apt install"),
        ({"has_compilers": False}, "lacks a C and C++ compiler: sudo apt install"),
        ({"has_compilers": False, "has_headers": False}, "lacks the headers of Python 3.12 (Python.h), a C and C++"),
        ({"python": (3, 8)}, "this is Python 3.8, and 3.10 or newer is needed: make PYTHON="),
        ({"cpu": "aarch64"}, "this machine is aarch64: install ROS 2 Jazzy with apt"),
    ],
)
def test_what_the_system_lacks_is_named_with_the_way_out(bootstrap, facts, words):
    with pytest.raises(bootstrap.Failure) as caught:
        bootstrap.require(machine(bootstrap, **facts))
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


def test_an_installed_ros_needs_no_compiler_and_runs_on_any_cpu(bootstrap):
    bare = {"cpu": "aarch64", "has_headers": False, "has_compilers": False}
    with pytest.raises(bootstrap.Failure):
        bootstrap.require(machine(bootstrap, **bare))
    bootstrap.require(machine(bootstrap, "jazzy", **bare))  # raises nothing


def test_children_do_not_inherit_another_environments_ros(bootstrap):
    inherited = {"_ROS_WHEELS_BOOTSTRAP_COMPLETE": "1", "LD_LIBRARY_PATH": "/elsewhere/lib", "HOME": "/home/me"}
    assert bootstrap.private_environment(inherited, None) == {
        "HOME": "/home/me",
        "ROS_AUTOMATIC_DISCOVERY_RANGE": "LOCALHOST",
    }


def test_a_sourced_ros_is_kept_whole_or_not_at_all(bootstrap):
    sourced = {**SOURCED, "LD_LIBRARY_PATH": "/opt/ros/jazzy/lib", "PYTHONPATH": "/opt/ros/jazzy/lib/python"}
    kept = bootstrap.private_environment(sourced, "jazzy")
    assert {name: kept[name] for name in sourced} == sourced
    assert not sourced.keys() & bootstrap.private_environment(sourced, None).keys()


def test_discovery_is_local_unless_the_user_decided(bootstrap):
    assert bootstrap.private_environment({}, None)["ROS_AUTOMATIC_DISCOVERY_RANGE"] == "LOCALHOST"
    chosen = {"ROS_AUTOMATIC_DISCOVERY_RANGE": "SUBNET"}
    assert bootstrap.private_environment(chosen, None) == chosen


# ------------------------------------------------------------------------------------------------------- the stages


@pytest.fixture
def ran():
    """The names of the stages that ran, in order."""
    return []


@pytest.fixture
def stages(bootstrap, ran):
    """stages(**contents) -> one stage per keyword; the first starts afresh."""

    def stages(error=None, **contents):
        def body(name):
            ran.append(name)
            if error and name in error:
                raise error[name]
            return "done"

        return [
            bootstrap.Stage(name, (content,), lambda name=name: body(name), afresh=position == 0)
            for position, (name, content) in enumerate(contents.items())
        ]

    return stages


@pytest.fixture
def carry_out(bootstrap, tmp_path):
    """carry_out(stages) in the folder `tmp_path`."""
    return lambda stages: bootstrap.carry_out(stages, bootstrap.Record(tmp_path), lambda: None)


def test_a_stage_runs_once_for_its_content(stages, carry_out, ran):
    assert carry_out(stages(venv=1, pip=1, ros=1))
    assert not carry_out(stages(venv=1, pip=1, ros=1))
    assert ran == ["venv", "pip", "ros"]


def test_a_changed_content_repeats_that_stage_and_what_follows(stages, carry_out, ran):
    carry_out(stages(venv=1, pip=1, ros=1))
    ran.clear()
    carry_out(stages(venv=1, pip=2, ros=1))
    assert ran == ["pip", "ros"]


def test_a_stage_more_runs_alone_and_one_less_undoes_nothing(stages, carry_out, ran):
    carry_out(stages(venv=1, pip=1))
    carry_out(stages(venv=1, pip=1, dev=1))
    assert not carry_out(stages(venv=1, pip=1))
    assert not carry_out(stages(venv=1, pip=1, dev=1))
    assert ran == ["venv", "pip", "dev"]


def test_a_failed_stage_is_repeated_alone(bootstrap, stages, carry_out, ran):
    with pytest.raises(bootstrap.Failure, match="no network"):
        carry_out(stages(error={"pip": bootstrap.Failure("no network")}, venv=1, pip=1, ros=1))
    carry_out(stages(venv=1, pip=1, ros=1))
    assert ran == ["venv", "pip", "pip", "ros"]


@pytest.mark.parametrize("killed", ["venv", "pip", "dev"])
def test_after_an_interruption_everything_starts_from_an_empty_folder(stages, carry_out, ran, tmp_path, killed):
    with pytest.raises(KeyboardInterrupt):
        carry_out(stages(error={killed: KeyboardInterrupt()}, venv=1, pip=1, dev=1))
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib" / "half.py").touch()
    ran.clear()
    carry_out(stages(venv=1, pip=1))  # also when the killed stage is not asked for this time
    assert ran == ["venv", "pip"]
    assert not (tmp_path / "lib").exists()


def test_a_new_python_starts_from_an_empty_folder(stages, carry_out, ran, tmp_path):
    carry_out(stages(venv="3.11", pip=1))
    (tmp_path / "lib").mkdir()
    carry_out(stages(venv="3.12", pip=1))
    assert ran == ["venv", "pip", "venv", "pip"]
    assert not (tmp_path / "lib").exists()


def test_a_killed_wipe_is_started_again(bootstrap, stages, carry_out, monkeypatch, tmp_path):
    with pytest.raises(KeyboardInterrupt):
        carry_out(stages(error={"pip": KeyboardInterrupt()}, venv=1, pip=1))
    (tmp_path / "lib").mkdir()
    with monkeypatch.context() as patch:
        patch.setattr(bootstrap.shutil, "rmtree", lambda folder: (_ for _ in ()).throw(KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            carry_out(stages(venv=1, pip=1))
    assert carry_out(stages(venv=1, pip=1))
    assert not (tmp_path / "lib").exists()


def test_the_system_is_checked_only_when_something_is_to_be_done(bootstrap, stages, tmp_path):
    record = bootstrap.Record(tmp_path)
    checked = []
    for _ in range(2):
        bootstrap.carry_out(stages(venv=1), record, lambda: checked.append(True))
    assert checked == [True]


def test_a_folder_of_someone_else_is_left_alone(bootstrap, tmp_path):
    (tmp_path / "pyvenv.cfg").touch()
    with pytest.raises(bootstrap.Failure, match="was not made by this Makefile: move it away"):
        with bootstrap.locked(tmp_path):
            pytest.fail("entered")


# -------------------------------------------------------------------------------------------- what a stage depends on


@pytest.fixture
def keys(bootstrap, monkeypatch, source_copy, tmp_path):
    """keys() -> the key of every stage of .venv, for a source tree `keys.tree` that a test may change."""
    tree = tmp_path / "tree"
    bootstrap.shutil.copytree(source_copy, tree)
    monkeypatch.setattr(bootstrap, "ROOT", tree)
    here = machine(bootstrap)

    def keys():
        place = bootstrap.Environment(tree / ".venv", ("dev",), (tree / "constraints.txt",), here)
        return [key for _, key in bootstrap.stale(place.stages(), {})]

    keys.tree = tree
    return keys


def replace(file, old, new):
    text = file.read_text(encoding="utf-8")
    assert old in text
    file.write_text(text.replace(old, new), encoding="utf-8")


def changed(before, after):
    return [old != new for old, new in zip(before, after, strict=True)]


def test_an_edited_source_installs_nothing(keys):
    before = keys()
    (keys.tree / "rbt_ros" / "core" / "new.py").write_text("x = 1\n")
    replace(keys.tree / "rbt_ros" / "__init__.py", '"""rbt_ros', '"""The package rbt_ros')
    assert changed(before, keys()) == [False, False, False, False, False, False]


def test_a_comment_among_the_pins_installs_nothing(keys):
    before = keys()
    file = keys.tree / "constraints.txt"
    file.write_text("# hello\n\n" + file.read_text(encoding="utf-8"), encoding="utf-8")
    assert changed(before, keys()) == [False, False, False, False, False, False]


def test_a_changed_pin_installs_but_keeps_the_environment(keys):
    before = keys()
    replace(keys.tree / "constraints.txt", "numpy==1.26.4", "numpy==1.26.3")
    assert changed(before, keys()) == [False, True, True, True, True, True]


def test_a_changed_requirement_or_version_installs(keys):
    first = keys()
    replace(keys.tree / "setup.py", '"scipy",', '"scipy", "sympy",')
    second = keys()
    replace(keys.tree / "rbt_ros" / "__init__.py", "__version__ = ", "__version__ = '9' + ")
    assert changed(first, second) == changed(second, keys()) == [False, True, True, True, True, True]


def test_a_changed_generator_generates_tf2_msgs_again(keys):
    before = keys()
    replace(keys.tree / "rbt_ros" / "setup_ros.py", "BUILD_TESTING=OFF", "BUILD_TESTING=ON")
    assert changed(before, keys()) == [False, False, True, True, True, True]


def test_a_changed_page_is_bundled_again(keys):
    before = keys()
    replace(keys.tree / "rbt_ros" / "web" / "page" / "src" / "index.html", "<title>", "<title>our ")
    (keys.tree / "rbt_ros" / "web" / "page" / "view.html").write_text("made of that\n")
    assert changed(before, keys()) == [False, False, False, True, True, True]


def test_without_node_the_set_up_goes_on_and_says_how_to_bundle_later(bootstrap, monkeypatch, tmp_path):
    place = bootstrap.Environment(tmp_path, (), [], machine(bootstrap))

    def fail(*_):
        raise bootstrap.Failure("pip install failed with status 1; the end of a log")

    monkeypatch.setattr(bootstrap.shutil, "which", lambda name: None)
    monkeypatch.setattr(place, "_log", fail)
    assert place._page() == "left out, pip install failed with status 1; the end of a log; later: rbt view --build"


def test_a_pin_of_a_later_file_replaces_the_earlier_one(bootstrap, tmp_path):
    first, second = tmp_path / "first", tmp_path / "second"
    first.write_text("# set\nnumpy==1 ; python_version < '3.13'\nnumpy==2 ; python_version >= '3.13'\nscipy==1\n")
    second.write_text("numpy==3  # all\nPin==4\n")
    assert bootstrap.pin_lines(first, second) == ["numpy==3", "scipy==1", "Pin==4"]


def test_a_changed_hash_installs(keys):
    before = keys()
    file = keys.tree / "hashes.txt"
    file.write_text(re.sub(r"(?m)^\w{64}(?=  numpy-1)", "0" * 64, file.read_text(encoding="utf-8")), encoding="utf-8")
    assert changed(before, keys()) == [False, True, True, True, True, True]


# ------------------------------------------------------------------------------------------ what is installed, by hash


@pytest.mark.parametrize(
    ("file", "pin"),
    [
        ("numpy-1.26.4-cp311-cp311-manylinux_2_17_x86_64.manylinux2014_x86_64.whl", "numpy==1.26.4"),
        ("ruamel.yaml-0.19.1-py3-none-any.whl", "ruamel-yaml==0.19.1"),
        ("docopt-ng-0.9.0.tar.gz", "docopt-ng==0.9.0"),
        ("Mosek-9.3.9-1-cp39-cp39-linux_x86_64.whl", "mosek==9.3.9"),
        ("numpy-1.26.4.exe", ""),
    ],
)
def test_the_name_of_a_file_tells_its_pin(bootstrap, file, pin):
    assert bootstrap.pin_of(file) == pin


def test_a_pin_without_a_hash_is_a_failure_that_names_the_tool(bootstrap):
    hashes = bootstrap.read_hashes(f"# told by nobody\n{'1' * 64}  one-1.tar.gz\n{'2' * 64}  one-1-py3-none-any.whl\n")
    pins = ["one==1 ; python_version < '3.13'"]
    told = f"{pins[0]} --hash=sha256:{'1' * 64} --hash=sha256:{'2' * 64}"
    assert bootstrap.with_hashes(pins, hashes) == [told]
    with pytest.raises(bootstrap.Failure, match="two==2 has no hash in hashes.txt, .*: python3 tools/hashes.py"):
        bootstrap.with_hashes([*pins, "two==2"], hashes)


def test_requirements_are_those_of_the_installed_package(bootstrap):
    """Read from setup.py without setuptools, as its metadata has them."""
    ours = {
        extra: {Requirement(line) for line in bootstrap.our_requirements([extra])} for extra in ("ros", "dev", "film")
    }
    for extra, requirements in ours.items():
        told = [Requirement(line) for line in metadata.requires("rbt_ros")]
        wanted = {each.name for each in told if each.marker is None or each.marker.evaluate({"extra": extra})}
        here = {each.name for each in requirements if each.marker is None or each.marker.evaluate()}
        assert {canonical(name) for name in wanted} == {canonical(name) for name in here}


def canonical(name):
    return re.sub(r"[-_.]+", "-", name).lower()


def wheel(folder, name, needs=""):
    """A wheel without modules; its SHA-256."""
    file = folder / f"{name}-1-py3-none-any.whl"
    info = f"{name}-1.dist-info"
    requires = f"Requires-Dist: {needs}\n" if needs else ""
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: 1\n{requires}")
        archive.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        archive.writestr(f"{info}/RECORD", "")
    return f"{hashlib.sha256(file.read_bytes()).hexdigest()}  {file.name}\n"


def test_a_file_with_another_hash_is_not_installed(bootstrap, tmp_path):
    """By pip itself, from a folder: `outer` as asked for, then `inner`, which only `outer` asks for."""
    files = tmp_path / "files"
    files.mkdir()
    lines = wheel(files, "inner") + wheel(files, "outer", "inner")
    place = bootstrap.Environment(tmp_path, (), [], machine(bootstrap))
    place.pins, place.python = ["outer==1", "inner==1"], sys.executable
    pip = {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(files), "PIP_CONFIG_FILE": os.devnull}
    place.environ = {**os.environ, **pip, "PIP_TARGET": str(tmp_path / "site")}
    place.hashes = bootstrap.read_hashes(lines.replace(lines[:64], "0" * 64))
    with pytest.raises(bootstrap.Failure, match="DO NOT MATCH THE HASHES") as caught:
        place._pip("outer")
    assert "inner==1" in str(caught.value) and not (tmp_path / "site").exists()
    place.hashes = bootstrap.read_hashes(lines)
    place._pip("outer")
    assert sorted(path.name for path in (tmp_path / "site").iterdir()) == ["inner-1.dist-info", "outer-1.dist-info"]


# ----------------------------------------------------------------------------------------- programs that Ctrl-C ends

PROGRAM = """
import signal, sys
ends = {signal.SIGINT, signal.SIGTERM}
signal.pthread_sigmask(signal.SIG_BLOCK, ends)
print("ready", flush=True)
if signal.sigwait(ends) == signal.SIGTERM:
    sys.exit(7)
again = signal.sigtimedwait(ends, 0.2)
print("interrupted once" if again is None else "interrupted again", flush=True)
"""


@pytest.fixture
def makefile(root, tmp_path):
    """A Makefile whose only target runs PROGRAM as `make demo` runs ours."""
    (tmp_path / "program.py").write_text(PROGRAM)
    (tmp_path / "outer.py").write_text(
        f"import sys\nsys.path.insert(0, {str(root)!r})\nimport bootstrap\n"
        f"command = [sys.executable, {str(tmp_path / 'program.py')!r}]\n"
        "sys.exit(bootstrap.in_foreground(command, bootstrap.os.environ))\n"
    )
    (tmp_path / "Makefile").write_text(f"demo:\n\t@{sys.executable} outer.py\n")
    return tmp_path


def read_until(handle, words):
    """What comes out of a terminal or pipe up to `words`, or its end."""
    seen = b""
    while words not in seen:
        try:
            part = os.read(handle, 1024)
        except OSError:  # a terminal that nobody holds any more
            break
        if not part:
            break
        seen += part
    return seen


@pytest.fixture
def in_terminal(makefile):
    """`make demo` in a terminal of its own: the process and the other end of the terminal."""
    ours, its = os.openpty()
    child = subprocess.Popen(
        ["make", "demo"],
        cwd=makefile,
        stdin=its,
        stdout=its,
        stderr=its,
        start_new_session=True,
        preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),
    )
    os.close(its)
    yield child, ours
    os.close(ours)  # hangs up: what is still in front of it ends
    child.kill()
    child.wait()


def test_ctrl_c_in_a_terminal_ends_make_with_status_0_and_no_complaint(in_terminal):
    child, terminal = in_terminal
    assert b"ready" in read_until(terminal, b"ready")
    os.write(terminal, b"\x03")
    output = read_until(terminal, b"never")
    assert b"interrupted once" in output
    assert b"make:" not in output
    assert child.wait() == 0


@pytest.fixture
def outer(makefile):
    """The running outer program, without a terminal; nothing of it is left afterwards."""
    child = subprocess.Popen(
        [sys.executable, "outer.py"],
        cwd=makefile,
        stdout=subprocess.PIPE,
        stdin=subprocess.DEVNULL,
        start_new_session=True,
    )
    assert b"ready" in read_until(child.stdout.fileno(), b"ready")
    yield child
    child.kill()
    child.wait()
    child.stdout.close()


def test_an_interrupt_sent_to_the_group_reaches_the_program_once(outer):
    os.killpg(outer.pid, signal.SIGINT)
    assert b"interrupted once" in read_until(outer.stdout.fileno(), b"once")
    assert outer.wait() == 0


def test_the_status_of_a_terminated_program_is_handed_on(outer):
    outer.send_signal(signal.SIGTERM)
    assert outer.wait() == 7


def test_the_program_does_not_outlive_a_killed_set_up(outer):
    """The pipe ends when the last process that holds it, the program, is gone."""
    outer.kill()
    assert read_until(outer.stdout.fileno(), b"never").strip() == b""


def test_an_unknown_target_prints_the_usage(root, run):
    assert "bootstrap.py demo" in run([sys.executable, root / "bootstrap.py", "dance"], status=2)
