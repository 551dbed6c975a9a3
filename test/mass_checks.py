"""How mass properties are compared."""

import math

import numpy as np
import pytest

EPS = np.finfo(float).eps


def assert_alike(a, b, rtol=4 * EPS):
    """Mass, CoM and tensor agree, each beside its scale."""
    assert a.mass == pytest.approx(b.mass, rel=rtol)
    size = math.sqrt(np.trace(b.inertia) / b.mass) + np.abs(b.com).max()
    np.testing.assert_allclose(a.com, b.com, rtol=0, atol=rtol * size)
    np.testing.assert_allclose(a.inertia, b.inertia, rtol=0, atol=rtol * np.abs(b.inertia).max())
