"""`rbt info BAG`: what is in a bag, in lines."""

from rbt_ros.bags.bag import Bag


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
    for run in bag.runs():
        versions = ", ".join(f"{key} {value}" for key, value in run["versions"].items())
        how = f"{run['integrator']}, step {run['step_ns'] * 1e-6:g} ms, seed {run['seed']}, digest {run['digest']}"
        lines.append(f"  from {run['stamp'] * 1e-9:.9g} s runs '{run['name']}', tick {run['tick']}: {how} ({versions})")
    return lines + troubles(bag)


def troubles(bag: Bag) -> list[str]:
    """What a reader has to know before using the bag."""
    lines = [f"  damaged: {damage}" for damage in bag.damage]
    for name, skipped in bag.skipped.items():
        lines.append(f"  skipped: {name}, {skipped.messages} messages of {skipped.type}: {skipped.reason}")
    for name, count in bag.backwards().items():
        lines.append(f"  out of order: the times of {name} go back {count} times")
    lost = sum(int(values.get("rbt_lost_samples", "0")) for values in bag.metadata.values())
    if lost:
        lines.append(f"  incomplete: {lost} samples were lost while it was recorded")
    if bag.format == "mcap" and bag.path.is_dir() and not (bag.path / "metadata.yaml").exists():
        lines.append(f"  metadata.yaml is missing: was the recording killed? `rbt repair {bag.path}` makes it")
    return lines
