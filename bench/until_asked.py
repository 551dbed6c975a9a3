"""Spins a node of a benchmark until SIGTERM or SIGINT, which end it within a look, whatever else the machine does.

rclpy's own handler shuts the context down from another thread, amid whatever the main thread does: a callback that
publishes raises then, and a process that ends at that moment may wait for ever.
"""

import signal

import rclpy
from rclpy.executors import SingleThreadedExecutor
from rclpy.signals import SignalHandlerOptions

LOOK_S = 0.1


def begin():
    """rclpy, without its handlers."""
    rclpy.init(signal_handler_options=SignalHandlerOptions.NO)


def spin(node):
    """Until it is asked to end; then all of it is destroyed."""
    asked = []
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda number, frame: asked.append(number))
    executor = SingleThreadedExecutor()
    executor.add_node(node)
    while not asked:
        executor.spin_once(timeout_sec=LOOK_S)
    executor.shutdown()
    node.destroy_node()
    rclpy.shutdown()
