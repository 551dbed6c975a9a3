"""Double-double arithmetic and elliptic functions against mpmath."""

import mpmath as mp
import numpy as np
import pytest

from rbt_ros.core import dd
from rbt_ros.core.elliptic import LEVELS, carlson_rf, carlson_rj, landen_chain, sn_cn_dn

ULP = 2.0**-106


@pytest.fixture(autouse=True)
def many_digits():
    with mp.workdps(70):
        yield


def exact(a):
    return mp.mpf(a[0]) + mp.mpf(a[1])


def nearest(x):
    hi = float(x)
    return (hi, float(mp.mpf(x) - mp.mpf(hi)))


def relative(a, reference):
    return float(abs(exact(a) / reference - 1))


def numbers(n, low=-3, high=3, seed=0):
    """n positive double-doubles over 10^low .. 10^high, all 106 bits in use."""
    rng = np.random.default_rng(seed)
    return [nearest(mp.mpf(10) ** rng.uniform(low, high) * (1 + mp.mpf(rng.uniform()) * 1e-17)) for _ in range(n)]


def test_sums_and_products_of_doubles_are_exact():
    rng = np.random.default_rng(1)
    for a, b in rng.normal(size=(200, 2)) * 10.0 ** rng.integers(-20, 20, size=(200, 2)):
        assert exact(dd.two_sum(a, b)) == mp.mpf(a) + mp.mpf(b)
        assert exact(dd.two_prod(a, b)) == mp.mpf(a) * mp.mpf(b)


def test_arithmetic():
    """Measured: 1.6 ulp of 2^-106 at most."""
    for a, b in zip(numbers(200), numbers(200, seed=1), strict=True):
        x, y = exact(a), exact(b)
        assert relative(dd.add(a, b), x + y) <= 4 * ULP
        assert relative(dd.mul(a, b), x * y) <= 4 * ULP
        assert relative(dd.div(a, b), x / y) <= 4 * ULP
        assert relative(dd.sqrt(a), mp.sqrt(x)) <= 4 * ULP
        assert abs(exact(dd.sub(a, b)) - (x - y)) <= 4 * ULP * max(x, y)


def test_elementary_functions():
    """Measured: 1 ulp of sine and cosine, 3 of the angle; e^a: ulp (1 + |a|)."""
    for a in numbers(200) + numbers(20, 6, 9):
        x = exact(a)
        c, s = dd.cos_sin(dd.neg(a))
        assert abs(exact(c) - mp.cos(x)) <= 4 * ULP * (1 + x)
        assert abs(exact(s) + mp.sin(x)) <= 4 * ULP * (1 + x)
        assert relative(dd.atan_ratio(a), mp.atan(mp.sqrt(x)) / mp.sqrt(x)) <= 8 * ULP
        assert relative(dd.atan2(a, dd.ONE), mp.atan(x)) <= 8 * ULP
        assert relative(dd.atan2(dd.neg(dd.ONE), a), -mp.atan(1 / x)) <= 8 * ULP
        if x < 600:
            assert relative(dd.exp(dd.neg(a)), mp.exp(-x)) <= 4 * ULP * (1 + x)


def test_carlson_integrals():
    """Arguments over 15 decades, one of them zero in a fifth of the cases. Measured: 4 ulp."""
    x, y, z = numbers(100, -12, 3), numbers(100, -12, 3, 1), numbers(100, -12, 3, 2)
    for i, more in enumerate(numbers(100, -12, 8, 3)):
        a = dd.ZERO if i % 5 == 0 else x[i]
        b, c = y[i], z[i]
        p = nearest(max(exact(a), exact(b), exact(c)) + exact(more))
        assert relative(carlson_rf(a, b, c), mp.elliprf(exact(a), exact(b), exact(c))) <= 16 * ULP
        assert relative(carlson_rj(a, b, c, p), mp.elliprj(exact(a), exact(b), exact(c), exact(p))) <= 16 * ULP


@pytest.mark.parametrize("decades", [0.01, 2, 30, 200])
def test_jacobi_functions(decades):
    """1 - k² down to 10^-decades, 0 < u < 0.99 K, relative precision. Measured: 21 ulp (1 + K); K 25 ulp."""
    rng = np.random.default_rng(3)
    with mp.workdps(int(60 + decades)):
        for _ in range(25):
            mc = nearest(mp.mpf(10) ** -rng.uniform(0, decades))
            exact_m = 1 - exact(mc)
            chain = np.full((LEVELS, 4), np.nan)  # whatever it held before does not matter
            K = landen_chain(nearest(exact_m), mc, chain)
            assert relative(K, mp.ellipk(exact_m)) <= 100 * ULP
            u = nearest(mp.ellipk(exact_m) * rng.uniform(0, 0.99))
            for value, name in zip(sn_cn_dn(u, chain, K), ("sn", "cn", "dn"), strict=True):
                assert relative(value, mp.ellipfun(name, exact(u), m=exact_m)) <= 80 * (1 + exact(K)) * ULP
