"""Wait for the loop's /diagnostics that come last within the given seconds; print what the benchmark reads."""

import json
import sys
import time

import rclpy
from diagnostic_msgs.msg import DiagnosticArray

WORDS = ("state", "scheduling")  # values that are no numbers
SETTLED = 10  # reports: a tick that is lost is missing in all that follow, one that is late only in its own


def missing(told):
    """Ticks less than the time until the last step began holds."""
    return told["elapsed [s]"] / told["step [s]"] - told["ticks"]


def main():
    seconds = float(sys.argv[1])
    rclpy.init()
    node = rclpy.create_node("watch_diagnostics")
    seen = []

    def on_diagnostics(message):
        for status in message.status:
            if status.name.endswith(": loop"):
                seen.append({v.key: v.value if v.key in WORDS else float(v.value) for v in status.values})

    node.create_subscription(DiagnosticArray, "/diagnostics", on_diagnostics, 10)
    start = time.monotonic()
    while time.monotonic() < start + seconds or not seen:
        rclpy.spin_once(node, timeout_sec=0.1)
    last = seen[-1]
    last["missing"] = min((missing(told) for told in seen[-SETTLED:]), key=abs)
    print(json.dumps(last))


if __name__ == "__main__":
    main()
