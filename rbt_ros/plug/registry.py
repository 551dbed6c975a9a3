"""Names -> what is plugged in under them. A line says where it is; it is imported when its name is first asked for.

Ours are the lines of `OURS`. Those of another package are its entry points, in groups of the same names:

    [project.entry-points."rbt_ros.forces"]
    quadratic_drag = "my_package.drag:QUADRATIC"

And an object may be handed over in Python: `registry.add(name, thing)`.
"""

from collections.abc import Callable, Mapping
from importlib.metadata import EntryPoint, entry_points
from typing import Generic, TypeVar

from rbt_ros.errors import ModelError

T = TypeVar("T")


class Registry(Generic[T]):
    """What one socket knows, by name."""

    def __init__(
        self, what: str, kind: type[T], ours: Mapping[str, str], check: Callable[[str, T], None] | None = None
    ):
        """what: the word for one of them ("force"); kind: the class of all; ours: "module:object" by name.

        check: raises ModelError where one with this name, of that class, cannot be used.
        """
        self._what, self._kind, self._group, self._more = what, kind, f"rbt_ros.{what}s", check
        self._ours = {name: EntryPoint(name, place, self._group) for name, place in ours.items()}
        self._found: dict[str, T] = {}

    def add(self, name: str, thing: T) -> T:
        """Plug it in under a name that is not in use."""
        self._check(name, thing, "it")
        if name in self._found or name in self._known():
            raise ModelError(f"{self._what} '{name}' is there already; a name stands for one {self._what}. Rename it.")
        self._found[name] = thing
        return thing

    def find(self, name: str) -> T:
        """What is plugged in under that name."""
        if not isinstance(name, str) or name not in self._found:
            self._found[name] = self._load(name)
        return self._found[name]

    def name_of(self, thing: T) -> str:
        """The name under which it was handed over or asked for; empty: none."""
        return next((name for name, known in self._found.items() if known is thing), "")

    def __contains__(self, name: str) -> bool:
        return name in self._found or name in self._ours or name in self._known()

    def names(self) -> tuple[str, ...]:
        """All names, those of other packages too."""
        return tuple(sorted({*self._found, *self._known()}))

    def _load(self, name: str) -> T:
        point = (self._ours.get(name) or self._known().get(name)) if isinstance(name, str) else None
        if point is None:
            raise ModelError(
                f"{name!r:.80} is no {self._what}; there are {', '.join(self.names())}. Those of another package are "
                f"its entry points in the group {self._group}: docs/extending.md."
            )
        try:
            thing = point.load()
        except Exception as err:  # it is another's module: anything may happen in there
            raise ModelError(f"{self._what} '{name}': {point.value} cannot be imported: {err}") from err
        self._check(name, thing, point.value)
        return thing

    def _check(self, name: str, thing: T, place: str) -> None:
        if not isinstance(thing, self._kind):
            raise ModelError(f"{self._what} '{name}': {place} is {thing!r:.80}, not a {self._kind.__name__}.")
        if self._more is not None:
            self._more(name, thing)

    def _known(self) -> dict[str, EntryPoint]:
        """The lines of all packages; a name that two have, or that is one of ours, is refused."""
        known = dict(self._ours)
        for point in entry_points(group=self._group):
            other = known.setdefault(point.name, point)
            if other.value != point.value:
                raise ModelError(
                    f"{self._what} '{point.name}' is {other.value}; {point.value} of another package has that name, "
                    "too. Rename its entry point, or remove that package."
                )
        return known
