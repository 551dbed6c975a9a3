"""A ROS domain of its own for each test, nodes in child processes, and a peer in this process that watches them."""

import collections
import contextlib
import itertools
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import rbt_ros

pytest.importorskip("rclpy", reason="ROS 2 is not complete here: make env, or source your ROS")

import domain_coordinator
import rclpy
from diagnostic_msgs.msg import DiagnosticArray
from geometry_msgs.msg import Wrench, WrenchStamped
from rcl_interfaces.msg import Parameter, ParameterValue
from rcl_interfaces.srv import SetParameters
from rclpy.context import Context
from rclpy.executors import SingleThreadedExecutor
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy

LATE = float(os.environ.get("RBT_LATE", 0.0))  # [s] by which topics may come late: finds tests that compare two of them
LIMIT = 120  # [s] after which a child process is killed, whatever happens to us
DEADLINE = 60  # [s] for a condition: a machine under load needs longer, one that works is never waited for
RBT = (sys.executable, "-m", "rbt_ros.cli")
SIMULATOR = (sys.executable, "-c", "from rbt_ros.cli import simulator; simulator()")


class Child:
    """A process: its output goes to files, it is killed after LIMIT, and reaped by `stop` at the latest."""

    def __init__(self, watch, command, environ, folder: Path, limit: float = LIMIT):
        self._watch, self._limit = watch, limit
        self._out, self._err = folder / "stdout", folder / "stderr"
        guard = ["timeout", "--foreground", "--signal=KILL", str(limit)]
        with self._out.open("w") as out, self._err.open("w") as err:
            self._guard = subprocess.Popen(
                [*guard, *command], env=environ, cwd=folder, stdout=out, stderr=err, start_new_session=True
            )

    @property
    def stdout(self) -> str:
        return self._out.read_text(encoding="utf-8", errors="replace")

    @property
    def stderr(self) -> str:
        return self._err.read_text(encoding="utf-8", errors="replace")

    @property
    def running(self) -> bool:
        return self._guard.poll() is None

    @property
    def pid(self) -> int:
        """That of the program itself, which `timeout` guards."""
        return int(Path(f"/proc/{self._guard.pid}/task/{self._guard.pid}/children").read_text().split()[0])

    def until_printed(self, text: str) -> None:
        """Wait until `text` is on its standard output."""
        end = time.monotonic() + DEADLINE
        while text not in self.stdout:
            if time.monotonic() > end or not self.running:
                pytest.fail(f"'{text}' was not printed:\n{self.stdout}\n{self.stderr}")
            time.sleep(0.02)

    def wait(self) -> int:
        """Its exit code, once it has ended by itself."""
        return self._guard.wait(self._limit + DEADLINE)

    def stop(self, number: int = signal.SIGTERM) -> int:
        """Ask it to end; its exit code."""
        with contextlib.suppress(OSError, IndexError):  # it has ended already
            pid = self.pid
            self._watch.note_files(pid)
            os.kill(pid, number)
        try:
            return self._guard.wait(DEADLINE)
        except subprocess.TimeoutExpired:
            self.kill()
            raise AssertionError(f"the process did not end on signal {number}:\n{self.stderr}") from None

    def kill(self) -> None:
        """End it at once. Through shared memory, Fast DDS leaves files then: see `Ros.without_shared_memory`."""
        if self.running:
            with contextlib.suppress(OSError, IndexError):
                self._watch.note_files(self.pid)
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self._guard.pid, signal.SIGKILL)
        self._guard.wait()


class Late:
    """A topic as on a machine under load: first nothing is received, then everything late, together by LATE at most.

    All messages of a topic come late by the same time, those of another topic by another.
    """

    def __init__(self, received: list, *, latched: bool):
        self._received, self._lag = received, random.uniform(0.0, LATE)
        self._open = time.monotonic() + (0.0 if latched else LATE - self._lag)
        self._waiting: collections.deque = collections.deque()

    def take(self, message) -> None:
        now = time.monotonic()
        if now >= self._open:
            self._waiting.append((now + self._lag, message))

    def hand_over(self) -> None:
        while self._waiting and self._waiting[0][0] <= time.monotonic():
            self._received.append(self._waiting.popleft()[1])


class Peer:
    """A node in this process; it takes messages only while `until` waits."""

    def __init__(self, domain: int, name: str = "peer"):
        self._context = Context()
        rclpy.init(context=self._context, domain_id=domain)
        self.node = rclpy.create_node(name, context=self._context, enable_rosout=False)
        self._executor = SingleThreadedExecutor(context=self._context)
        self._executor.add_node(self.node)
        self._late: list[Late] = []

    def listen(self, kind, topic: str, *, latched: bool = False, depth: int = 1000) -> list:
        """A list that grows by each message on `topic`."""
        durability = DurabilityPolicy.TRANSIENT_LOCAL if latched else DurabilityPolicy.VOLATILE
        qos = QoSProfile(depth=depth, reliability=ReliabilityPolicy.RELIABLE, durability=durability)
        received: list = []
        take = received.append
        if LATE:
            self._late.append(Late(received, latched=latched))
            take = self._late[-1].take
        self.node.create_subscription(kind, topic, take, qos)
        return received

    def until(self, condition, what: str, child: Child | None = None):
        """Take messages until condition() is true, and return that; fails after DEADLINE, or when `child` ends."""
        end = time.monotonic() + DEADLINE
        while not (result := condition()):
            if child is not None and not child.running:
                for _ in range(100):  # what it has said last may wait here
                    self._take(LATE / 100)
                if result := condition():
                    return result
                pytest.fail(f"waiting for {what}, the process ended:\n{child.stdout}\n{child.stderr}")
            if time.monotonic() > end:
                pytest.fail(f"no {what} within {DEADLINE} s" + (f":\n{child.stderr}" if child else ""))
            self._take(0.05)
        return result

    def _take(self, timeout_s: float) -> None:
        """One message at most, and what comes late."""
        self._executor.spin_once(timeout_sec=timeout_s)
        for topic in self._late:
            topic.hand_over()

    def publisher(self, kind, topic: str):
        """A publisher with one subscriber at the other side."""
        publisher = self.node.create_publisher(kind, topic, 10)
        self.until(lambda: publisher.get_subscription_count() > 0, f"subscriber of {topic}")
        return publisher

    def commander(self, topic: str, log_topic: str, child: Child):
        """A publisher of wrenches and the log of what is accepted; the zero wrenches that open the way are left out.

        A volatile topic is open once its first message arrives, not earlier: seeing its publisher does not suffice.
        """
        push, log = self.publisher(WrenchStamped, topic), []

        def keep(message: WrenchStamped) -> None:
            opened.append(message)
            if message.wrench != Wrench():
                log.append(message)

        def is_open() -> bool:
            push.publish(WrenchStamped())
            return bool(opened)

        opened: list = []
        self.node.create_subscription(WrenchStamped, log_topic, keep, 1000)
        self.until(is_open, f"message on {log_topic}", child)
        return push, log

    def call(self, kind, service: str, request):
        """The response of a service."""
        client = self.node.create_client(kind, service)
        self.until(client.service_is_ready, f"service {service}")
        future = client.call_async(request)
        self.until(future.done, f"response of {service}")
        self.node.destroy_client(client)
        return future.result()

    @staticmethod
    def parameter(name: str, value) -> Parameter:
        """One parameter as a message."""
        kinds = {
            bool: (1, "bool_value"),
            int: (2, "integer_value"),
            float: (3, "double_value"),
            str: (4, "string_value"),
            list: (8, "double_array_value"),
        }
        kind, field = kinds[type(value)]
        return Parameter(name=name, value=ParameterValue(type=kind, **{field: value}))

    def set_parameter(self, name: str, value, node: str = "/rbt_simulator"):
        """The SetParametersResult of one parameter."""
        request = SetParameters.Request(parameters=[self.parameter(name, value)])
        return self.call(SetParameters, f"{node}/set_parameters", request).results[0]

    def diagnostics(self) -> "Diagnostics":
        return Diagnostics(self)

    def forget(self) -> None:
        """End all subscriptions."""
        for subscription in list(self.node.subscriptions):
            self.node.destroy_subscription(subscription)
        self._late.clear()

    def close(self) -> None:
        self._executor.shutdown()
        self.node.destroy_node()
        rclpy.shutdown(context=self._context)


class Diagnostics:
    """What the node reports on itself."""

    def __init__(self, peer: Peer):
        self._peer = peer
        self.messages = peer.listen(DiagnosticArray, "/diagnostics")

    def next(self, child: Child | None = None) -> DiagnosticArray:
        """The message after the last one seen."""
        seen = len(self.messages)
        self._peer.until(lambda: len(self.messages) > seen, "message on /diagnostics", child)
        return self.messages[-1]

    def until(self, condition, what: str, child: Child | None = None) -> DiagnosticArray:
        """The first message from now on for which condition(message) is true."""
        while not condition(message := self.next(child)):
            self._peer.until(lambda: True, what)
        return message

    @staticmethod
    def status(message: DiagnosticArray, subject: str):
        return next(s for s in message.status if s.name.endswith(f": {subject}"))

    @classmethod
    def values(cls, message: DiagnosticArray, subject: str) -> dict[str, str]:
        return {pair.key: pair.value for pair in cls.status(message, subject).values}


class Ros:
    """One ROS domain: nodes are started in it and watched from this process."""

    def __init__(self, watch, domain: int, folder: Path, kernel_cache: Path):
        self._watch = watch
        self.domain = domain
        self.limit: float = LIMIT  # of the processes started from now on
        self._folder = folder
        self._kernels = kernel_cache
        self._children: list[Child] = []
        self._peers: list[Peer] = []

    def environ(self) -> dict[str, str]:
        """For child processes: ours alone, on this machine alone."""
        drop = ("ROS_LOCALHOST_ONLY", "ROS_STATIC_PEERS", "ROS_NAMESPACE", "CYCLONEDDS_URI", "XDG_CACHE_HOME")
        environ = {name: value for name, value in os.environ.items() if name not in drop}
        root = str(Path(rbt_ros.__file__).resolve().parents[1])
        home = self._folder / "home"
        home.mkdir(exist_ok=True)
        return {
            **environ,
            "PYTHONPATH": os.pathsep.join([root, *filter(None, [environ.get("PYTHONPATH")])]),
            "ROS_DOMAIN_ID": str(self.domain),
            "ROS_AUTOMATIC_DISCOVERY_RANGE": "LOCALHOST",
            "ROS_LOG_DIR": str(self._folder / "log"),
            "HOME": str(home),
            "NUMBA_CACHE_DIR": str(self._kernels),
        }

    def without_shared_memory(self) -> dict[str, str]:
        """Environment of processes that will be killed: over shared memory they would leave files.

        FASTDDS_BUILTIN_TRANSPORTS=UDPv4 alone is not enough: with discovery on LOCALHOST, rmw_fastrtps picks its own
        transports, shared memory among them.
        """
        profile = self._folder / "udp.xml"
        profile.write_text(UDP_ON_LOOPBACK, encoding="utf-8")
        return {"ROS_AUTOMATIC_DISCOVERY_RANGE": "SYSTEM_DEFAULT", "FASTRTPS_DEFAULT_PROFILES_FILE": str(profile)}

    def run(self, *command, environ=None) -> Child:
        """Any program in this domain."""
        folder = self._folder / f"child{len(self._children)}"
        folder.mkdir()
        child = Child(
            self._watch, [str(word) for word in command], {**self.environ(), **(environ or {})}, folder, self.limit
        )
        self._children.append(child)
        return child

    def start(self, scenario="cubesat", *words, remap=(), program=RBT, environ=None, **parameters) -> Child:
        """`rbt node SCENARIO WORDS` with parameters, `__` standing for a dot in their names."""
        settings = [f"{name.replace('__', '.')}:={_yaml(value)}" for name, value in parameters.items()]
        ros = ["--ros-args", *itertools.chain(*(("-p", s) for s in settings), *(("-r", rule) for rule in remap))]
        verb = ["node", scenario, *words] if program is RBT else []
        return self.run(*program, *verb, *(ros if len(ros) > 1 else ()), environ=environ)

    def peer(self, name: str = "peer") -> Peer:
        peer = Peer(self.domain, name)
        self._peers.append(peer)
        return peer

    def close(self) -> None:
        self._watch.note_files(os.getpid())
        for peer in self._peers:
            peer.close()
        faults = []
        for child in self._children:
            if child.running:
                try:
                    child.stop()
                except AssertionError as err:  # the others must be ended as well
                    faults.append(str(err))
                    self._watch.remove_files()
            if "Traceback" in child.stderr:
                faults.append(f"a traceback on stderr:\n{child.stderr}")
        self._watch.give_ports_back()  # before the domain
        assert not faults, "\n".join(faults)


def _yaml(value) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


# from a place of our own: most programs that coordinate domains begin at 1, and what they leave there is theirs
_domains = itertools.cycle((os.getpid() + i) % 100 + 1 for i in range(100))


@contextlib.contextmanager
def _ros(watch, folder: Path, kernel_cache: Path):
    with domain_coordinator.domain_id(lambda: next(_domains)) as domain, pytest.MonkeyPatch.context() as patch:
        patch.setenv("ROS_AUTOMATIC_DISCOVERY_RANGE", "LOCALHOST")
        patch.setenv("ROS_LOG_DIR", str(folder / "log"))
        patch.delenv("ROS_STATIC_PEERS", raising=False)
        patch.delenv("ROS_LOCALHOST_ONLY", raising=False)
        ros = Ros(watch, domain, folder, kernel_cache)
        try:
            yield ros
        finally:
            ros.close()


@pytest.fixture
def ros(watch, tmp_path, kernel_cache):
    """A ROS domain for one test."""
    with _ros(watch, tmp_path, kernel_cache) as ros:
        yield ros


@pytest.fixture(scope="module")
def module_ros(watch, tmp_path_factory, kernel_cache):
    """A ROS domain for the tests of one module, which share its node and leave it as it was."""
    with _ros(watch, tmp_path_factory.mktemp("ros"), kernel_cache) as ros:
        ros.limit = 600  # of one node for them all
        yield ros


@pytest.fixture(scope="module")
def module_peer(module_ros):
    return module_ros.peer()


@pytest.fixture
def peer(module_peer):
    """The peer that the tests of a module share: meeting a new one takes Fast DDS up to 3 s."""
    yield module_peer
    module_peer.forget()


@pytest.fixture(scope="session")
def programs() -> dict[str, tuple[str, ...]]:
    """Both executables, run from wherever the package is: installed or a source tree."""
    return {"rbt": RBT, "rbt_simulator": SIMULATOR}


@pytest.fixture
def tumbler(tmp_path) -> Path:
    """A body with nothing special about it: CoM off the origin, full inertia tensor, flying, tumbling, gravity."""
    path = tmp_path / "tumbler.yaml"
    path.write_text(TUMBLER, encoding="utf-8")
    return path


UDP_ON_LOOPBACK = """\
<dds xmlns="http://www.eprosima.com/XMLSchemas/fastRTPS_Profiles">
  <profiles>
    <transport_descriptors>
      <transport_descriptor>
        <transport_id>loopback</transport_id>
        <type>UDPv4</type>
        <interfaceWhiteList><address>127.0.0.1</address></interfaceWhiteList>
      </transport_descriptor>
    </transport_descriptors>
    <participant profile_name="loopback" is_default_profile="true">
      <rtps>
        <userTransports><transport_id>loopback</transport_id></userTransports>
        <useBuiltinTransports>false</useBuiltinTransports>
      </rtps>
    </participant>
  </profiles>
</dds>
"""

TUMBLER = """\
rbt: 1
robot:
  bodies:
    brick:
      mass: 2.5
      com: [0.03, -0.02, 0.05]
      inertia: [[0.05, 0.004, -0.003], [0.004, 0.07, 0.002], [-0.003, 0.002, 0.04]]
gravity: [0.1, -0.2, -1.62]
step: 1 ms
start:
  bodies:
    brick: {position: [1, -2, 3], quaternion: [0.1, 0.5, -0.7, 0.5], velocity: [0.4, 0.3, -0.2], omega_body: [3, -4, 5]}
outputs: {tf: 1000, joint_states: 1000, odom: 1000}
"""
