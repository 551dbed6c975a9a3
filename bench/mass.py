"""Mass properties of a closed mesh of 1 M triangles, beside trimesh's on the same arrays."""

import math

import numpy as np
from harness import Group, Missing, Row, interleave

import rbt_ros as rbt

ROWS, COLUMNS = 500, 1000  # of a torus: twice as many triangles as vertices, all of them in one closed surface
RADII = (1.0, 0.25)


def torus() -> tuple[np.ndarray, np.ndarray]:
    """(vertices, facets) of a torus about z, 1 M triangles."""
    around, along = np.meshgrid(
        np.arange(COLUMNS) * math.tau / COLUMNS, np.arange(ROWS) * math.tau / ROWS, indexing="ij"
    )
    R, r = RADII
    rho = R + r * np.cos(along)
    vertices = np.stack([rho * np.cos(around), rho * np.sin(around), r * np.sin(along)], axis=-1).reshape(-1, 3)
    i, j = np.meshgrid(np.arange(COLUMNS), np.arange(ROWS), indexing="ij")

    def number(column, row):
        return (column % COLUMNS) * ROWS + row % ROWS

    a, b, c, d = number(i, j), number(i + 1, j), number(i + 1, j + 1), number(i, j + 1)
    return vertices, np.concatenate([np.stack(t, axis=-1).reshape(-1, 3) for t in ((a, b, c), (a, c, d))])


def measure(wanted: set[str]) -> dict[str, Row]:
    """Ours with all its checks; trimesh's sums, with the checks that ours makes too."""
    try:
        import trimesh
    except ImportError as err:
        raise Missing("trimesh is not here: pip install 'rbt_ros[mesh]'") from err
    vertices, facets = torus()

    def ours():
        return rbt.mass.solid(vertices, facets, density=1000.0)

    def theirs():
        mesh = trimesh.Trimesh(vertices, facets, process=False)
        if not mesh.is_volume:
            raise RuntimeError("the torus is not closed")
        return mesh.moment_inertia

    us = interleave({"ours": (ours, 1), "peer": (theirs, 1)}, rounds=5)
    R, r = RADII
    volume = 2 * math.pi**2 * R * r * r
    exact = volume * (R * R + 0.75 * r * r)
    errors = [ours().inertia[2, 2] / 1000 / exact - 1, theirs()[2, 2] / exact - 1]
    note = f"checks and sums; Izz against the torus's own: ours {errors[0]:.1e}, trimesh {errors[1]:.1e} (the facets)"
    unit = f"s for {len(facets) / 1e6:g} M triangles"
    return {"mass_1M": Row(us["peer"] / us["ours"], us["ours"] / 1e6, us["peer"] / 1e6, unit, note)}


GROUPS = [Group(("mass_1M",), measure)]
