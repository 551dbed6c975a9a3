"""What the node says of itself on /diagnostics, beside what is conserved."""

from collections.abc import Mapping

from rbt_ros import topics
from rbt_ros.ros.measures import Counters, LoopStatistics


def loop_report(s: LoopStatistics, h_ns: int, state: str, failure: str | None) -> topics.Report:
    """How well time is kept. state: the mode, or why it stands still."""
    values = {
        "state": state,
        "ticks": s.ticks,
        "elapsed [s]": s.elapsed_ns * 1e-9,
        "step [s]": h_ns * 1e-9,
        "real-time factor": s.real_time_factor,
        "overruns": s.overruns,
        "overruns, part of ticks": s.overruns / max(1, s.ticks),
        "jitter p50 [us]": s.late_us.p50,
        "jitter p99 [us]": s.late_us.p99,
        "jitter max [us]": s.late_us.max,
        "latency p50 [us]": s.latency_us.p50,
        "latency p99 [us]": s.latency_us.p99,
        "latency max [us]": s.latency_us.max,
        "lag given up [s]": s.given_up_ns * 1e-9,
        "scheduling": s.scheduling,
    }
    if failure:
        return topics.Report("loop", topics.ERROR, failure, values)
    if s.given_up_ns or s.overruns > 0.001 * s.ticks + 1:
        return topics.Report("loop", topics.WARN, "steps come late: a longer step or lower rates help", values)
    return topics.Report("loop", topics.OK, "in time", values)


def command_report(c: Counters) -> topics.Report:
    """What became of the commands."""
    values = {
        "accepted": c.accepted,
        "rejected": c.rejected,
        "stale": c.stale,
        "late": c.late,
        "steps that needed a repeat": c.repeated,
        "stamped ahead of the clock": c.ahead,
        "cancelled": c.cancelled,
        "sources lost": c.lost,
        "last fault": c.last_fault,
    }
    faults = c.rejected + c.stale + c.late + c.ahead + c.cancelled + c.lost
    summary = f"{faults} commands were faulty: {c.last_fault}" if faults else "all commands were good"
    return topics.Report("commands", topics.WARN if faults else topics.OK, summary, values)


def connection_report(incompatible: Mapping[str, int], other_clock: str = "") -> topics.Report:
    """Whom we cannot hear, or who cannot hear us, because qualities of service do not fit; who else has a /clock.

    incompatible: how many peers do not fit each of our publishers and subscribers.
    """
    misfits = ", ".join(incompatible)
    values = {
        "incompatible QoS": sum(incompatible.values()),
        "of": misfits or "none",
        "other publisher of /clock": other_clock or "none",
    }
    if other_clock:
        summary = f"node {other_clock} publishes /clock, too: end it, or start one of both with publish_clock:=false"
        return topics.Report("connections", topics.WARN, summary, values)
    if incompatible:
        ours = "reliable, volatile; latched: transient local"
        summary = f"{misfits}: the quality of service of peers does not fit ours ({ours})"
        return topics.Report("connections", topics.WARN, summary, values)
    return topics.Report("connections", topics.OK, "all fit", values)
