"""`rbt map`: net turns or collisions over a grid, in blocks: resumable, on any number of processes and machines.

A block is one row of flights, or BLOCK rows of what is fast, whoever computes it: the same bits whatever the number of
workers. Each one that is done is a file; a map that was interrupted goes on from those.
"""

import argparse
import json
import shutil
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from rbt_ros import __version__
from rbt_ros.child import safe_path
from rbt_ros.errors import ScenarioError, SetupError, SolveError
from rbt_ros.model.folding import ARRAYS, array
from rbt_ros.model.robot import Robot
from rbt_ros.model.scenario import read_scenario, scenario_from_text
from rbt_ros.modular import planar
from rbt_ros.modular.clearance import Clearance
from rbt_ros.modular.flights import STEP, Flight, Pilot, fly, fly_many, ticks_of
from rbt_ros.modular.gains import THESIS, gains
from rbt_ros.modular.maps import turn_map
from rbt_ros.modular.paths import PROFILES, rectangle
from rbt_ros.modular.turns import Folding, angles, check_reach, rotation_vectors
from rbt_ros.paths import made_folder
from rbt_ros.results import empty_figure
from rbt_ros.studies.figure_style import TWO_SIGNS

BLOCK = 20  # rows of the grid: lines of the kinematics are shared within a block
CONNECT = 5.0  # [s] to wait for a scheduler
MODES = {
    "kinematic": "net turns, by momentum zero",
    "dynamic": "net turns, flown with PD controllers and locks",
    "planar": "net turns of three rods, in closed form",
    "collision": "least distance of panels",
}
OVERLAP, CONTACT, HATCHED = "negative: overlap", "line: contact", "hatched: rods a and c touch"  # in figures
Progress = Callable[[float], None]


class Spec(NamedTuple):
    """A map, whole: what its result file keeps."""

    robot: str  # an array's name, or the text of a scenario
    options: dict[str, Any]  # of the array
    mode: str
    psi1: tuple[float, ...]  # [rad]
    psi2: tuple[float, ...]
    joints: tuple[str, str] = ("psi1", "psi2")
    start: tuple[float, float] = (0.0, 0.0)
    held: dict[str, float] = {}
    first: int = 1
    leg: float = 10.0  # [s], dynamic
    profile: str | None = None
    kp: float | None = None  # of all hinges; None: by the inertia of each
    kd: float | None = None
    version: str = __version__


def robot_of(spec: Spec) -> Robot:
    """The array of a map."""
    return array(spec.robot, **spec.options) if spec.robot in ARRAYS else scenario_from_text(spec.robot).robot


def rows_of_block(mode: str) -> int:
    """Rows of the grid in each block."""
    return 1 if mode == "dynamic" else BLOCK


def compute_block(given: Sequence[Any], block: int) -> np.ndarray:
    """(rows, n, values) of one block: quaternions, of planar turns the angle [rad], of collisions the distance [m]."""
    spec = Spec(*given)
    height = rows_of_block(spec.mode)
    rows = np.array(spec.psi1[block * height : (block + 1) * height])
    columns, robot = np.array(spec.psi2), robot_of(spec)
    if spec.mode == "kinematic":
        found = turn_map(robot, rows, columns, joints=spec.joints, start=spec.start, held=spec.held, first=spec.first)
        return found.quaternion
    if spec.mode == "collision":
        return Clearance(robot).grid(rows, columns, spec.joints, spec.held)[..., None]
    if spec.mode == "planar":
        turn = planar.rectangle_turn(planar.of_rods(robot), rows[:, None], columns[None, :], spec.start)
        return (turn if spec.first == 1 else -turn)[..., None]
    paths = [rectangle(p, q, first=spec.first, joints=spec.joints) for p in rows for q in columns]
    flights = fly_many(robot, paths, leg=spec.leg, profile=spec.profile, kp=spec.kp, kd=spec.kd, threads=1)
    quaternions = [flight.quaternion if isinstance(flight, Flight) else np.full(4, np.nan) for flight in flights]
    return np.array(quaternions).reshape(len(rows), len(columns), 4)


def make_map(
    spec: Spec,
    folder: Path,
    *,
    cluster: str | None = None,
    workers: int = 1,
    progress: Progress | None = None,
) -> np.ndarray:
    """(m, n, values) of the whole map; blocks already in `folder` are taken, the others put there."""
    check(spec)
    _claim(folder, spec)
    count = -(-len(spec.psi1) // rows_of_block(spec.mode))
    missing = [k for k in range(count) if _read(folder, k) is None]
    for done, (k, values) in enumerate(_computed(spec, missing, cluster, workers), start=count - len(missing) + 1):
        _write(_file(folder, k), values)
        if progress is not None:
            progress(done / count)
    return np.concatenate([np.load(_file(folder, k)) for k in range(count)])


def require_whole(spec: Spec, values: np.ndarray, kept: str) -> None:
    """SolveError where flights failed: how many, and why the first of them did, which is flown again."""
    failed = np.argwhere(np.isnan(values).any(axis=-1))
    if not len(failed):
        return
    psi1, psi2 = spec.psi1[failed[0, 0]], spec.psi2[failed[0, 1]]
    path, cause = rectangle(psi1, psi2, first=spec.first, joints=spec.joints), "flown alone, it does not"
    try:
        fly(robot_of(spec), path, leg=spec.leg, profile=spec.profile, kp=spec.kp, kd=spec.kd)
    except SolveError as err:
        cause = str(err)
    raise SolveError(
        f"map: {len(failed)} of {values.shape[0] * values.shape[1]} flights failed{kept}; the first, "
        f"{spec.joints[0]} {np.degrees(psi1):g}°, {spec.joints[1]} {np.degrees(psi2):g}°: {cause}"
    )


def check(spec: Spec) -> None:
    """Refuse before anything is computed what any block would refuse."""
    if spec.mode not in MODES:
        raise ScenarioError(f"map: mode '{spec.mode:.40}' is not one of {', '.join(MODES)}.")
    if not spec.psi1 or not spec.psi2 or not np.isfinite([*spec.psi1, *spec.psi2]).all():
        raise ScenarioError("map: psi1 and psi2 must be rows of finite angles.")
    robot = robot_of(spec)
    Folding(robot)
    if spec.mode == "dynamic" and (spec.start != (0.0, 0.0) or spec.held):
        raise ScenarioError("map: flights start flat; leave start and held out, or take mode kinematic.")
    if not all(spec.joints) or len({*spec.joints, *spec.held}) != 2 + len(spec.held):
        raise ScenarioError(
            f"map: joints {', '.join(map(repr, spec.joints))} move and {', '.join(spec.held) or 'none'} is held; two "
            "move, and others are held: --joints psi1,psi2 --held psi3=90."
        )
    for corner in (spec.start, (min(spec.psi1), min(spec.psi2)), (max(spec.psi1), max(spec.psi2))):
        check_reach(robot, (*spec.joints, *spec.held), [(*corner, *spec.held.values())], "map: a shape of it")
    if spec.mode == "planar":
        planar.of_rods(robot)
    if spec.mode == "dynamic":
        Pilot(robot, gains(robot, spec.kp, spec.kd))
        ticks_of(spec.leg, STEP)


def _computed(spec: Spec, blocks: Sequence[int], cluster: str | None, workers: int) -> Iterator[tuple[int, np.ndarray]]:
    """Each block as it is done, here or by Dask, which gives a lost worker's blocks to another."""
    if cluster is None and workers == 1:
        for k in blocks:
            yield k, compute_block(spec, k)
        return
    try:
        from dask.distributed import Client, LocalCluster, as_completed
    except ImportError as err:
        raise SetupError("maps on several processes need Dask: pip install 'rbt_ros[cluster]'") from err
    if cluster is not None:
        try:
            client = Client(cluster, timeout=CONNECT)
        except (OSError, ValueError) as err:
            raise ScenarioError(f"--cluster {cluster}: no Dask scheduler answers there ({err}).") from err
        with client:
            yield from _by_client(client, as_completed, spec, blocks)
        return
    with (
        safe_path(),
        LocalCluster(n_workers=workers, threads_per_worker=1, dashboard_address=None) as local,
        Client(local) as client,
    ):
        yield from _by_client(client, as_completed, spec, blocks)


def _by_client(client: Any, as_completed: Any, spec: Spec, blocks: Iterable[int]) -> Iterator[tuple[int, np.ndarray]]:
    futures = {client.submit(compute_block, tuple(spec), k, pure=False, retries=2): k for k in blocks}
    for future in as_completed(futures):
        try:
            yield futures[future], future.result()
        except RuntimeError as err:  # killed with every worker that took it
            raise SolveError(f"map: block {futures[future]} came back from no worker: {err}") from err


def _file(folder: Path, block: int) -> Path:
    return folder / f"block_{block:05d}.npy"


def _read(folder: Path, block: int) -> np.ndarray | None:
    """None where it is missing, or cut off: a disk was full, a machine lost its power."""
    try:
        return np.load(_file(folder, block))
    except (OSError, EOFError, ValueError):
        return None


def _write(path: Path, values: np.ndarray) -> None:
    """Whole or not at all."""
    part = path.with_suffix(".part")
    with open(part, "wb") as file:
        np.save(file, values)
    part.replace(path)


def _claim(folder: Path, spec: Spec) -> None:
    """Make the folder of the blocks, or see that it is of this map."""
    told, text = folder / "map.json", json.dumps(spec._asdict(), indent=1)
    made_folder(folder)
    holds = told.exists() and any(folder.glob("block_*.npy"))
    if holds and told.read_text(encoding="utf-8") != text:
        raise ScenarioError(f"{folder} holds blocks of another map; remove it, or give another --out or --name.")
    told.write_text(text, encoding="utf-8")


def write_result(spec: Spec, values: np.ndarray, path: Path) -> None:
    """One .npz file: psi1, psi2 [rad]; quaternion, angle [rad], axis, efficiency, or distance [m]; all parameters."""
    psi1, psi2 = np.array(spec.psi1), np.array(spec.psi2)
    table: dict[str, np.ndarray] = {"psi1": psi1, "psi2": psi2}
    if spec.mode == "collision":
        table["distance"] = values[..., 0]
    elif spec.mode == "planar":
        table["turn"] = values[..., 0]
    else:
        way = 2.0 * (np.abs(psi1 - spec.start[0])[:, None] + np.abs(psi2 - spec.start[1])[None, :])
        vector, angle = rotation_vectors(values), angles(values)
        size = np.linalg.norm(vector, axis=-1, keepdims=True)
        table |= {"quaternion": values, "angle": angle, "axis": vector / np.where(size > 0, size, 1.0)}
        table["efficiency"] = angle / np.where(way > 0, way, 1.0)
    with open(path, "wb") as file:
        np.savez_compressed(file, parameters=np.array(json.dumps(spec._asdict())), **table)


def draw(spec: Spec, values: np.ndarray, path: Path) -> None:
    """The map in colours, in degrees; where three rods collide hatched (Figure 4.7); where panels touch, a line."""
    figure = empty_figure(7, 5.5)
    ax = figure.subplots()
    p, q = np.degrees(spec.psi1), np.degrees(spec.psi2)
    shown, label, colours = np.degrees(angles(values)) if values.shape[-1] == 4 else values[..., 0], "turn [°]", {}
    if spec.mode == "planar":
        shown, hit = np.degrees(shown), rods_touch(spec)
        colours = {"cmap": TWO_SIGNS} | reach(np.abs(shown[~hit]))
    if spec.mode == "collision":
        label, colours = f"distance [m], {OVERLAP}", {"cmap": TWO_SIGNS} | reach(shown)
    mesh = ax.pcolormesh(p, q, shown.T, shading="nearest", **colours)
    figure.colorbar(mesh, label=label, extend=beyond(mesh))
    title = MODES[spec.mode]
    outlined = min(shown.shape) > 1  # not a row of cells alone
    if outlined and spec.mode == "collision" and shown.min() < 0 < shown.max():
        ax.contour(p, q, shown.T, levels=[0.0], colors="black", linewidths=1)
        title += f"; {CONTACT}"
    if outlined and spec.mode == "planar" and hit.any():
        ax.contourf(p, q, hit.T, levels=[0.5, 1.5], colors="none", hatches=["xx"])
        title += f"; {HATCHED}"
    ax.set(xlabel=f"{spec.joints[0]} [°]", ylabel=f"{spec.joints[1]} [°]", title=title)
    figure.savefig(path, dpi=110)


def rods_touch(spec: Spec) -> np.ndarray:
    """(m, n) where rods of a planar map touch: their turns are of no use, and the largest of all."""
    lengths = planar.of_rods(robot_of(spec)).lengths
    return planar.collide(lengths, np.array(spec.psi1)[:, None], np.array(spec.psi2)[None, :])


def reach(values: np.ndarray) -> dict[str, float]:
    """The scale for both signs, up to the largest value."""
    most = float(values.max(initial=0.0)) or 1.0
    return {"vmin": -most, "vmax": most}


def beyond(mesh: Any) -> str:
    """At which ends of its scale a map has values that lie beyond: an arrow of the colour bar."""
    values, norm = mesh.get_array(), mesh.norm
    return ("neither", "max", "min", "both")[2 * bool(values.min() < norm.vmin) + bool(values.max() > norm.vmax)]


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="rbt map",
        description="Net turns of rectangular manoeuvres, or collisions, over a grid of two hinges of an array that "
        "floats. Writes OUT/NAME.npz with all parameters, and OUT/NAME.png; interrupted, the same command goes on. See "
        "docs/modular.md.",
    )
    parser.add_argument("robot", help=f"an array ({', '.join(ARRAYS)}) or a scenario YAML file with one that floats")
    parser.add_argument("--option", action="append", default=[], metavar="KEY=VALUE", help="of the array: size=2")
    parser.add_argument(
        "--mode", choices=MODES, default="kinematic", help="; ".join(f"{k}: {v}" for k, v in MODES.items())
    )
    grid = "FROM:TO:COUNT in degrees: --psi1=-180:180:20, the default"
    parser.add_argument("--psi1", default="-180:180:20", metavar="GRID", help=grid)
    parser.add_argument("--psi2", default="-180:180:20", metavar="GRID", help=grid)
    parser.add_argument("--joints", default="psi1,psi2", metavar="A,B", help="the two that move (psi1,psi2)")
    parser.add_argument("--held", action="append", default=[], metavar="JOINT=DEG", help="where another one is locked")
    parser.add_argument(
        "--first", type=int, choices=(1, 2), default=1, help="which moves first; 1: the thesis' clockwise"
    )
    parser.add_argument("--leg", type=float, default=10.0, metavar="S", help="dynamic: time for each side (10)")
    parser.add_argument("--profile", choices=PROFILES, help="dynamic: of the set-points; none: they jump (Eq. 4.3)")
    for gain, unit, usual in zip(("--kp", "--kd"), ("N·m/rad", "N·m·s/rad"), THESIS, strict=True):
        text = f"dynamic: {unit} of all hinges (by the inertia of each: {usual:g} for panels of 1 m and 1 kg)"
        parser.add_argument(gain, type=float, metavar="K", help=text)
    parser.add_argument("--cluster", metavar="ADDRESS", help="a Dask scheduler: tcp://host:8786")
    parser.add_argument(
        "--workers", type=int, default=1, metavar="N", help="processes of a local Dask cluster (1: none)"
    )
    parser.add_argument("--name", default="map", help="of the files (map)")
    parser.add_argument("--out", type=Path, default=Path("out"), metavar="DIR", help="folder for the files (out)")
    return parser


def main(arguments: Sequence[str], progress: Progress | None = None) -> int:
    """`rbt map`."""
    given = _parser().parse_args(arguments)
    is_array = given.robot in ARRAYS
    text = given.robot if is_array else read_scenario(given.robot).text
    a, _, b = given.joints.partition(",")
    spec = Spec(
        text,
        {key: literal(value) for key, value in pairs(given.option, "--option")},
        given.mode,
        _grid(given.psi1, "--psi1"),
        _grid(given.psi2, "--psi2"),
        (a, b),
        (0.0, 0.0),
        {joint: float(np.radians(_number(value, "--held"))) for joint, value in pairs(given.held, "--held")},
        given.first,
        given.leg,
        given.profile,
        given.kp,
        given.kd,
    )
    if given.workers < 1:
        raise ScenarioError(f"--workers {given.workers} must be one or more.")
    folder, path = made_folder(given.out) / f"{given.name}.blocks", given.out / f"{given.name}.npz"
    values = make_map(spec, folder, cluster=given.cluster, workers=given.workers, progress=progress)
    shutil.rmtree(folder)
    if np.isnan(values).any(axis=-1).all():
        require_whole(spec, values, "")
    write_result(spec, values, path)
    print(f"{values.shape[0]} x {values.shape[1]} cells, {MODES[spec.mode]}")
    print(f"wrote {path}")
    try:
        draw(spec, values, path.with_suffix(".png"))
        print(f"wrote {path.with_suffix('.png')}")
    except SetupError as err:
        print(f"no figure: {err}")
    require_whole(spec, values, f" and are left open in {path}")
    return 0


def _grid(text: str, option: str) -> tuple[float, ...]:
    """[rad] of FROM:TO:COUNT in degrees."""
    parts = text.split(":")
    if len(parts) != 3 or not parts[2].isdigit() or not 0 < int(parts[2]) <= 100_000:
        raise ScenarioError(f"{option} {text}: give FROM:TO:COUNT, degrees and how many: --psi1=-180:180:20.")
    low, high = (_number(part, option) for part in parts[:2])
    return tuple(np.radians(np.linspace(low, high, int(parts[2]))).tolist())


def pairs(given: Sequence[str], option: str) -> Iterator[tuple[str, str]]:
    for text in given:
        key, equals, value = text.partition("=")
        if not equals:
            raise ScenarioError(f"{option} {text}: give NAME=VALUE.")
        yield key, value


def _number(text: str, option: str) -> float:
    try:
        return float(text)
    except ValueError as err:
        raise ScenarioError(f"{option}: '{text}' is not a number.") from err


def literal(text: str) -> Any:
    """A number, a list, or else a word."""
    try:
        return json.loads(text)
    except ValueError:
        return text
