"""The standard services of ROS simulators, by which their tools list, place, pause, step and reset: below `~/`.

Made where the package simulation_interfaces is there, in its shape 1 (Humble, Jazzy, Kilted) or 2 (Lyrical, Rolling).
"""

import contextlib
import functools
import threading
from collections.abc import Callable
from typing import Any

from rclpy.action import ActionServer, CancelResponse, GoalResponse
from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.executors import ExternalShutdownException
from rclpy.node import Node
from simulation_interfaces import srv
from simulation_interfaces.action import SimulateSteps
from simulation_interfaces.msg import Bounds, EntityInfo, EntityState, SimulatorFeatures

from rbt_ros.errors import RbtError
from rbt_ros.results import Sample
from rbt_ros.ros import entities
from rbt_ros.ros.bounds import bounds_fields
from rbt_ros.ros.convert import fill
from rbt_ros.ros.executor import NodeExecutor
from rbt_ros.ros.guard import Faults, guarded
from rbt_ros.ros.hearing import answer_when_heard, heard
from rbt_ros.ros.loop import Inactive, Loop
from rbt_ros.ros.result_codes import (
    ALREADY_THERE,
    FAILED,
    INCORRECT_STATE,
    NO_TRANSITION,
    OK,
    TRANSITION_FAILED,
    Refusal,
)
from rbt_ros.ros.stepping import Stepping, Waiting
from rbt_ros.sim import Simulation

FEATURES = (
    *("ENTITY_TAGS", "ENTITY_CATEGORIES", "ENTITY_BOUNDS", "ENTITY_BOUNDS_BOX", "ENTITY_BOUNDS_CONVEX"),
    *("ENTITY_STATE_GETTING", "ENTITY_STATE_SETTING", "ENTITY_INFO_GETTING"),
    *("SIMULATION_RESET", "SIMULATION_RESET_TIME", "SIMULATION_RESET_STATE"),
    *("SIMULATION_STATE_GETTING", "SIMULATION_STATE_SETTING", "SIMULATION_STATE_PAUSE"),
    *("STEP_SIMULATION_SINGLE", "STEP_SIMULATION_MULTIPLE", "STEP_SIMULATION_ACTION"),
)
STOPPED, PLAYING, PAUSED, QUITTING = 0, 1, 2, 3  # SimulationState
STATES = {STOPPED: "stopped", PLAYING: "playing", PAUSED: "paused", QUITTING: "quitting"}
TIME, STATE, SPAWNED, ALL = 1, 2, 4, 255  # scopes of ResetSimulation, a bit field
ACTION = ("send_goal", "get_result", "cancel_goal")  # the services of an action
BUSY = "steps are being taken; wait for their end, or cancel them."


class SimulationInterfaces:
    """All services and the action. The node's executor never waits for a step: what does has a thread of its own."""

    def __init__(
        self, node: Node, loop: Loop, stepping: Stepping, prefix: str, faults: Faults, on_quit: Callable[[], None]
    ):
        """prefix: of frame names; on_quit: ends the node, after the answer."""
        self._node, self._loop, self._stepping, self._faults = node, loop, stepping, faults
        self._prefix, self._on_quit = prefix, on_quit
        # of goals under way, by their identity; None: of one that takes no steps yet
        self._ends: dict[bytes, Callable[[int, str], None] | None] = {}
        self._stopped = loop.paused  # paused at the start: "stopped" to these services
        calls: dict[str, tuple[Any, Callable[[Any, Any], None]]] = {
            "get_simulator_features": (srv.GetSimulatorFeatures, self._features),
            "get_entities": (srv.GetEntities, self._entities),
            "get_entities_states": (srv.GetEntitiesStates, self._states),
            "get_entity_state": (srv.GetEntityState, self._state),
            "set_entity_state": (srv.SetEntityState, self._put),
            "get_entity_info": (srv.GetEntityInfo, self._info),
            "get_entity_bounds": (srv.GetEntityBounds, self._bounds),
            "spawn_entity": (srv.SpawnEntity, self._spawn),
            "delete_entity": (srv.DeleteEntity, self._delete),
            "get_simulation_state": (srv.GetSimulationState, self._tell_state),
            "set_simulation_state": (srv.SetSimulationState, self._set_state),
            "reset_simulation": (srv.ResetSimulation, self._reset),
        }
        for name, (kind, call) in calls.items():
            node.create_service(kind, f"~/{name}", functools.partial(_answer, call))
        self._action = ActionServer(
            node,
            SimulateSteps,
            "~/simulate_steps",
            execute_callback=_unused,
            goal_callback=self._heard,
            handle_accepted_callback=self._accepted,
            cancel_callback=self._cancelled,
            callback_group=ReentrantCallbackGroup(),  # while a goal waits for its client, others do not
        )
        self._stepper = StepService(node, guarded(functools.partial(_answer, self._step), "step_simulation", faults))

    def close(self) -> None:
        """End the thread of the service that waits for steps."""
        self._stepper.close()
        self._action.destroy()

    # what there is

    def _features(self, request: Any, response: Any) -> None:
        robot = self._loop.sim.robot
        response.features.features = [getattr(SimulatorFeatures, name) for name in FEATURES]
        response.features.spawn_formats = []
        response.features.custom_info = (
            f"rbt_ros: robot '{robot.name}', step {self._loop.sim.h_ns * 1e-9:g} s. {entities.SPAWN}"
        )

    def _entities(self, request: Any, response: Any) -> None:
        sample, _ = self._now()
        response.entities = entities.selected(self._loop.sim.robot, request.filters, sample)

    def _states(self, request: Any, response: Any) -> None:
        robot, (sample, stamp) = self._loop.sim.robot, self._now()
        names = entities.selected(robot, request.filters, sample)
        rows = [entities.index_of(robot, name) for name in names]
        fields = [entities.state_fields(robot, i, sample, stamp, self._prefix) for i in rows]
        response.entities, response.states = names, [fill(EntityState(), each) for each in fields]

    def _state(self, request: Any, response: Any) -> None:
        robot = self._loop.sim.robot
        i = entities.index_of(robot, request.entity)
        sample, stamp = self._now()
        fill(response.state, entities.state_fields(robot, i, sample, stamp, self._prefix))

    def _info(self, request: Any, response: Any) -> None:
        robot = self._loop.sim.robot
        response.info = fill(EntityInfo(), entities.info_fields(robot, entities.index_of(robot, request.entity)))

    def _bounds(self, request: Any, response: Any) -> None:
        robot = self._loop.sim.robot
        response.bounds = fill(Bounds(), bounds_fields(robot, entities.index_of(robot, request.entity)))

    def _now(self) -> tuple[Sample, int]:
        return self._loop.call(lambda sim: (sim.sample(), self._loop.stamp_ns()))

    # what changes

    def _put(self, request: Any, response: Any) -> None:
        def put(sim: Simulation) -> None:
            self._refuse_if_busy()
            entities.put(sim, *entities.placement(sim.robot, request, sim.sample(), self._prefix))
            self._loop.restarted()  # so that it is seen, and in the log

        self._loop.call(put)

    def _refuse_if_busy(self) -> None:
        """In the stepping thread, where orders of steps begin and end."""
        if self._stepping.busy:
            raise Refusal(INCORRECT_STATE, BUSY)

    def _spawn(self, request: Any, response: Any) -> None:
        entities.refuse_to_spawn(self._loop.sim.robot, request)

    def _delete(self, request: Any, response: Any) -> None:
        entities.refuse_to_delete(self._loop.sim.robot, request)

    def _tell_state(self, request: Any, response: Any) -> None:
        response.state.state = self._loop.call(lambda sim: self._state_now(sim))

    def _state_now(self, sim: Simulation) -> int:
        moves = self._stepping.busy or not (self._loop.paused or self._loop.held)
        if moves and self._loop.failure is None:
            return PLAYING
        return STOPPED if self._stopped and sim.tick == 0 else PAUSED

    def _set_state(self, request: Any, response: Any) -> None:
        target = request.state.state
        if target not in STATES:
            raise Refusal(
                NO_TRANSITION, f"state {target} cannot be set; use 0 stopped, 1 playing, 2 paused, 3 quitting."
            )
        self._loop.call(lambda sim: self._enter(sim, target))
        if target == QUITTING:
            self._on_quit()

    def _enter(self, sim: Simulation, target: int) -> None:
        """In the stepping thread."""
        if target == self._state_now(sim):
            raise Refusal(ALREADY_THERE, f"the simulation is {STATES[target]} already.")
        if target == PAUSED and self._state_now(sim) == STOPPED:
            raise Refusal(NO_TRANSITION, "the simulation is stopped; take steps, or let it play before it is paused.")
        if target == PLAYING and self._loop.failure is not None:
            raise Refusal(TRANSITION_FAILED, f"the simulation stands still: {self._loop.failure} Reset it first.")
        if target == QUITTING:
            self._stepping.end("the simulator quits")
        else:
            self._loop.set_paused(target != PLAYING)
        if target == STOPPED:
            sim.reset()
            self._loop.restarted()
        self._stopped = target == STOPPED

    def _reset(self, request: Any, response: Any) -> None:
        scope = request.scope or ALL
        if not scope & (TIME | STATE | SPAWNED) or (scope != ALL and scope & ~(TIME | STATE | SPAWNED)):
            raise Refusal(FAILED, f"scope {scope} is none; use 1 time, 2 state, 4 spawned, their sums, or 255 all.")
        self._loop.call(lambda sim: self._start_over(sim, scope))

    def _start_over(self, sim: Simulation, scope: int) -> None:
        """In the stepping thread. Nothing is ever spawned, so that scope is fulfilled as it is."""
        self._refuse_if_busy()
        if scope & STATE:
            sim.reset()
            self._loop.restarted()
        if scope & TIME:
            self._loop.rewind_clock()

    # steps

    def _step(self, request: Any, response: Any) -> None:
        waiting = Waiting()
        self._stepping.order(request.steps, waiting.end, _unheard)
        waiting.wait(self._loop)

    async def _heard(self, request: Any) -> GoalResponse:
        """A client of the action hears by three services; each goal is tried."""
        action = self._node.resolve_service_name("~/simulate_steps")
        await heard(self._node, *(f"{action}/_action/{name}" for name in ACTION))
        return GoalResponse.ACCEPT

    def _accepted(self, goal: Any) -> None:
        """A goal comes to its end, once, whatever is raised."""
        self._ends[bytes(goal.goal_id.uuid)] = None
        try:
            self._simulate_steps(goal)
        except Exception as err:
            self._execute(goal, FAILED, self._faults.note("simulate_steps", err))

    def _cancelled(self, goal: Any) -> CancelResponse:
        try:
            return self._cancel_steps(goal)
        except Exception as err:
            self._faults.note("simulate_steps", err)
            return CancelResponse.REJECT

    def _simulate_steps(self, goal: Any) -> None:
        steps, feedback = goal.request.steps, SimulateSteps.Feedback()

        def tell(done: int) -> None:
            feedback.completed_steps, feedback.remaining_steps = done, steps - done
            try:
                goal.publish_feedback(feedback)
            except Exception as err:  # in the stepping thread
                self._faults.note("simulate_steps", err)

        def end(done: int, why: str) -> None:
            text = f"{done} of {steps} steps were taken: {why.rstrip('.')}." if why else ""
            self._execute(goal, FAILED if why else OK, text)

        self._ends[bytes(goal.goal_id.uuid)] = end
        try:
            self._stepping.order(steps, end, tell)
        except Refusal as refusal:
            self._execute(goal, refusal.code, str(refusal))
        except Inactive as err:
            self._execute(goal, INCORRECT_STATE, str(err))
        except RbtError as err:
            self._execute(goal, FAILED, str(err))

    def _execute(self, goal: Any, code: int, text: str) -> None:
        """Let the executor conclude the goal: only its thread changes states of goals."""
        known = bytes(goal.goal_id.uuid) in self._ends
        self._ends.pop(bytes(goal.goal_id.uuid), None)
        if known and (executor := self._node.executor) is not None:
            executor.create_task(goal.execute, functools.partial(_conclude, code, text))

    def _cancel_steps(self, goal: Any) -> CancelResponse:
        """Only its own steps: a goal that was refused has none."""
        end = self._ends.get(bytes(goal.goal_id.uuid))
        if end is None:
            return CancelResponse.REJECT
        self._stepping.cancel(end)
        return CancelResponse.ACCEPT


class StepService:
    """~/step_simulation answers when the steps are taken: an executor of its own waits, with a hidden node."""

    def __init__(self, node: Node, callback: Callable[[Any, Any], Any]):
        name, context = f"_{node.get_name()}_steps", node.context
        options: dict[str, Any] = dict(enable_rosout=False, start_parameter_services=False, use_global_arguments=False)
        self._node = Node(name, namespace=node.get_namespace(), context=context, **options)
        service = node.resolve_service_name("~/step_simulation")
        answer_when_heard(self._node, self._node.create_service(srv.StepSimulation, service, callback))
        self._executor, self._ending = NodeExecutor(self._node), False
        self._thread = threading.Thread(target=self._spin, name="step_simulation", daemon=True)
        self._thread.start()

    def _spin(self) -> None:
        with contextlib.suppress(ExternalShutdownException):  # an ordinary end, too
            while not self._ending:
                self._executor.spin_once()

    def close(self) -> None:
        """End the thread."""
        self._ending = True
        self._executor.wake()
        self._thread.join()
        self._executor.shutdown()
        self._node.destroy_node()


def _answer(call: Callable[[Any, Any], None], request: Any, response: Any) -> Any:
    """Let `call` fill the response; its code and sentence where it refuses, and then nothing has changed."""
    code, text = OK, ""
    try:
        call(request, response)
    except Refusal as refusal:
        code, text = refusal.code, str(refusal)
    except Inactive as err:
        code, text = INCORRECT_STATE, str(err)
    except RbtError as err:
        code, text = FAILED, str(err)
    if hasattr(response, "result"):
        response.result.result, response.result.error_message = code, text
    return response


def _conclude(code: int, text: str, goal: Any) -> Any:
    """The end of a goal, with its result."""
    if goal.is_cancel_requested:
        goal.canceled()
    elif code == OK:
        goal.succeed()
    else:
        goal.abort()
    result = SimulateSteps.Result()
    result.result.result, result.result.error_message = code, text
    return result


def _unheard(done: int) -> None:
    """For who wants no progress."""


def _unused(goal: Any) -> Any:
    raise AssertionError("goals are executed by `_simulate_steps`")
