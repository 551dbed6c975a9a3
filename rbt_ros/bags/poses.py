"""Poses in the world from the transforms of a bag."""

from typing import NamedTuple

import numpy as np

from rbt_ros.bags.arrays import joined
from rbt_ros.bags.bag import Bag
from rbt_ros.bags.table import TF, table_of
from rbt_ros.errors import MessageError
from rbt_ros.model.attitude import turn_all


class Poses(NamedTuple):
    """Frames over time, as seen from their root."""

    t_ns: np.ndarray  # (N,) stamps
    frames: dict[str, tuple[np.ndarray, np.ndarray]]  # name -> q_WB (N, 4), p_WB (N, 3)


def world_poses(bag: Bag) -> Poses:
    """All frames at the stamps of /tf; those of /tf_static hold all the time."""
    columns = table_of(bag).columns
    moving = joined(bag.parts("tf", TF), lambda path: False)
    t_ns = moving.stamps.get("transforms[0].header.stamp")
    if t_ns is None:
        raise MessageError(f"{bag.path} holds no transforms on /tf.")
    links: dict[str, tuple[str, np.ndarray, np.ndarray]] = {}
    for name in columns:
        frame, _, key = name.rpartition(".")
        child, _, parent = frame.partition(".in.")
        if key == "quaternion_w" and parent:
            q = np.stack([columns[f"{frame}.quaternion_{c}"][1] for c in "wxyz"], axis=1)
            p = np.stack([columns[f"{frame}.position_{c} [m]"][1] for c in "xyz"], axis=1)
            if len(q) not in (1, len(t_ns)):
                raise MessageError(f"{bag.path}: frame {child} is not in every message of /tf.")
            links[child] = parent, np.broadcast_to(q, (len(t_ns), 4)), np.broadcast_to(p, (len(t_ns), 3))
    found: dict[str, tuple[np.ndarray, np.ndarray]] = {}
    for child in links:
        _place(child, links, found, ())
    return Poses(t_ns, found)


def _place(child: str, links: dict, found: dict, above: tuple[str, ...]) -> tuple[np.ndarray, np.ndarray]:
    """Pose of a frame in the root of its tree."""
    if child in above:
        raise MessageError(f"the transforms go in a circle: {' in '.join((child, *above))}.")
    if child not in found:
        parent, q, p = links[child]
        if parent in links:
            q_P, p_P = _place(parent, links, found, (child, *above))
            q, p = products(q_P, q), p_P + turn_all(q_P, p)
        found[child] = q, p
    return found[child]


def products(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """(N, 4) quaternions a b, w x y z."""
    w = a[:, :1] * b[:, :1] - np.sum(a[:, 1:] * b[:, 1:], axis=1, keepdims=True)
    return np.hstack([w, a[:, :1] * b[:, 1:] + b[:, :1] * a[:, 1:] + np.cross(a[:, 1:], b[:, 1:])])
