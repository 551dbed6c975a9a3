"""Whether a figure has samples enough: the warning of `rbt run` and `rbt plot`."""

import math
import warnings
from collections.abc import Mapping

import numpy as np

FAR, PER_TURN = 0.25, 12  # of a turn between samples at which curves mislead; samples that show one well


def warn_of_far_samples(spins: Mapping[str, tuple[np.ndarray, np.ndarray]], step: float | None = None) -> None:
    """Warn where a body turns so far between two samples that curves through them mislead.

    spins: times (N,) [s] and |ω| (N,) [rad/s] by body; step [s] of a simulation whose samples `--every` spaces.
    """
    turned = {}
    for name, (t, spin) in spins.items():
        apart = np.diff(t)
        if len(apart):
            turns = np.maximum(spin[1:], spin[:-1]) * apart
            k = int(np.argmax(turns))
            turned[name] = float(turns[k]), float(apart[k]), float(max(spin[k : k + 2]))
    most, apart_s, rate, name = max(((*of, name) for name, of in turned.items()), default=(0.0, 0.0, 0.0, ""))
    if most < FAR * 2.0 * math.pi:
        return
    every = 2.0 * math.pi / (PER_TURN * rate)
    every = max(1, math.floor(every / step)) * step if step else float(f"{every:.2g}")
    way_out = f"--every {every:g} samples" if step else f"a sample every {every:g} s shows"
    warnings.warn(
        f"body '{name}' turns by up to {most / (2.0 * math.pi):.2g} of a turn between samples, {apart_s:g} s apart: "
        f"curves of the figure mislead; {way_out} it {PER_TURN} times a turn.",
        stacklevel=2,
    )
