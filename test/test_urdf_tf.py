"""robot_description, /joint_states and /tf tell one story: links are frames, and their poses follow from the URDF."""

from xml.etree import ElementTree as ET

import numpy as np
import pytest
from robots import KINDS, random_robot
from transforms3d.affines import compose
from transforms3d.axangles import axangle2mat
from transforms3d.euler import euler2mat
from transforms3d.quaternions import quat2mat
from trees import random_state

from rbt_ros import topics
from rbt_ros.model.urdf import urdf_text
from rbt_ros.sim import Simulation

EPS = np.finfo(float).eps


def sample_of(robot, rng):
    """A sample somewhere in configuration space."""
    sim = Simulation(robot)
    q, v = random_state(rng, robot.model)
    sim._mech.y[:] = (*q, *v)
    return sim.sample()


def transforms(robot, sample):
    """child -> (parent, 4x4) of /tf and /tf_static together."""
    found = {}
    for fixed in (False, True):
        for tf in topics.transform_fields(robot, "", sample, 0, fixed=fixed)["transforms"]:
            place = tf["transform"]
            T = compose(place["translation"], quat2mat(place["rotation"]), np.ones(3))
            assert tf["child_frame_id"] not in found
            found[tf["child_frame_id"]] = (tf["header"]["frame_id"], T)
    return found


def numbers(element, key):
    return [float(word) for word in element.get(key).split()] if element is not None else [0.0, 0.0, 0.0]


def from_joint_states(text, positions):
    """child -> (parent, 4x4) of every joint whose place follows from the URDF and the joint positions."""
    found = {}
    for joint in ET.fromstring(text).iter("joint"):
        origin, axis = joint.find("origin"), joint.find("axis")
        T = compose(numbers(origin, "xyz"), euler2mat(*numbers(origin, "rpy"), axes="sxyz"), np.ones(3))
        kind, move, mimic = joint.get("type"), np.eye(4), joint.find("mimic")
        at = positions.get(joint.get("name"))
        if at is None and mimic is not None:  # a slide that goes with a screw
            at = float(mimic.get("multiplier")) * positions[mimic.get("joint")]
        if kind in ("revolute", "continuous"):
            move[:3, :3] = axangle2mat(numbers(axis, "xyz"), at)
        elif kind == "prismatic":
            move[:3, 3] = np.multiply(numbers(axis, "xyz"), at)
        known = kind != "floating"
        found[joint.find("child").get("link")] = (joint.find("parent").get("link"), T @ move if known else None)
    return found


@pytest.mark.parametrize("seed", range(30))
def test_every_link_has_its_frame_where_the_urdf_says(seed):
    """To round-off: what is at 8 m from the origin, as here, may be off by some 8 eps."""
    rng = np.random.default_rng(seed)
    robot = random_robot(rng, 8, (KINDS[seed % len(KINDS)], *KINDS))
    sample, text = sample_of(robot, rng), urdf_text(robot)
    tf = transforms(robot, sample)
    assert {"world", *tf} == {link.get("name") for link in ET.fromstring(text).iter("link")}
    states = topics.joint_state_fields(robot, sample, 0)
    expected = from_joint_states(text, dict(zip(states["name"], states["position"], strict=True)))
    assert {child: parent for child, (parent, _) in tf.items()} == {c: p for c, (p, _) in expected.items()}
    worst = max([np.abs(tf[child][1] - T).max() for child, (_, T) in expected.items() if T is not None], default=0)
    assert worst < 50 * EPS  # measured: 8 eps, here and below
    # and the chains of frames end where the bodies are
    for body, pose in zip(robot.bodies, sample.pose, strict=True):
        T, frame = np.eye(4), body.name
        while frame != "world":
            T, frame = tf[frame][1] @ T, tf[frame][0]
        where = compose(pose[4:], quat2mat(pose[:4]), np.ones(3))
        assert np.abs(T - where).max() < 50 * EPS


def test_the_frames_of_a_universal_hinge():
    robot = random_robot(np.random.default_rng(0), 1, ("universal",))
    sample = sample_of(robot, np.random.default_rng(1))
    fields = topics.transform_fields(robot, "a/", sample, 5, fixed=False)["transforms"]
    frames = [(tf["header"]["frame_id"], tf["child_frame_id"]) for tf in fields]
    assert frames == [("a/world", "a/h0_1"), ("a/h0_1", "a/b0")]
