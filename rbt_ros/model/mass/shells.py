"""Shells: flat facets with a thickness and a density each."""

from typing import Any

import numpy as np

from rbt_ros.errors import ModelError
from rbt_ros.model.mass.facets import blocks, checked_facets, checked_vertices, refuse_degenerate
from rbt_ros.model.mass.properties import (
    MassProperties,
    Moments,
    mass_properties,
    only_one,
    per_item,
    positive,
    simplex_moments,
    total,
)

# a facet of 4 corners, cut along either diagonal: its two triangles each way, all at half weight
CUTS = ((0, 1, 2), (0, 2, 3), (0, 1, 3), (1, 2, 3))


def shell(
    vertices: Any,
    facets: Any,
    name: str = "shell",
    *,
    thickness: Any,
    density: Any = None,
    mass: float | None = None,
    allow_degenerate: bool = False,
) -> MassProperties:
    """A body of flat facets, each a prism over its area A, half of its thickness t on either side.

    vertices (n, 3) [m]; facets: numbers of 3 or 4 vertices each, from 0; thickness t [m] and density ρ [kg/m³]: one
    number, or one per facet. Or `mass` [kg] of the whole, of one density. A facet weighs m = ρ t A; about its own CoM
    it has the tensor of its middle surface, and m t²/12 (1 - n nᵀ) for its thickness, n its unit normal.
    Where facets meet at an angle their prisms overlap inside and gape outside: an error of the order t² per length.
    """
    points = checked_vertices(vertices, name)
    kinds = checked_facets(facets, len(points), name)
    count = sum(len(rows) for _, rows in kinds)
    only_one(density, mass, name)
    t = per_item(thickness, count, f"thickness of {name}", "m")
    rho = per_item(1.0 if density is None else density, count, f"density of {name}", "kg/m³")
    origin = (points.min(axis=0) + points.max(axis=0)) / 2
    sums = []
    for numbers, rows in kinds:
        for block in blocks(len(rows)):
            corners, owners = points[rows[block]] - origin, numbers[block]
            areas = area_vectors(corners)
            if not allow_degenerate:
                refuse_degenerate(corners, areas, owners, name)
            if (wrong := crossed(corners, areas)).any():
                raise ModelError(f"{name}: facet {owners[np.argmax(wrong)]} crosses itself; put its corners in order.")
            sums.append(plate_moments(corners, areas, rho[owners] * t[owners], t[owners]))
    whole = total(sums)
    if not whole.mass > 0:
        raise ModelError(f"{name}: no facet has any area, so there is no mass; give facets that have some.")
    wanted = None if mass is None else positive(mass, f"mass of {name}", "kg")
    return mass_properties(whole, origin, wanted)


def area_vectors(corners: np.ndarray) -> np.ndarray:
    """(n, 3) area times unit normal of facets (n, k, 3) of k = 3 or 4 corners; bent: along its diagonals."""
    a, b = corners[:, 2] - corners[:, 0], corners[:, -1] - corners[:, 1]
    return np.cross(a, b) / 2 if corners.shape[1] == 4 else np.cross(corners[:, 1] - corners[:, 0], a) / 2


def crossed(corners: np.ndarray, areas: np.ndarray) -> np.ndarray:
    """(n,) whether a facet crosses itself: either diagonal cuts it into triangles that face opposite ways."""
    if corners.shape[1] == 3:
        return np.zeros(len(corners), dtype=bool)
    signed = [np.einsum("ni,ni->n", area_vectors(corners[:, cut]), areas) for cut in CUTS]
    return (np.minimum(signed[0], signed[1]) < 0) & (np.minimum(signed[2], signed[3]) < 0)


def plate_moments(corners: np.ndarray, areas: np.ndarray, per_area: np.ndarray, thickness: np.ndarray) -> Moments:
    """Moments of facets (n, k, 3) with area vectors (n, 3), mass per area [kg/m²] and thickness [m]."""
    area = np.linalg.norm(areas, axis=1)
    normal = areas / np.where(area > 0, area, 1.0)[:, None]
    m = per_area * area
    if corners.shape[1] == 3:
        middle = simplex_moments(m, corners)
    else:
        parts = [corners[:, cut] for cut in CUTS]
        signed = [np.einsum("ni,ni->n", area_vectors(part), normal) / 2 for part in parts]
        middle = simplex_moments(np.concatenate([per_area * s for s in signed]), np.concatenate(parts))
    across = (normal * (m * thickness**2 / 12)[:, None]).T @ normal  # ∫ r rᵀ dm over the thickness
    return middle._replace(second=middle.second + across)
