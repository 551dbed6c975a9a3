"""`rbt.modular`: spacecraft that turn by folding: arrays, manoeuvres, maps, collisions, plans. See docs/modular.md."""

from rbt_ros.model.folding import chain, cubic_net, l_shape, panels, pendulum, rods, two_arrays
from rbt_ros.modular import optimal, planar, spatial
from rbt_ros.modular.clearance import Clearance, guard
from rbt_ros.modular.flights import Flight, fly, fly_many
from rbt_ros.modular.maps import TurnMap, turn_map
from rbt_ros.modular.paths import ShapePath, ellipse, polygon, rectangle, spline, trajectory
from rbt_ros.modular.plans import Plan, Planner, fly_plan, plan_in_plane
from rbt_ros.modular.pointing import Pointed, Pointing, plan_pointing, pointing
from rbt_ros.modular.steering import Steering
from rbt_ros.modular.turns import Turn, along, net_turn

__all__ = [
    "Clearance",
    "Flight",
    "Plan",
    "Planner",
    "Pointed",
    "Pointing",
    "ShapePath",
    "Steering",
    "Turn",
    "TurnMap",
    "along",
    "chain",
    "cubic_net",
    "ellipse",
    "fly",
    "fly_many",
    "fly_plan",
    "guard",
    "l_shape",
    "net_turn",
    "optimal",
    "panels",
    "pendulum",
    "plan_in_plane",
    "plan_pointing",
    "planar",
    "pointing",
    "polygon",
    "rectangle",
    "rods",
    "spatial",
    "spline",
    "trajectory",
    "turn_map",
    "two_arrays",
]
