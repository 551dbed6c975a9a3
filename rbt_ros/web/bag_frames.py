"""The poses in a bag: transforms from the world to each body, link by link, as /tf has them. Also of bags of others."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from rbt_ros.bags.bag import Bag
from rbt_ros.core.vec import qmul, qturn
from rbt_ros.errors import ScenarioError
from rbt_ros.model.robot import WORLD, Robot
from rbt_ros.model.scenario import Scenario, scenario_from_text
from rbt_ros.web.recording import Frame

TF = "tf2_msgs/msg/TFMessage"
MOST_LINKS = 1000  # from a body to the world; more: they go in a circle
Link = tuple[str, tuple[float, ...], tuple[float, ...]]  # parent, q, p


def scenario_of(bag: Bag) -> Scenario:
    """What ran, as the bag tells it; ScenarioError where it does not."""
    runs = bag.runs()
    if not runs or not runs[0]["scenario"]:
        raise ScenarioError(f"{bag.path} does not tell which scenario ran; name it: --of SCENARIO.")
    return scenario_from_text(runs[0]["scenario"], f"{runs[0]['folder']}/{runs[0]['name']}.yaml")


def frames(bag: Bag, robot: Robot) -> Iterator[Frame]:
    """(t [s] since the first one, poses, nothing else) of every stamp at which all bodies are known."""
    names, links = [body.name for body in robot.bodies], _static(bag)
    prefix, first, now = _prefix(bag, robot), -1, -1
    for _, message in bag.read("/tf", TF):
        for transform in message.transforms:
            stamp = transform.header.stamp.sec * 1_000_000_000 + transform.header.stamp.nanosec
            if stamp > now >= 0 and (pose := _poses(links, names, prefix)) is not None:
                first = now if first < 0 else first
                yield (now - first) * 1e-9, pose, None
            now = max(now, stamp)
            links[transform.child_frame_id] = _link(transform)
    if (pose := _poses(links, names, prefix)) is not None and now >= 0:
        yield (now - max(first, 0)) * 1e-9 if first >= 0 else 0.0, pose, None


def _prefix(bag: Bag, robot: Robot) -> str:
    """What stands before the names of frames."""
    for _, message in bag.read("/tf", TF):
        for transform in message.transforms:
            for body in robot.bodies:
                if transform.child_frame_id.endswith(body.name):
                    return transform.child_frame_id.removesuffix(body.name)
    raise ScenarioError(f"/tf of {bag.path} moves none of {', '.join(body.name for body in robot.bodies)}.")


def _static(bag: Bag) -> dict[str, Link]:
    if "/tf_static" not in bag.topics:
        return {}
    return {t.child_frame_id: _link(t) for _, message in bag.read("/tf_static", TF) for t in message.transforms}


def _link(transform: Any) -> Link:
    p, q = transform.transform.translation, transform.transform.rotation
    return transform.header.frame_id, (q.w, q.x, q.y, q.z), (p.x, p.y, p.z)


def _poses(links: dict[str, Link], names: list[str], prefix: str) -> np.ndarray | None:
    """(n, 7) q_WB, p_WB; None where a body hangs on nothing known."""
    poses = np.empty((len(names), 7))
    for row, name in zip(poses, names, strict=True):
        frame, q, p = prefix + name, (1.0, 0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
        for _ in range(MOST_LINKS):
            if frame not in links:
                break
            frame, q_PF, p_PF = links[frame]
            q, p = qmul(q_PF, q), tuple(a + b for a, b in zip(p_PF, qturn(q_PF, p), strict=True))
        if frame not in (WORLD, prefix + WORLD):
            return None
        row[:] = (*q, *p)
    return poses
