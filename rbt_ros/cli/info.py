"""`rbt info`: what is in a scenario, or in a bag."""

import argparse
import os

import numpy as np

from rbt_ros.cli.arguments import add_scenario
from rbt_ros.errors import ScenarioError
from rbt_ros.paths import looks_like_bag


def add(parser: argparse.ArgumentParser) -> None:
    """Its arguments."""
    parser.description = "Check a scenario and print what it holds; of a bag (docs/bags.md) also what is wrong."
    add_scenario(parser)


def run(arguments: argparse.Namespace, rest: list[str]) -> int:
    """Print it."""
    if looks_like_bag(arguments.scenario):
        from rbt_ros.bags.bag import Bag
        from rbt_ros.bags.info import described

        print("\n".join(described(Bag(arguments.scenario))))
        return 0
    from rbt_ros.sim import load

    try:
        scenario = load(arguments.scenario)
    except ScenarioError as err:
        if os.path.exists(arguments.scenario):
            raise
        raise ScenarioError(f"there is no bag {arguments.scenario:.200}, and {err}") from err
    robot = scenario.robot
    size = f"{len(robot.bodies)} bodies, {robot.freedoms} freedoms, {robot.mass:g} kg"
    print(f"{scenario.name}: robot '{robot.name}', {size}")
    for body, hinge in zip(robot.bodies, robot.hinges, strict=True):
        kind = f"{hinge.kind.name.lower()} on {hinge.parent}"
        print(f"  {body.name}: {kind}, {body.mass:g} kg, inertia {_elements(body.inertia)} kg·m²")
    for constraint in robot.constraints:
        print(f"  {constraint.kind} {constraint.name}: {constraint.among}")
    g = ", ".join(f"{c:g}" for c in scenario.gravity)
    print(f"  gravity {g} m/s²; step {scenario.h_ns * 1e-6:g} ms, {scenario.integrator}; mode {scenario.mode}")
    rates = ", ".join(f"{key} {rate:g}" for key, rate in scenario.outputs.items())
    print(f"  outputs [Hz]: {rates}")
    return 0


def _elements(inertia: np.ndarray) -> str:
    """The tensor about the centre of mass in the body's axes; products of inertia where there are any."""
    small = 1e-12 * np.abs(inertia).max()
    places = [(i, i) for i in range(3)] + [at for at in ((0, 1), (0, 2), (1, 2)) if abs(inertia[at]) > small]
    return ", ".join(f"{'xyz'[i]}{'xyz'[k]} {inertia[i, k]:.6g}" for i, k in places)
