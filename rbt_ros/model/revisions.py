"""What has changed since a simulation was made valid last. Each part says so; `Motion._ensure` alone asks."""


class Revisions:
    """Numbers that only grow: that of the last change of any kind, and those at which each kind changed last."""

    def __init__(self) -> None:
        self.last = 0
        self.acting = 0  # what acts: inputs, commands, measurements
        self.placed = 0  # the state was set: which ropes and stops hold is not known
        self.opened = 0  # and it may be off the constraints
        self.built = 0  # another robot moves: its modes have changed

    def steps(self) -> None:
        """It is stepped otherwise."""
        self.last += 1

    def acts(self) -> None:
        """Something else acts."""
        self.last += 1
        self.acting = self.last

    def places(self, *, opens: bool) -> None:
        """The state was set. opens: it may be off the constraints."""
        self.last += 1
        self.placed = self.last
        self.opened = self.last if opens else 0

    def builds(self) -> None:
        """Another robot moves."""
        self.last += 1
        self.built = self.last
