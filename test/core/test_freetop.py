"""Exact torque-free rotation: reference states, oracles of 40 digits in every regime, laws, symmetry, the same bits."""

import json
import math
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from free_top_oracle import exact_state, taylor_state

from rbt_ros.core import freetop
from rbt_ros.core.freetop import (
    CIRCLING,
    SEPARATRIX,
    STEADY,
    checked_inertia,
    free_rotation,
    free_top,
    state_at,
    state_at_ns,
)
from rbt_ros.errors import ModelError, SolveError

EPS = np.finfo(float).eps
R1 = json.loads((Path(__file__).parents[1] / "reference" / "r1_free_top.json").read_text())
CUBESAT = (0.0361172235, 0.03378135832, 0.00733597782)
Q0 = (0.3, -0.5, 0.7, 0.4)


def distance(state, reference):
    """The largest error of q (up to its sign) and of ω against its own size."""
    (q, w), (r, v) = state, reference
    dq = min(max(abs(a - b) for a, b in zip(q, r, strict=True)), max(abs(a + b) for a, b in zip(q, r, strict=True)))
    return float(max(dq, max(abs(a - b) for a, b in zip(w, v, strict=True)) / max(abs(x) for x in v)))


def constants(inertia, omega0, q0=(1.0, 0.0, 0.0, 0.0)):
    return free_top(checked_inertia(inertia), q0, tuple(map(float, omega0)))


# against 45 and 40 digits. Every tolerance is EPS: one rounding of each element is EPS/2


@pytest.mark.parametrize("name", R1["cases"])
def test_reference_states_to_1000_s(name):
    """All states of r1. Measured: 0, bit for bit (8.9e-30 where an element is zero)."""
    case = R1["cases"][name]
    for state in case["states"]:
        q, w = free_rotation(case["inertia_diag"], R1["attitude at t=0"], case["omega0_body"], state["t"])
        assert distance((q, w), (state["q"], state["omega_body"])) <= EPS


def random_case(kind, rng):
    """(inertia, omega0, t): t to ±1e6 s."""
    w = rng.normal(size=3) * 10 ** rng.uniform(-3, 2)
    t = 10 ** rng.uniform(-2, 6) * rng.choice([-1, 1])
    ulps = rng.integers(1, 6, size=2) * EPS
    if kind == "tensor":
        g = rng.normal(size=(3, 3))
        a = g @ g.T + 0.1 * np.eye(3)
        return (a + a.T) / 2, w, t
    if kind == "symmetric but for ulps":
        a, c = rng.uniform(0.5, 2), rng.uniform(0.2, 3)
        return rng.permutation([a, a * (1 + ulps[0]), c]), w, t
    if kind == "sphere but for ulps":
        a = rng.uniform(0.5, 2)
        return rng.permutation([a, a * (1 + ulps[0]), a * (1 + ulps[0] + ulps[1] + EPS)]), w, t
    if kind == "rod":
        return rng.permutation([1e-6, 1.0, 1.0 + 1e-6 * rng.uniform()]) * 10 ** rng.uniform(-6, 0), w, t
    if kind == "nearly about one axis":
        w *= 10 ** rng.uniform(-14, -1)
        w[rng.integers(3)] = rng.normal()
        return 10 ** rng.uniform(-1, 1, 3), w, t
    if kind == "nearly separatrix":
        I = np.sort(10 ** rng.uniform(-1, 1, 3))
        slope = math.sqrt(I[0] * (I[1] - I[0]) / (I[2] * (I[2] - I[1])))
        w[2] = w[0] * slope * (1 + 10 ** rng.uniform(-10, -2) * rng.normal())
        return I, w, t
    return rng.permutation(10 ** rng.uniform(-2, 2, 3)), w, t


KINDS = [
    "any moments",
    "tensor",
    "symmetric but for ulps",
    "sphere but for ulps",
    "rod",
    "nearly about one axis",
    "nearly separatrix",
]


@pytest.mark.parametrize("kind", KINDS)
def test_random_motions_to_a_million_seconds(kind):
    """Measured over 3600 cases: 0.5 EPS, the rounding of the result."""
    rng = np.random.default_rng(20)
    for _ in range(8):
        I, w, t = random_case(kind, rng)
        q0 = rng.normal(size=4)
        assert distance(free_rotation(I, q0, w, t), exact_state(I, q0, w, t)) <= EPS


def test_one_ulp_from_the_separatrix():
    """D = L² - 2 T I_b cancels to 1e-16 of its terms, known to 1e-32: each flip is late by 1e-16/p. Measured: 2e-14."""
    rng, worst = np.random.default_rng(4), 0.0
    for _ in range(20):
        I = np.sort(10 ** rng.uniform(-1, 1, 3))
        w = rng.normal(size=3)
        w[2] = w[0] * math.sqrt(I[0] * (I[1] - I[0]) / (I[2] * (I[2] - I[1])))
        worst = max(worst, distance(free_rotation(I, Q0, w, 1000.0), exact_state(I, Q0, w, 1000.0)))
    assert worst <= 1e-13


SPECIAL = [
    (STEADY, (1.0, 2.0, 3.0), (0.0, 0.0, 0.0)),
    (STEADY, (1.0, 2.0, 3.0), (1.5, 0.0, 0.0)),
    (STEADY, (1.0, 2.0, 3.0), (0.0, -1.5, 0.0)),
    (STEADY, (1.0, 2.0, 3.0), (0.0, 0.0, 1.5)),
    (STEADY, (2.0, 2.0, 2.0), (0.4, -0.9, 1.1)),
    (STEADY, (2.0, 1.0, 2.0), (0.4, 0.0, 1.1)),
    (CIRCLING, (2.0, 2.0, 3.0), (0.4, -0.9, 1.1)),  # oblate
    (CIRCLING, (1.0, 2.0, 2.0), (-0.4, 0.9, 1.1)),  # prolate
    (CIRCLING, (1.0, 2.0, 2.0), (1e-9, 0.9, 1.1)),
    (CIRCLING, (1.0, 2.0, 3.0), (0.0, 1.0, 1e-9)),
    (CIRCLING, (1.0, 2.0, 3.0), (1e-9, 1.0, 0.0)),
    (SEPARATRIX, (1.0, 2.0, 2.25), (0.75, 0.3, 1.0)),  # I_c (I_c - I_b) ω_c² = I_a (I_b - I_a) ω_a²
    (SEPARATRIX, (1.0, 2.0, 2.25), (-0.75, -0.3, 1.0)),
    (SEPARATRIX, (2.25, 1.0, 2.0), (1.0, 0.75, 0.0)),
]


@pytest.mark.parametrize(("regime", "I", "w"), SPECIAL)
@pytest.mark.parametrize("t", [4.0, -2.5])
def test_special_motions_against_taylor_series(regime, I, w, t):
    """Measured: 0.5 EPS."""
    assert constants(I, w).regime == regime
    reference = taylor_state(I, Q0, w, t)
    if not any(w):
        assert np.array_equal(free_rotation(I, Q0, w, t)[1], w)
        assert distance((free_rotation(I, Q0, w, t)[0], (1.0,)), (reference[0], (1.0,))) <= EPS
    else:
        assert distance(free_rotation(I, Q0, w, t), reference) <= EPS


def test_the_two_oracles_agree():
    for I, w in ((CUBESAT, (3.0, -5.0, -30.0)), ((1.0, 2.0, 3.0), (1.0, 2.0, 0.5))):
        assert distance(exact_state(I, Q0, w, 0.7), taylor_state(I, Q0, w, 0.7)) < 1e-35


def test_separatrix_never_comes_back():
    """ω → the middle axis as e^-pt, p² = (I_c - I_b)(I_b - I_a)/(I_a I_c) B², B² = 2 T/I_b; there it stays."""
    I, w = (1.0, 2.0, 2.25), (0.75, 0.3, 1.0)
    B = math.sqrt((0.75**2 + 2.0 * 0.3**2 + 2.25) / 2.0)
    p = math.sqrt(0.25 * 1.0 / 2.25) * B
    _, late = free_rotation(I, Q0, w, [50.0, 51.0, 1e6, -1e6])
    assert late[1, 0] / late[0, 0] == pytest.approx(math.exp(-p), rel=8 * EPS)
    assert late[2] == pytest.approx([0.0, B, 0.0], abs=2 * EPS)
    assert late[3] == pytest.approx([0.0, -B, 0.0], abs=2 * EPS)


# laws


@pytest.mark.parametrize(("I", "w", "flip"), [
    (CUBESAT, (0.01, 10.0, 0.0), 3.4040752954989806),
    ((1.0, 2.0, 3.0), (0.0, 4.0, 0.001), 7.907710416903338),
])  # fmt: skip
def test_flip_interval(I, w, flip):
    """2K/p, digits of r8."""
    top = constants(I, w)
    assert 2 * top.K[0] / (top.p[0] * top.unit) == pytest.approx(flip, rel=4 * EPS)


@pytest.mark.parametrize("name", R1["cases"])
def test_halves_of_a_million_seconds_agree(name):
    """Twice 5e5 s is once 1e6 s but for the rounding of the state between, times what one ulp of it moves: <= 8 times.

    Measured: 0.04 to 0.5 times.
    """
    case, T = R1["cases"][name], 1e6
    I, w0 = case["inertia_diag"], np.array(case["omega0_body"])
    once = free_rotation(I, Q0, w0, T)
    q1, w1 = free_rotation(I, Q0, w0, T / 2)
    twice = free_rotation(I, q1, w1, T / 2)
    moved = EPS
    for k in range(3):
        x = w1.copy()
        x[k] = np.nextafter(x[k], np.inf)
        moved += distance(free_rotation(I, q1, x, T / 2), twice)
    assert distance(twice, once) <= 8 * moved


def test_momentum_and_energy_of_rounded_states():
    """h_W and T from rounded q, ω. Measured: 4.6 EPS: 3 roundings of q count 2 each."""
    rng = np.random.default_rng(1)
    for _ in range(50):
        I, w = 10 ** rng.uniform(-1, 1, 3), rng.normal(size=3)
        q, v = free_rotation(I, Q0, w, np.append(0.0, 10 ** rng.uniform(-2, 6, 9)))
        h = I * v
        r = q[:, 1:]
        h_W = h + 2 * np.cross(r, np.cross(r, h) + q[:, :1] * h)
        assert np.abs(h_W - h_W[0]).max() <= 16 * EPS * np.linalg.norm(h[0])
        T = (I * v * v).sum(axis=1) / 2
        assert T == pytest.approx(T[0], rel=8 * EPS)


def test_start_and_continuity():
    """t = 0 gives back ω0 and the normalised q0 (a zero within 1e-28); q keeps its sign: no jump in a fine series."""
    for w in ((3.0, -5.0, -30.0), (20.0, 3.0, 2.0), (0.001, 20.0, 0.0), (0.0, 0.0, 7.0)):
        q, v = free_rotation(CUBESAT, (2.0, 0.0, 0.0, 0.0), w, 0.0)
        assert v == pytest.approx(w, rel=0.0, abs=1e-28) and q == pytest.approx([1.0, 0.0, 0.0, 0.0], abs=1e-28)
        q, _ = free_rotation(CUBESAT, Q0, w, np.arange(-4000, 4000) * 1e-3)
        assert np.abs(np.diff(q, axis=0)).max() < 0.05


def test_turning_the_world_and_renumbering_the_axes():
    """q0 only multiplies from the left; a cyclic renumbering moves the components: the same bits."""
    w, t = (3.0, -5.0, -30.0), np.array([0.1, 10.0, 1e5])
    q, v = free_rotation(CUBESAT, (1.0, 0.0, 0.0, 0.0), w, t)
    r, u = free_rotation(CUBESAT, (0.0, 1.0, 0.0, 0.0), w, t)
    assert np.array_equal(u, v)
    assert np.array_equal(r, np.stack([-q[:, 1], q[:, 0], -q[:, 3], q[:, 2]], axis=1))
    r, u = free_rotation(np.roll(CUBESAT, 1), (1.0, 0.0, 0.0, 0.0), np.roll(w, 1), t)
    assert np.array_equal(u, np.roll(v, 1, axis=1))
    assert np.array_equal(r[:, 1:], np.roll(q[:, 1:], 1, axis=1))


def test_units_do_not_matter():
    """Inertia in other units, slow motion in long times: the same bits, also where squares of ω underflow."""
    w, t = np.array([3.0, -5.0, -30.0]), np.array([0.1, 10.0, 1e5])
    q, v = free_rotation(CUBESAT, Q0, w, t)
    r, u = free_rotation(np.array(CUBESAT) * 2.0**-60, Q0, w * 2.0**-600, t * 2.0**600)
    assert np.array_equal(r, q) and np.array_equal(u, v * 2.0**-600)


def test_a_turned_tensor_moves_as_its_principal_moments():
    """I_B = R I Rᵀ with an exact R (axes swapped and mirrored: no rounding): components swap and mirror likewise."""
    R = np.array([[0.0, 0.0, 1.0], [-1.0, 0.0, 0.0], [0.0, -1.0, 0.0]])
    g = np.array([[2.0, 0.3, -0.1], [0.3, 3.0, 0.2], [-0.1, 0.2, 4.0]])
    w = np.array([0.3, -1.0, 0.7])
    q, v = free_rotation(g, (1.0, 0.0, 0.0, 0.0), w, 1e5)
    r, u = free_rotation(R @ g @ R.T, (1.0, 0.0, 0.0, 0.0), R @ w, 1e5)
    assert distance((np.append(r[0], R.T @ r[1:]), R.T @ u), (q, v)) <= EPS


def test_nanoseconds_are_exact():
    """state_at_ns takes t without rounding: a whole second is the same bits, a third of the ticks is not k · 1e-9."""
    top = constants(CUBESAT, (3.0, -5.0, -30.0))
    assert state_at_ns(top, 1000 * 10**9) == state_at(top, 1000.0)
    k = 123_456_789_123_457
    with_rounding, exact = state_at(top, k * 1e-9), state_at_ns(top, k)
    assert 0 < distance(with_rounding, exact) < 40 * 123_457 * EPS
    assert state_at_ns(top, 2**53) != state_at_ns(top, 2**53 + 1)  # 1 ns · 30 rad/s, after a hundred days


def test_shapes():
    q, w = free_rotation(CUBESAT, Q0, (1, 2, 3), 1)
    assert q.shape == (4,) and w.shape == (3,)
    q, w = free_rotation(CUBESAT, Q0, (1, 2, 3), [[1, 2], [3, 4], [5, 6]])
    assert q.shape == (3, 2, 4) and w.shape == (3, 2, 3)
    assert free_rotation(CUBESAT, Q0, (1, 2, 3), [])[0].shape == (0, 4)


@pytest.mark.parametrize(("arguments", "error", "text"), [
    (((1, 2), Q0, (1, 2, 3), 1), ModelError, "3 principal moments or a finite 3 x 3"),
    (((1, 2, 0), Q0, (1, 2, 3), 1), ModelError, "smallest principal moment 0 kg·m² is not positive"),
    (((1, math.nan, 1), Q0, (1, 2, 3), 1), ModelError, "3 principal moments or a finite 3 x 3"),
    ((((1, 0.5, 0), (0, 1, 0), (0, 0, 1)), Q0, (1, 2, 3), 1), ModelError, "symmetric"),
    (((1, 2, 3), (0, 0, 0, 0), (1, 2, 3), 1), ModelError, "q0 is zero"),
    (((1, 2, 3), (1, 0, 0), (1, 2, 3), 1), ModelError, "q0 = .*4 finite numbers"),
    (((1, 2, 3), Q0, (1, math.inf, 3), 1), ModelError, "omega0 = .*3 finite numbers"),
    (((1, 2, 3), Q0, (1, 2, 3), [1, math.nan]), ModelError, "t holds a number that is not finite"),
    (((1, 2, 3), Q0, (1, 2, 3), 1e13), SolveError, "phases of this motion reach .*e\\+1[34] rad"),
])  # fmt: skip
def test_what_cannot_be_propagated_is_refused(arguments, error, text):
    with pytest.raises(error, match=text):
        free_rotation(*arguments)


DIGEST = """
import hashlib
import numpy as np
from rbt_ros.core.freetop import free_rotation, free_top, state_at_ns
from rbt_ros.core.splitting import splitting_step, splitting_steps
rng, digest = np.random.default_rng(5), hashlib.sha256()
for i in range(12):
    g = np.round(rng.normal(size=(3, 3)), 3)
    I = g @ g.T + 0.1 * np.eye(3)
    q0, w0, t = rng.normal(size=4), rng.normal(size=3), 10 ** rng.uniform(-2, 6, 3)
    state = free_rotation(I if i % 2 else np.diag(I), q0, w0, t)
    digest.update(state[0].tobytes() + state[1].tobytes())
q, w = free_rotation((1.0, 2.0, 2.25), (1.0, 2.0, 3.0, 4.0), (0.75, 0.3, 1.0), np.array([0.0, 1.0, 100.0, -1e6]))
digest.update(q.tobytes() + w.tobytes())
q, w = (0.5, 0.5, -0.5, 0.5), (3.0, -5.0, -30.0)
for _ in range(200):
    q, w = splitting_step((0.036, 0.034, 0.0073), q, w, 1e-3)
digest.update(np.array(q + w).tobytes())
full = (2.0, 3.0, 4.0, 0.3, -0.5, 0.7)
q, w = splitting_steps(full, q, w, 0.01, 50)
digest.update(np.array(q + w).tobytes())
q, w = state_at_ns(free_top(full, q, w), 2**53 + 1)
digest.update(np.array(q + w).tobytes())
print(digest.hexdigest())
"""


def test_compiled_plain_and_generic_cpu_give_the_same_bits():
    def run(**environment):
        root = str(Path(freetop.__file__).parents[2])
        env = {**os.environ, "PYTHONPATH": root, "NUMBA_DISABLE_JIT": "0", **environment}
        done = subprocess.run(
            [sys.executable, "-c", DIGEST], env=env, capture_output=True, text=True, timeout=170, check=False
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    compiled = run()
    assert run(NUMBA_DISABLE_JIT="1") == compiled
    assert run(NUMBA_CPU_NAME="generic") == compiled
