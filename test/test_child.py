"""Child processes in a folder with files named like modules: none of these is imported instead of the module."""

import subprocess
import sys

import pytest

import rbt_ros as rbt
from rbt_ros import child, setup_ros


def test_a_bag_is_recorded_whatever_lies_in_the_working_directory(shadowed):
    sim = rbt.load("cubesat").simulation()
    with rbt.Recorder(shadowed / "bag", sim, apart=True) as recorder:
        sim.advance(10)
    report = recorder.close()
    assert report.messages == rbt.Bag(shadowed / "bag").messages > 0 and not report.lost


def test_type_hashes_are_read_there(shadowed):
    assert len(setup_ros.installed_hashes("tf2_msgs", ["msg/TFMessage"])) == 1


@pytest.mark.skipif(sys.version_info < (3, 11), reason="Python 3.10 has no switch for what multiprocessing starts")
@pytest.mark.parametrize("shadowed", ["everything"], indirect=True)
def test_workers_of_maps_start_there(shadowed):
    grid = ("--mode", "planar", "--psi1=-90:90:3", "--psi2=-90:90:3", "--workers=2")
    words = child.command("rbt_ros.cli", "map", "rods", *grid)
    done = subprocess.run(words, capture_output=True, text=True, timeout=170, check=False)
    assert done.returncode == 0 and "3 x 3 cells" in done.stdout, done.stderr


def test_a_child_runs_this_package_and_its_main_program(shadowed):
    """Arguments, exit code and the version are those of ours, also from where rbt_ros.py lies, or another copy."""
    done = subprocess.run(child.command("rbt_ros.cli", "--version"), capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, f"rbt_ros {rbt.__version__}\n"), done.stderr
