"""The node's executor: every message once and in order, and all else that a node has."""

import pytest
import rclpy
from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.context import Context
from rclpy.executors import ExternalShutdownException
from rclpy.qos import DurabilityPolicy, QoSProfile
from rclpy.task import Future
from rclpy.waitable import NumberOfEntities, Waitable
from std_msgs.msg import Int32
from std_srvs.srv import Trigger

from rbt_ros.ros.executor import NodeExecutor
from rbt_ros.ros.hearing import answer_when_heard

MOST = 2_000  # turns


class Spun:
    """A node that talks to itself, with its executor."""

    def __init__(self, domain: int):
        self.context = Context()
        rclpy.init(context=self.context, domain_id=domain)
        self.node = rclpy.create_node("spun", context=self.context)
        self.executor = NodeExecutor(self.node)

    def until(self, condition) -> None:
        for _ in range(MOST):
            if condition():
                return
            self.executor.spin_once(timeout_sec=0.01)
        pytest.fail("it did not come")

    def heard(self, topic: str) -> tuple:
        """A publisher, and the numbers that have arrived from it."""
        numbers: list[int] = []
        self.node.create_subscription(Int32, topic, lambda message: numbers.append(message.data), 100)
        publisher = self.node.create_publisher(Int32, topic, 100)
        self.until(lambda: publisher.get_subscription_count())
        return publisher, numbers


@pytest.fixture
def spun(ros):
    spun = Spun(ros.domain)
    yield spun
    spun.executor.shutdown()
    spun.node.destroy_node()
    rclpy.try_shutdown(context=spun.context)


def test_messages_of_all_topics_come_once_and_in_order(spun):
    """One topic is made later than the others, so that there is more to wait for; another one goes."""
    first, second = spun.heard("first"), spun.heard("second")
    for k in range(50):
        first[0].publish(Int32(data=k))
        second[0].publish(Int32(data=-k))
    spun.until(lambda: len(first[1]) + len(second[1]) == 100)
    assert first[1] == list(range(50)) and second[1] == [-k for k in range(50)]
    third = spun.heard("third")
    third[0].publish(Int32(data=7))
    spun.until(lambda: third[1])
    spun.node.destroy_subscription(next(s for s in spun.node.subscriptions if s.topic_name == "/first"))
    second[0].publish(Int32(data=50))
    spun.until(lambda: len(second[1]) == 51)
    assert (first[1], third[1]) == (list(range(50)), [7])


def test_services_clients_timers_guards_and_tasks_are_served(spun):
    calls: list[str] = []

    def answer(request, response):
        calls.append("service")
        response.success = True
        return response

    spun.node.create_service(Trigger, "ask", answer)
    client = spun.node.create_client(Trigger, "ask")
    spun.until(client.service_is_ready)
    future = client.call_async(Trigger.Request())
    spun.until(future.done)
    timer = spun.node.create_timer(0.001, lambda: calls.append("timer"))
    spun.until(lambda: calls.count("timer") >= 3)
    timer.cancel()
    guard = spun.node.create_guard_condition(lambda: calls.append("guard"))
    guard.trigger()
    spun.until(lambda: "guard" in calls)
    spun.executor.create_task(lambda: calls.append("task"))
    spun.until(lambda: "task" in calls)
    assert future.result().success and calls.count("service") == 1


def test_tasks_of_tasks_are_done_and_those_that_wait_go_on(spun):
    """A task makes another one; a third waits for a future that nobody tells the executor of."""
    done, future = [], Future()

    def first():
        spun.executor.create_task(lambda: done.append("second"))

    async def waits():
        done.append(await future)

    spun.executor.create_task(first)
    spun.executor.create_task(waits)
    spun.until(lambda: done == ["second"])
    future.set_result("third")
    spun.until(lambda: done == ["second", "third"])


def test_messages_that_never_end_do_not_keep_who_spins(spun):
    """Each message brings the next one, and a guard sends the executor round: whoever spins must see a signal."""
    numbers: list[int] = []

    def again(message: Int32) -> None:
        numbers.append(message.data)
        assert len(numbers) < MOST, "the turn does not end"
        publisher.publish(Int32(data=message.data + 1))

    spun.node.create_subscription(Int32, "flood", again, 10)
    publisher = spun.node.create_publisher(Int32, "flood", 10)
    spun.until(publisher.get_subscription_count)
    publisher.publish(Int32())
    guard = spun.node.create_guard_condition(lambda: None)
    for _ in range(50):
        guard.trigger()
        spun.executor.spin_once(timeout_sec=1.0)
    assert numbers[-1] == len(numbers) - 1 >= 50


def test_what_a_callback_raises_comes_out(spun):
    publisher = spun.node.create_publisher(Int32, "bad", 1)
    spun.node.create_subscription(Int32, "bad", lambda message: 1 // message.data, 1)
    spun.until(publisher.get_subscription_count)
    publisher.publish(Int32(data=0))
    with pytest.raises(ZeroDivisionError):
        spun.until(lambda: False)


def test_a_shutdown_by_somebody_else_ends_the_wait(spun):
    rclpy.try_shutdown(context=spun.context)
    with pytest.raises(ExternalShutdownException):
        spun.executor.spin_once()


def test_what_a_task_makes_is_done_without_anything_that_wakes_us(spun):
    """As the goal of an action is concluded: a task that another thread hands over makes the next one."""
    done: list[str] = []

    def first() -> None:
        done.append("first")
        spun.executor.create_task(lambda: done.append("second"))

    spun.executor.create_task(first)
    spun.executor.spin_once(timeout_sec=5.0)
    spun.executor.spin_once(timeout_sec=5.0)
    assert done == ["first", "second"]


def test_an_answer_that_the_middleware_drops_is_sent_again_and_others_are_answered_meanwhile(spun):
    """As before its client is wholly discovered: this one cannot hear, by its quality of service."""
    sent: list = []

    def answer(request, response):
        response.success = True
        return response

    service = spun.node.create_service(Trigger, "asked", answer)
    send = service.send_response
    service.send_response = lambda *answer: (sent.append(answer), send(*answer))
    answer_when_heard(spun.node, service)
    deaf = spun.node.create_client(
        Trigger, "asked", qos_profile=QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
    )
    client = spun.node.create_client(Trigger, "asked")
    spun.until(client.service_is_ready)
    deaf.call_async(Trigger.Request())
    spun.until(lambda: len(sent) == 1)
    answered = client.call_async(Trigger.Request())
    spun.until(answered.done)
    assert answered.result().success and len(sent) == 2
    spun.until(lambda: len(sent) == 3)
    assert sent[2] == sent[0] and spun.executor.waits


class Meanwhile(Waitable):
    """Never ready; when the executor gathers what to wait for inside a round, another thread makes a task.

    That thread is played by this one, at that very moment.
    """

    def __init__(self, act):
        super().__init__(ReentrantCallbackGroup())
        self._act, self._turns = act, 0

    def get_num_entities(self) -> NumberOfEntities:
        return NumberOfEntities()

    def add_to_wait_set(self, wait_set) -> None:
        self._turns += 1
        if self._turns == 3:  # 1: the wait of `spin_once`; 2: the round that does the first task; 3: the round after it
            self._act()

    def is_ready(self, wait_set) -> bool:
        return False

    def __enter__(self):
        return self

    def __exit__(self, *error) -> None:
        pass


def test_a_task_that_is_made_while_a_round_looks_for_work_is_not_forgotten(spun):
    """The guard that tells of it is taken by the wait in the round; nothing else would ever wake us."""
    done: list[str] = []
    waitable = Meanwhile(lambda: spun.executor.create_task(lambda: done.append("late")))
    spun.until(lambda: not spun.executor._tasks)
    spun.node.add_waitable(waitable)
    spun.executor.create_task(lambda: done.append("first"))
    spun.executor.spin_once(timeout_sec=5.0)
    assert done == ["first"]
    spun.executor.spin_once(timeout_sec=0.0)
    assert done == ["first", "late"]
    spun.node.remove_waitable(waitable)
