"""Steps whose angular momentum and energy are kept: `run_arrays` one step at a time, corrected after each or before.

`Kept` remembers what must be kept, from the start of a motion or from a change of its mode on.
"""

from functools import partial

import numpy as np

from rbt_ros.core import stabilise as st
from rbt_ros.core.freetop import principal_axes
from rbt_ros.core.integrate import run_arrays
from rbt_ros.core.jit import kernel, routine
from rbt_ros.core.stabilise import ACCOUNT, MODE, NONE, SEED_ORDER, corrected
from rbt_ros.core.stabilise_tree import correct_tree
from rbt_ros.core.types import INERTIA, OK, Model
from rbt_ros.core.vec import quat
from rbt_ros.core.work import Work
