"""The example controllers, loaded from where they are."""

import importlib.util
from pathlib import Path

FOLDER = Path(__file__).parents[1] / "examples" / "controllers"
CLASSES = {
    "attitude_pd": "AttitudePD",
    "hinge_pd": "HingePD",
    "pose_hold": "PoseHold",
    "reaction_wheel": "ReactionWheel",
}


def load(name: str) -> type:
    """The class in examples/controllers/NAME.py."""
    return getattr(module(name), CLASSES[name])


def module(name: str):
    """examples/controllers/NAME.py."""
    spec = importlib.util.spec_from_file_location(name, FOLDER / f"{name}.py")
    loaded = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(loaded)
    return loaded
