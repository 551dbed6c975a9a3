"""The result codes of simulation_interfaces, and the error that carries one to whoever asked."""

from rbt_ros.errors import RbtError

UNSUPPORTED, OK, NOT_FOUND, INCORRECT_STATE, FAILED = 0, 1, 2, 3, 4  # Result
INVALID_POSE = 101  # SetEntityState
NAME_NOT_UNIQUE, NAME_INVALID = 101, 102  # SpawnEntity
ALREADY_THERE, TRANSITION_FAILED, NO_TRANSITION = 101, 102, 103  # SetSimulationState


class Refusal(RbtError):
    """Why something is not done, as a standard code and a sentence."""

    def __init__(self, code: int, text: str):
        super().__init__(text)
        self.code = code
