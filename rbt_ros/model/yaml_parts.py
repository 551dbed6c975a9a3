"""Parts that several sections of a scenario have: attitudes, signals, errors told with their place."""

from rbt_ros.errors import ModelError
from rbt_ros.model.attitude import as_quaternion
from rbt_ros.model.reading import Item
from rbt_ros.model.signals import Signal, polynomial, sines, table


def placed(item: Item, make, *args, **kwargs):
    """make(...), its ModelError told with the place in the file."""
    try:
        return make(*args, **kwargs)
    except ModelError as err:
        raise item.error(str(err).removeprefix(f"{item.place}: ")) from err


def attitude(item: Item) -> tuple[float, float, float, float]:
    """w x y z, or [ZXZ, a, b, c] with angles in rad or with units."""
    if isinstance(item.value, list) and item.value and isinstance(item.value[0], str) and item.value[0].isalpha():
        return euler(item)
    return placed(item, as_quaternion, item.vector("plain number", 4), item.place)


def euler(item: Item) -> tuple[float, float, float, float]:
    """[ZXZ, a, b, c] as w x y z."""
    entries = item.entries()
    if len(entries) != 4:
        raise item.error("takes a sequence and three angles: [ZXZ, 10 deg, 20 deg, 30 deg].")
    angles = [e.number("angle") for e in entries[1:]]
    return placed(item, as_quaternion, (entries[0].text(), *angles), item.place)


def signal(item: Item) -> Signal:
    """{sines: {offset:, terms: [[a, ω, φ], ...]}}, {polynomial: [...]} or {table: {times:, values:, between:}}."""
    item.mapping("sines", "polynomial", "table")
    if len(item.value) != 1:
        raise item.error("give one of sines, polynomial, table.")
    if "polynomial" in item:
        return placed(item, polynomial, [c.number() for c in item["polynomial"].entries()])
    if "table" in item:
        given = item["table"].mapping("times", "values", "between")
        times = [time.number("time") for time in given["times"].entries()]
        values = [value.number() for value in given["values"].entries()]
        return placed(item, table, times, values, given["between"].text() if "between" in given else "linear")
    given = item["sines"].mapping("offset", "terms")
    terms = []
    for term in given["terms"].entries():
        parts = term.entries()
        if len(parts) != 3:
            raise term.error("a term is [amplitude, angular velocity, phase]: [2, 1 rad/s, 0].")
        terms.append((parts[0].number(), parts[1].number("angular velocity"), parts[2].number("angle")))
    return placed(item, sines, terms, given["offset"].number() if "offset" in given else 0.0)
