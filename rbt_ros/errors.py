"""What can go wrong, by whose doing. Each message names the thing, the value, the rule and the way out."""


class RbtError(Exception):
    """Any error this package raises on purpose: the command line prints it in one line, without a traceback."""


class ModelError(RbtError):
    """A robot that cannot exist or cannot be solved: masses, inertias, names, the tree.

    about: section and name of the part at fault, ("hinges", "elbow"), where who reads a file knows its line better.
    """

    def __init__(self, text: str, about: tuple[str, str] | None = None):
        super().__init__(text)
        self.about = about


class ScenarioError(RbtError):
    """A scenario that cannot be read or run: file, line, key, value."""


class MessageError(RbtError):
    """A command from outside that is refused as a whole; the simulation goes on."""


class SolveError(RbtError):
    """A run that cannot continue: tick, time and hinge; the last good state is kept."""


class ChangeError(SolveError):
    """A planned change of modes that could not be made; no command is to blame."""


class SetupError(RbtError):
    """Something this machine lacks, with the command that brings it."""
