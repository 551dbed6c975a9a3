"""How figures for print look: millimetres, 8 pt, colours that everybody tells apart; a file per format."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from rbt_ros.errors import ScenarioError, SetupError
from rbt_ros.paths import writing
from rbt_ros.results import empty_figure

MM = 1 / 25.4  # [inches]
WIDTH_MM = 170.0  # of a page of two columns; one column: 85
WIDE_MM = 120.0  # from here on there is room beside each other
FORMATS = ("png", "pdf", "svg")

# of Okabe and Ito, Color universal design (2008): the three that, with black, are told apart best also by who is
# colour-blind; in grey by their lines
COLOURS = ("#d55e00", "#56b4e9", "#0072b2", "#000000")
LINES = ("-", "--", "-.", ":")
AXES = {axis: (COLOURS[k], LINES[k]) for k, axis in enumerate("xyz")} | {"w": ("#000000", ":")}
SHADES = "cividis"  # of maps: even in lightness, the same to the colour-blind
TWO_SIGNS = "RdBu"  # of what is negative and positive: zero is white

STYLE: dict[Any, Any] = {
    "font.size": 8,
    "axes.titlesize": 8,
    "axes.labelsize": 8,
    "legend.fontsize": 7,
    "xtick.labelsize": 7,
    "ytick.labelsize": 7,
    "axes.linewidth": 0.6,
    "lines.linewidth": 1.0,
    "grid.linewidth": 0.4,
    "grid.alpha": 0.35,
    "axes.grid": True,
    "axes.formatter.useoffset": False,
    "axes.formatter.limits": (-3, 4),
    "axes.formatter.use_mathtext": True,
    "legend.frameon": False,
    "savefig.dpi": 300,
    "pdf.fonttype": 42,  # letters stay letters
    "svg.hashsalt": "rbt",  # the same file for the same run
}
DATES: dict[str, dict[str, Any]] = {"png": {}, "pdf": {"CreationDate": None}, "svg": {"Date": None}}


@contextmanager
def for_print() -> Iterator[None]:
    """Around the drawing and writing of figures."""
    try:
        from matplotlib import rc_context
    except ImportError as err:
        raise SetupError("figures need matplotlib: pip install 'rbt_ros[plot]'") from err
    with rc_context(STYLE):
        yield


def page(width_mm: float, height_mm: float) -> Any:
    """An empty figure."""
    return empty_figure(width_mm * MM, height_mm * MM)


def write(figure: Any, path: Path, formats: Sequence[str]) -> list[Path]:
    """The same figure as path.png, path.pdf, ...: which files."""
    written = []
    for kind in formats:
        if kind not in FORMATS:
            raise ScenarioError(f"'{kind:.20}' is no format of figures; there are {', '.join(FORMATS)}.")
        file = path.with_name(f"{path.name}.{kind}")
        with writing(file):
            figure.savefig(file, metadata=DATES[kind])
        written.append(file)
    return written


def grid(figure: Any, count: int, columns: int = 1, **options: Any) -> np.ndarray:
    """count axes, (rows, columns), those that are too many taken away."""
    rows = -(-count // columns)
    axes = figure.subplots(rows, columns, squeeze=False, **options)
    for ax in axes.flat[count:]:
        ax.remove()
    return axes


def axis_lines(ax: Any, t: np.ndarray, values: np.ndarray, axes: str, label: str = "{}") -> None:
    """A line for each component."""
    for axis, column in zip(axes, values.T, strict=True):
        colour, line = AXES[axis]
        ax.plot(t, column, color=colour, linestyle=line, label=label.format(axis))


def one_legend(figure: Any, ax: Any) -> None:
    """Above all diagrams, as it is the same for each."""
    handles, labels = ax.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=len(labels))
