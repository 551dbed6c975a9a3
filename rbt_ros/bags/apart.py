"""`rbt_ros.bags.apart FD`, a program: writes a bag of what another process appends to a ring; see `handover.Apart`.

It ends with that process: at its word, or when it is gone, and then with all that it had handed over.
"""

import contextlib
import json
import os
import pickle
import select
import signal
import sys
from typing import Any

import numpy as np

from rbt_ros.bags.handover import END, FIELDS, HEAD, LATCHED, MOTION, PART, PERIOD_S, PLAN, WHOLE, described
from rbt_ros.bags.plan import Plan, Scribe, Written
from rbt_ros.bags.ring import Ring
from rbt_ros.results import Sample


class Clerk:
    """Takes records from the ring and has them written by a scribe, once it has the plan."""

    def __init__(self) -> None:
        self.scribe: Scribe | None = None
        self.ended = False
        self._part = bytearray()

    def take(self, record: bytearray) -> None:
        """Do what a record wants."""
        if record[0] == PART:
            self._part += record[1:]
            return
        if self._part:
            record, self._part = self._part + record, bytearray()
        kind = record[0]
        if kind == END:
            self.ended = True
        elif kind == MOTION:
            self._motion(record)
        else:
            self._pickled(kind, pickle.loads(memoryview(record)[1:]))

    def _pickled(self, kind: int, what: Any) -> None:
        if kind == PLAN:
            self._begin(what)
            return
        assert self.scribe is not None
        if kind == FIELDS:
            self.scribe.fields(*what)
        elif kind == LATCHED:
            self.scribe.latched(Sample(*what[1]), what[0])
        elif kind == WHOLE:
            self.scribe.sample(what[0], Sample(*what[2]), what[1])

    def _begin(self, plan: Plan) -> None:
        self._bodies = len(plan.robot.bodies)
        self._ends = np.cumsum([plan.robot.coordinates, plan.robot.freedoms, 7 * self._bodies])
        self.scribe = Scribe(plan, made=True)

    def _motion(self, record: bytearray) -> None:
        """A sample of which the rest is not needed."""
        assert self.scribe is not None
        _, count, stamp, t_ns, tick = HEAD.unpack_from(record)
        due = np.frombuffer(record, np.uint16, count, HEAD.size)
        numbers = np.frombuffer(record, np.float64, offset=HEAD.size + (2 * count + 7 & ~7))
        q, v, pose, twist = np.split(numbers, self._ends)
        rest = dict.fromkeys(Sample._fields, None)
        motion = {"t_ns": t_ns, "tick": tick, "q": q, "v": v}
        frames = {"pose": pose.reshape(self._bodies, 7), "twist": twist.reshape(self._bodies, 6)}
        self.scribe.sample(due.tolist(), Sample(**{**rest, **motion, **frames}), stamp)


def work(ring: Ring, clerk: Clerk) -> Written:
    """Until the end, or until the process that appends is gone."""
    alone = False
    while not clerk.ended and not alone:
        alone = bool(select.select([sys.stdin], [], [], PERIOD_S)[0])  # its end of the pipe is closed
        for record in ring.take(all_of_it=alone):
            clerk.take(record)
            if clerk.scribe:
                clerk.scribe.flush_in_time()
        if clerk.scribe:
            clerk.scribe.flush_in_time()
    return clerk.scribe.end(ring.lost) if clerk.scribe else Written(failure="there was no plan")


def tell(written: Written) -> None:
    """Answer, where anybody listens."""
    with contextlib.suppress(BrokenPipeError):
        print(json.dumps(written._asdict()), flush=True)


def main() -> int:
    """Until the bag is written; the exit code."""
    for number in (signal.SIGINT, signal.SIGTERM):  # those that end us end the other process, too, and then we do
        signal.signal(number, signal.SIG_IGN)
    ring, clerk = Ring(int(sys.argv[1])), Clerk()
    try:
        written = work(ring, clerk)
    except Exception as err:  # a full disk, most likely; told by who handed it over
        tell(Written(failure=described(err)))
        ring.fail()  # then: who sees it finds the reason
        if clerk.scribe:
            clerk.scribe.abandon()
        return 1
    tell(written)
    return 1 if written.failure else 0


if __name__ == "__main__":
    code = main()
    sys.stdout.flush()
    os._exit(code)  # nothing is left to do, and nobody reads an answer that comes too late
