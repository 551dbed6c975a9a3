"""Attitudes as people write them, against transforms3d."""

import math

import numpy as np
import pytest
from transforms3d.euler import euler2quat
from transforms3d.quaternions import quat2mat

from rbt_ros.errors import ModelError
from rbt_ros.model.attitude import (
    SEQUENCES,
    as_quaternion,
    euler_angles,
    from_euler,
    from_roll_pitch_yaw,
    matrices,
    roll_pitch_yaw,
    unit_quaternion,
)

EPS = np.finfo(float).eps


@pytest.mark.parametrize("sequence", ["ZYX", "ZXZ", "XYZ", "YXY", "XZX", "YZX"])
def test_euler_angles_are_successive_turns_about_body_axes(sequence):
    angles = (0.3, -1.1, 2.0)
    ours = as_quaternion((sequence, *angles), "test")
    assert ours == pytest.approx(euler2quat(*angles, axes="r" + sequence.lower()), abs=4 * EPS)


@pytest.mark.parametrize("q", [(0.5, 0.5, 0.5, 0.5), (0.0, 1.0, 0.0, 0.0), (0.0, 0.0, 0.6, 0.8), (0.1, 0.7, -0.1, 0.7)])
def test_matrix_and_back(q):
    unit = np.array(q) / np.linalg.norm(q)
    assert as_quaternion(quat2mat(unit), "test") == pytest.approx(unit, abs=8 * EPS)


def test_a_unit_quaternion_keeps_its_bits():
    q = (math.sqrt(0.5), 0.0, math.sqrt(0.5), 0.0)
    assert unit_quaternion(q, "test") == q


def test_a_quaternion_of_another_length_is_normalised_with_a_warning():
    with pytest.warns(UserWarning, match=r"body 'hub': the quaternion \[2, 0, 0, 0\] has norm 2 and was normalised"):
        assert unit_quaternion([2, 0, 0, 0], "body 'hub'") == (1.0, 0.0, 0.0, 0.0)


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ([0, 0, 0, 0], "is zero and has no direction; no turn is"),
        ([math.nan, 0, 0, 1], "four finite numbers"),
        ([math.inf, 0, 0, 1], "four finite numbers"),
        (np.diag([1, 1, -1]), "is no rotation"),
        (("ZZX", 0, 0, 0), "'ZZX' is no Euler sequence"),
        (("ABC", 0, 0, 0), "'ABC' is no Euler sequence"),
        (("ZYX", math.nan, 0, 0), "three finite angles"),
        ([1, 2, 3], "is no attitude"),
    ],
)
def test_what_is_no_attitude_says_why(value, message):
    with pytest.raises(ModelError, match=message):
        as_quaternion(value, "here")


@pytest.mark.parametrize("near", [1.0, 1e-4, 1e-8, 1e-12, 0.0])
@pytest.mark.parametrize("pole", [1, -1])
def test_roll_pitch_yaw_gives_back_the_attitude(pole, near):
    """URDF's convention: R = Rz(yaw) Ry(pitch) Rx(roll); exact to round-off, at the poles and near them too."""
    rng = np.random.default_rng(3)
    for roll, yaw in rng.uniform(-np.pi, np.pi, (50, 2)):
        q = euler2quat(roll, pole * (np.pi / 2 - near), yaw, axes="sxyz")
        again = from_roll_pitch_yaw(roll_pitch_yaw(q), "test")
        assert min(np.abs(again - q).max(), np.abs(again + q).max()) < 8 * EPS


@pytest.mark.parametrize("sequence", SEQUENCES)
def test_euler_angles_give_back_the_attitude(sequence):
    """Of all 12 sequences, in gimbal lock too; in their ranges. Bound: a few roundings of angles up to π."""
    rng = np.random.default_rng(3)
    angles = rng.uniform(-np.pi, np.pi, (40, 3))
    angles[:4, 1] = 0.0, np.pi / 2, -np.pi / 2, np.pi
    q = np.array([from_euler(sequence, row, "test") for row in angles])
    found = euler_angles(q, sequence)
    again = np.array([from_euler(sequence, row, "test") for row in found])
    assert np.abs(np.abs((q * again).sum(axis=1)) - 1.0).max() <= 4 * EPS
    assert np.abs(q - again * np.sign((q * again).sum(axis=1))[:, None]).max() <= 6 * EPS
    low, high = (0.0, np.pi) if sequence[0] == sequence[2] else (-np.pi / 2, np.pi / 2)
    assert np.all((found[:, 1] >= low - EPS) & (found[:, 1] <= high + EPS))
    assert np.abs(found[:, [0, 2]]).max() <= np.pi


def test_matrices_of_many_quaternions():
    q = np.random.default_rng(4).normal(size=(2, 5, 4))
    expected = [[quat2mat(row) for row in rows] for rows in q]
    assert matrices(q) == pytest.approx(np.array(expected), abs=8 * EPS)
