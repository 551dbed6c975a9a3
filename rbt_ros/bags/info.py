"""`rbt info BAG`: what is in a bag, in lines."""

import os

from rbt_ros.bags.bag import Bag
from rbt_ros.errors import MessageError


def described(bag: Bag) -> list[str]:
    """Topics with counts, what ran, what is damaged, skipped or out of order."""
    first, last = bag.span
    seconds = (last - first) * 1e-9
    lines = [f"{bag.path}: {bag.format}, {bag.messages} messages, {seconds:.9g} s, {bag.size * 1e-6:.3g} MB"]
    for name, topic in sorted(bag.topics.items()):
        count = len(topic.t_ns)
        if not count:
            continue
        rate = f", {(count - 1) / seconds:.4g} Hz" if count > 2 and seconds > 0 else ""
        lines.append(f"  {name}: {topic.type}, {count}{rate}")
    if empty := [name for name, topic in sorted(bag.topics.items()) if not topic.t_ns]:
        lines.append(f"  without messages: {', '.join(empty)}")
    return lines + _running(bag) + troubles(bag)


def _running(bag: Bag) -> list[str]:
    try:
        runs = bag.runs()
    except MessageError as err:
        return [f"  what runs cannot be read: {err}"]
    lines = []
    for run in runs:
        versions = ", ".join(f"{key} {value}" for key, value in run["versions"].items())
        how = f"{run['integrator']}, step {run['step_ns'] * 1e-6:g} ms, seed {run['seed']}, digest {run['digest']}"
        lines.append(f"  from {run['stamp'] * 1e-9:.9g} s runs '{run['name']}', tick {run['tick']}: {how} ({versions})")
    return lines


def troubles(bag: Bag) -> list[str]:
    """What a reader has to know before using the bag."""
    lines = [f"  damaged: {damage}" for damage in bag.damage]
    lines += [f"  lost: what was recorded {gap.text()}" for gap in bag.gaps]
    for name, skipped in bag.skipped.items():
        lines.append(f"  skipped: {name}, {skipped.messages} messages of {skipped.type}: {skipped.reason}")
    for name, count in bag.backwards().items():
        lines.append(f"  out of order: the times of {name} go back {count} times")
    said = (values.get("rbt_lost_samples", "") for values in bag.metadata.values())
    if lost := max((int(count) for count in said if count.isdecimal()), default=0):
        lines.append(f"  incomplete: {lost} samples were lost while it was recorded")
    if bag.format == "mcap" and os.path.isdir(bag.path) and not os.path.exists(bag.path / "metadata.yaml"):
        lines.append(f"  metadata.yaml is missing: was the recording killed? `rbt repair {bag.path}` makes it")
    return lines
