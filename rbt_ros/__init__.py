"""rbt_ros: rigid and multibody dynamics you can check, on ROS 2.

>>> import rbt_ros as rbt
>>> result = rbt.load("cubesat").simulation().run(until=10.0, every=0.01)
"""

from importlib import import_module
from typing import Any

__version__ = "0.1.0"

# modules of the face: rbt.mass.box(...)
_MODULES = {"mass": "rbt_ros.model.mass", "modular": "rbt_ros.modular"}
# name -> module: imported when first used, so that `rbt --help` and the command line stay fast
_FACE = {
    "RobotBuilder": "rbt_ros.model.build",
    "MassProperties": "rbt_ros.model.mass",
    "Robot": "rbt_ros.model.robot",
    "load_urdf": "rbt_ros.model.urdf_read",
    "urdf_text": "rbt_ros.model.urdf",
    "Simulation": "rbt_ros.sim",
    "load": "rbt_ros.sim",
    "advance_many": "rbt_ros.ensemble",
    "case_rng": "rbt_ros.ensemble",
    "Wrench": "rbt_ros.model.inputs",
    "WrenchCommand": "rbt_ros.model.inputs",
    "Effort": "rbt_ros.model.inputs",
    **dict.fromkeys(("ForceLaw", "FORCES"), "rbt_ros.plug.force"),
    "Parameter": "rbt_ros.plug.parameter",
    **dict.fromkeys(("SensorKind", "SensorMessage", "Quantity", "SENSORS"), "rbt_ros.plug.sensor"),
    **dict.fromkeys(("Lock", "Unlock", "Dock", "Undock", "Prescribe", "Release", "ModeChange"), "rbt_ros.model.modes"),
    "Measured": "rbt_ros.model.measured",
    "Measurement": "rbt_ros.model.measured",
    "Stabilise": "rbt_ros.model.stabilise",
    "sines": "rbt_ros.model.signals",
    "polynomial": "rbt_ros.model.signals",
    "table": "rbt_ros.model.signals",
    "simulate": "rbt_ros.toolbox.simulate",
    "RigidBody": "rbt_ros.toolbox.body",
    "Force": "rbt_ros.toolbox.forces",
    "Torque": "rbt_ros.toolbox.forces",
    "Event": "rbt_ros.core.events",
    "VectorSum": "rbt_ros.toolbox.vector_sum",
    "LabResult": "rbt_ros.toolbox.result",
    "LabState": "rbt_ros.toolbox.state",
    "poinsot": "rbt_ros.core.poinsot",
    "Animation": "rbt_ros.web.animation",
    "Result": "rbt_ros.results",
    "Sample": "rbt_ros.results",
    "Recorder": "rbt_ros.bags.recorder",
    "Bag": "rbt_ros.bags.bag",
    "RbtError": "rbt_ros.errors",
    "ModelError": "rbt_ros.errors",
    "ScenarioError": "rbt_ros.errors",
    "MessageError": "rbt_ros.errors",
    "SolveError": "rbt_ros.errors",
}
__all__ = ["__version__", *_MODULES, *_FACE]


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return import_module(_MODULES[name])
    if name not in _FACE:
        raise AttributeError(f"module 'rbt_ros' has no attribute '{name}'")
    return getattr(import_module(_FACE[name]), name)
