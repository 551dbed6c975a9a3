"""Solids: what a closed surface of triangles holds, by the tetrahedra between its triangles and a point among them."""

import warnings
from typing import Any

import numpy as np

from rbt_ros.errors import ModelError
from rbt_ros.model.mass.facets import (
    blocks,
    checked_facets,
    checked_vertices,
    edges_of,
    is_closed,
    parts_of,
    refuse_degenerate,
    sorted_sides,
    triangles,
)
from rbt_ros.model.mass.properties import (
    MassProperties,
    Moments,
    mass_of,
    mass_properties,
    only_one,
    simplex_moments,
    total,
)


def solid(
    vertices: Any,
    facets: Any,
    name: str = "mesh",
    *,
    density: float | None = None,
    mass: float | None = None,
    allow_degenerate: bool = False,
) -> MassProperties:
    """What a closed surface encloses, of uniform density [kg/m³] or of a mass [kg].

    vertices (n, 3) [m]; facets: numbers of 3 or 4 vertices each, from 0, counter-clockwise seen from outside. A surface
    inside another one, wound the other way round, is a cavity. The integrals are those of the polyhedron, exactly.
    """
    only_one(density, mass, name)
    points = checked_vertices(vertices, name)
    owners, rows = triangles(checked_facets(facets, len(points), name))
    _refuse_open(points, rows, name)
    origin = (points.min(axis=0) + points.max(axis=0)) / 2
    local = points - origin
    volumes, whole = _tetrahedra(local, rows, owners, name, allow_degenerate)
    inward = _inside_out(local, rows, volumes, name)
    if inward:
        whole = Moments(-whole.mass, -whole.first, -whole.second)
        warnings.warn(f"{name}: its facets face inward (volume {-whole.mass:.4g} m³); they were turned.", stacklevel=2)
    if not whole.mass > 0:
        raise ModelError(f"{name}: it encloses a volume of {whole.mass:.4g} m³; give a surface that encloses some.")
    return mass_properties(whole, origin, mass_of(whole.mass, density, mass, name))


def _tetrahedra(
    local: np.ndarray, rows: np.ndarray, owners: np.ndarray, name: str, allow_degenerate: bool
) -> tuple[np.ndarray, Moments]:
    """(signed volume of each tetrahedron from the origin to a triangle, moments of all): V = a · (b × c) / 6."""
    volumes, sums = np.empty(len(rows)), []
    for block in blocks(len(rows)):
        corners = local[rows[block]]
        a, b, c = corners[:, 0], corners[:, 1], corners[:, 2]
        if not allow_degenerate:
            refuse_degenerate(corners, np.cross(b - a, c - a) / 2, owners[block], name)
        volumes[block] = np.einsum("ni,ni->n", a, np.cross(b, c)) / 6
        sums.append(simplex_moments(volumes[block], corners, apex=True))
    return volumes, total(sums)


def _refuse_open(points: np.ndarray, rows: np.ndarray, name: str) -> None:
    """ModelError where the surface has open edges, neighbours that are wound against each other, or facets twice."""
    count = len(points)
    sides = sorted_sides(rows, count)
    if is_closed(sides):
        return
    edges = edges_of(sides, count)
    is_open = edges.uses % 2 == 1
    if is_open.any():
        ends = edges.ends[is_open]
        _, part = parts_of(ends, count)
        holes = len(np.unique(part[ends[:, 0]]))
        raise ModelError(
            f"{name}: not a closed surface: {len(ends)} open edges around {holes} hole{'s' * (holes > 1)}, one from "
            f"{_place(points, ends[0, 0])} to {_place(points, ends[0, 1])}. Close it in the program that made it, or "
            "take it as a shell: rbt.mass.shell(..., thickness=) (--shell --thickness '1 mm')."
        )
    against = edges.net != 0
    if against.any():
        a, b = edges.ends[np.argmax(against)]
        raise ModelError(
            f"{name}: neighbours are wound against each other along {int(against.sum())} edges, one from "
            f"{_place(points, a)} to {_place(points, b)}: what is inside cannot be told. Make the facets run "
            "counter-clockwise seen from outside ('recalculate normals' in most programs)."
        )
    first = np.argmin(rows, axis=1)[:, None]
    turned = np.take_along_axis(rows, (first + [0, 1, 2]) % 3, axis=1)
    twice = len(rows) - len(np.unique(turned, axis=0))
    if twice:
        raise ModelError(f"{name}: {twice} facets are there more than once and would count again; remove the copies.")


def _inside_out(local: np.ndarray, rows: np.ndarray, volumes: np.ndarray, name: str) -> bool:
    """Whether the surface as a whole faces inward. ModelError where a part faces against it and is no cavity."""
    ends = np.concatenate([rows[:, :2], rows[:, 1:]])
    count, part = parts_of(ends, len(local))
    if count == 1:
        return bool(volumes.sum() < 0)
    of_part = np.bincount(part[rows[:, 0]], weights=volumes, minlength=count)
    low, high = np.full((count, 3), np.inf), np.full((count, 3), -np.inf)
    np.minimum.at(low, part, local)
    np.maximum.at(high, part, local)
    sign = -1.0 if volumes.sum() < 0 else 1.0
    outer = sign * of_part > 0
    for inner in np.flatnonzero(sign * of_part < 0):
        if not ((low[outer] <= low[inner]) & (high[outer] >= high[inner])).all(axis=1).any():
            raise ModelError(
                f"{name}: its parts face different ways: one, of {abs(of_part[inner]):.4g} m³, faces against the rest "
                "and is no cavity, as it lies in no other. Turn its facets ('recalculate normals' in most programs)."
            )
    return sign < 0


def _place(points: np.ndarray, number: int) -> str:
    return "(" + ", ".join(f"{c:.6g}" for c in points[number]) + ") m"
