"""Vertices and facets as arrays, checked; and the edges of a surface: open, wound against each other, in parts."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from rbt_ros.errors import ModelError
from rbt_ros.model import checks

FLAT = 1e-12  # a facet this much lower than long has no area


class Mesh(NamedTuple):
    """A surface. `solid(*mesh, ...)` and `shell(*mesh, ...)` take it apart."""

    vertices: np.ndarray  # (n, 3) [m]
    facets: np.ndarray  # (f, 3) or (f, 4) numbers of vertices, counter-clockwise seen from outside
    name: str = "mesh"


def checked_vertices(vertices: Any, name: str) -> np.ndarray:
    """(n, 3) finite."""
    array = np.ascontiguousarray(checks.numbers(vertices, f"vertices of {name}"))
    if array.ndim != 2 or array.shape[1] != 3:
        raise ModelError(f"{name}: vertices have the shape {array.shape}; give one row x, y, z [m] per vertex.")
    finite = np.isfinite(array).all(axis=1)
    if not finite.all():
        worst = int(np.argmin(finite))
        raise ModelError(f"{name}: vertex {worst} at {array[worst].tolist()} is not finite; correct or remove it.")
    return array


def checked_facets(facets: Any, count: int, name: str) -> list[tuple[np.ndarray, np.ndarray]]:
    """Facets of 3 and of 4 corners: for each kind (their numbers in the list, (f, k) numbers of vertices)."""
    kinds: list[tuple[np.ndarray, np.ndarray]]
    if isinstance(facets, np.ndarray):
        kinds = [(np.arange(len(facets)), facets)]
    else:
        listed = list(facets) if isinstance(facets, Iterable) else [facets]
        if not all(isinstance(row, Sequence | np.ndarray) for row in listed):
            raise ModelError(f"{name}: facets {facets!r:.80} are no list of rows of vertex numbers.")
        sizes = np.array([len(row) for row in listed], dtype=int)
        kinds = [(np.flatnonzero(sizes == k), np.array([row for row in listed if len(row) == k])) for k in set(sizes)]
    if sum(len(rows) for _, rows in kinds) == 0:
        raise ModelError(f"{name}: there is no facet; give at least one row of vertex numbers.")
    for numbers, rows in kinds:
        if rows.ndim != 2 or rows.shape[1] not in (3, 4):
            corners = rows.shape[1] if rows.ndim == 2 else "no list of"
            raise ModelError(f"{name}: facet {numbers[0]} has {corners} corners; split it into 3 or 4 corners each.")
        if not np.issubdtype(rows.dtype, np.integer):
            raise ModelError(f"{name}: facets are numbers of vertices, whole ones from 0, not {rows.dtype}.")
        if rows.min() < 0 or rows.max() >= count:
            wrong = int(np.argmax(((rows < 0) | (rows >= count)).any(axis=1)))
            raise ModelError(
                f"{name}: facet {numbers[wrong]} names the vertices {rows[wrong].tolist()}, and there are 0 to "
                f"{count - 1}. Numbers start at 0 (in MATLAB at 1: subtract 1)."
            )
    return [(numbers, rows.astype(np.int64, copy=False)) for numbers, rows in kinds]


def triangles(kinds: Sequence[tuple[np.ndarray, np.ndarray]]) -> tuple[np.ndarray, np.ndarray]:
    """All facets as triangles (t, 3), those of 4 corners cut along a diagonal; and the facet each comes from."""
    owners, rows = [], []
    for numbers, facets in kinds:
        for second in range(1, facets.shape[1] - 1):
            owners.append(numbers)
            rows.append(facets[:, [0, second, second + 1]])
    return np.concatenate(owners), np.ascontiguousarray(np.concatenate(rows))


def blocks(count: int, size: int = 1 << 14) -> Iterator[slice]:
    """Slices that stay in the cache; sums by blocks also round like a tree, not like a chain."""
    return (slice(start, min(start + size, count)) for start in range(0, count, size))


def refuse_degenerate(corners: np.ndarray, area_vectors: np.ndarray, owners: np.ndarray, name: str) -> None:
    """ModelError where twice an area is no more than FLAT times the square of the longest side."""
    twice = 2 * np.linalg.norm(area_vectors, axis=1)
    sides = corners - np.roll(corners, 1, axis=1)
    longest = np.einsum("nki,nki->nk", sides, sides).max(axis=1)
    flat = twice <= FLAT * longest
    if flat.any():
        facet = int(owners[np.argmax(flat)])
        more = f" (and {int(flat.sum()) - 1} more)" if flat.sum() > 1 else ""
        raise ModelError(
            f"{name}: facet {facet}{more} is degenerate: its corners coincide or lie on one line. Remove or merge such "
            "facets, or take them as they are, without area: allow_degenerate=True (--allow-degenerate)."
        )


class Edges(NamedTuple):
    """Undirected edges a-b, a < b, of a surface of triangles."""

    ends: np.ndarray  # (e, 2)
    uses: np.ndarray  # (e,) how many sides of triangles lie on it
    net: np.ndarray  # (e,) how many run from a to b more than from b to a


def sorted_sides(facets: np.ndarray, count: int) -> np.ndarray:
    """Every side of every triangle as one number, 2 (a count + b) + (1 if it runs from b to a), sorted.

    Sides of no length, from a vertex to itself, are left out.
    """
    start, end = facets.ravel(), facets[:, [1, 2, 0]].ravel()
    key = 2 * (np.minimum(start, end) * count + np.maximum(start, end)) + (start > end)
    proper = start != end
    key = key if proper.all() else key[proper]
    key.sort()
    return key


def is_closed(sides: np.ndarray) -> bool:
    """Whether every edge joins exactly two triangles that run along it in opposite directions."""
    if len(sides) % 2:
        return False
    first, second = sides[::2], sides[1::2]
    return bool((second == first + 1).all() and not (first & 1).any() and (first[1:] != first[:-1]).all())


def edges_of(sides: np.ndarray, count: int) -> Edges:
    """The edges, with their uses."""
    keys, start, uses = np.unique(sides >> 1, return_index=True, return_counts=True)
    back = np.add.reduceat(sides & 1, start)
    return Edges(np.column_stack([keys // count, keys % count]), uses, uses - 2 * back)


def parts_of(ends: np.ndarray, count: int) -> tuple[int, np.ndarray]:
    """(number of parts, part of each of the `count` vertices) that edges join."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    graph = coo_array((np.ones(len(ends), dtype=np.int8), (ends[:, 0], ends[:, 1])), shape=(count, count))
    return connected_components(graph, directed=False)
