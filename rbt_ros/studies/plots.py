"""Figures of a Result. matplotlib is imported when the first one is drawn."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from rbt_ros.core.hinge_kinds import HINGE_KINDS
from rbt_ros.core.types import JointKind
from rbt_ros.errors import ModelError
from rbt_ros.model.attitude import zxz_angles
from rbt_ros.paths import writing
from rbt_ros.results import Energy, Result, empty_figure

ZXZ = ("ψ", "θ", "φ")
SLIDING = ("position", "slide", "x", "y")  # labels of what slides, in m; the others turn


def hinge_angles(result: Result, name: str) -> dict[str, np.ndarray]:
    """What hinge `name` moved over time, by label: Z-X-Z angles [rad] of a spherical hinge, else its angles [rad] and
    positions [m].

    Z-X-Z angles may turn fast: take samples so often that none turns by more than π in between.
    """
    motion = result.hinge(name)
    kind = result.robot.hinges[result.robot.hinge_index(name)].kind
    if kind == JointKind.SPHERICAL:
        return dict(zip(ZXZ, zxz_angles(motion.quaternion).T, strict=True))
    names = [freedom.name for freedom in HINGE_KINDS[kind].freedoms]
    if len(names) > 1:
        return dict(zip(names, motion.position.T, strict=True))
    return {"position" if kind == JointKind.PRISMATIC else "angle": motion.position}


def hinges_figure(
    time: np.ndarray, angles: Mapping[str, Mapping[str, np.ndarray]], energy: Energy, title: str = ""
) -> Any:
    """One diagram per hinge with what it moved by label, and one of the energies [J], over `time` [s].

    What turns and slides has two: angles, and positions.
    """
    diagrams = []
    for hinge, curves in angles.items():
        for unit in ("rad", "m"):
            if of_unit := {label: x for label, x in curves.items() if (label in SLIDING) == (unit == "m")}:
                diagrams.append((f"{hinge} [{unit}]", of_unit, len(curves) > 1))
    rows = len(diagrams) + 1
    figure = empty_figure(9, 2 * rows)
    axes = figure.subplots(rows, 1, sharex=True, squeeze=False)[:, 0]
    for ax, (title_of_axis, curves, has_several) in zip(axes, diagrams, strict=False):
        for label, angle in curves.items():
            ax.plot(time, angle, label=label)
        ax.set_ylabel(title_of_axis)
        if has_several:
            ax.legend(ncols=len(curves), fontsize=8, loc="best")
    for label, values in (("kinetic", energy.kinetic), ("potential", energy.potential), ("total", energy.total)):
        axes[-1].plot(time, values, label=label, linewidth=2 if label == "total" else 1)
    drift = np.abs(energy.total - energy.total[0]).max()
    axes[-1].set_ylabel("energy [J]")
    axes[-1].set_xlabel(f"time t [s]        (largest change of the total energy {drift:.1e} J)")
    axes[-1].legend(ncols=3, fontsize=8, loc="best")
    for ax in axes:
        ax.grid(alpha=0.3)
    figure.align_ylabels(axes)
    figure.suptitle(title)
    return figure


def zxz_figure(result: Result, path: str | Path | None = None) -> Any:
    """The figure of the five-body course work for any robot: every hinge with angles, and the energies; saved when
    `path` is given."""
    rigid = (JointKind.FIXED, JointKind.FREE)
    angles = {h.name: hinge_angles(result, h.name) for h in result.robot.hinges if h.kind not in rigid}
    figure = hinges_figure(result.t, angles, result.energy, result.robot.name)
    if path is not None:
        with writing(path):
            figure.savefig(path, dpi=150)
    return figure


def reaction_figure(result: Result, path: str | Path | None = None, hinges: Sequence[str] | None = None) -> Any:
    """What the hinges transmit, world axes: a row per hinge with its force and its moment; saved when `path` is given.

    hinges: which, by name; default: all but the free ones.
    """
    names = hinges or [h.name for h in result.robot.hinges if h.kind != JointKind.FREE]
    if not names:
        raise ModelError(f"robot '{result.robot.name}' has free hinges only, which transmit nothing; nothing to draw.")
    passed = {name: result.reaction(name) for name in names}
    figure = empty_figure(10, 1 + 1.8 * len(passed))
    axes = figure.subplots(len(passed), 2, sharex=True, squeeze=False)
    for row, (name, wrench) in zip(axes, passed.items(), strict=True):
        for ax, values, unit in zip(row, (wrench.force, wrench.moment), ("N", "N·m"), strict=True):
            for axis, column in zip("xyz", values.T, strict=True):
                ax.plot(result.t, column, label=axis)
            ax.set_ylabel(f"{name} [{unit}]")
            ax.grid(alpha=0.3)
    for ax, what in zip(axes[0], ("force", "moment"), strict=True):
        ax.set_title(f"{what} of the parent on the child")
    for ax in axes[-1]:
        ax.set_xlabel("time t [s]")
    axes[0, 0].legend(ncols=3, fontsize=8, loc="best")
    figure.suptitle(result.robot.name)
    if path is not None:
        with writing(path):
            figure.savefig(path, dpi=110)
    return figure
