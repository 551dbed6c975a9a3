"""Numbers with units."""

import math

import pytest

from rbt_ros.model.units import nanoseconds, quantity


@pytest.mark.parametrize(
    ("value", "dimension", "si"),
    [
        (3, "mass", 3.0),
        ("3", "mass", 3.0),
        ("30 deg", "angle", math.radians(30)),
        ("200 rpm", "angular velocity", 200 * math.tau / 60),
        ("1.6 mm", "length", 1.6e-3),
        ("-1e-3 N", "force", -1e-3),
        (".5 kg", "mass", 0.5),
        ("12 g mm2", "inertia", 12e-9),
    ],
)
def test_quantity_in_si(value, dimension, si):
    assert quantity(value, dimension) == pytest.approx(si, rel=1e-15)


@pytest.mark.parametrize(
    ("value", "ns"),
    [
        ("1 ms", 10**6),
        (0.001, 10**6),
        ("0.1 s", 10**8),
        (1e-3, 10**6),
        ("2.5 us", 2500),
        ("1 h", 3600 * 10**9),
        (0.3, 3 * 10**8),
    ],
)
def test_times_are_whole_nanoseconds_exactly(value, ns):
    assert nanoseconds(value) == ns


@pytest.mark.parametrize(
    ("value", "dimension", "message"),
    [
        ("1 kg", "time", r"'1 kg' has the unit 'kg', which is no time; .*: s, ms, us, ns, min, h"),
        ("fast", "time", "'fast' is not a number with a unit"),
        (True, "mass", "True is not a number"),
        (10**400, "mass", "10000000000000000000 is too large a number"),
        ("1e400 kg", "mass", "1e400 kg is too large a number"),
        (float("nan"), "mass", "nan is not finite"),
        ([1], "mass", r"\[1\] is not a number"),
        ("1 m m", "length", "'1 m m' has the unit 'm m'"),
    ],
)
def test_what_is_no_quantity_says_why(value, dimension, message):
    with pytest.raises(ValueError, match=message):
        quantity(value, dimension)


def test_times_beyond_64_bits_of_nanoseconds_are_refused():
    assert nanoseconds("9e9 s") == 9 * 10**18
    with pytest.raises(ValueError, match="1e300 s is beyond 292 years, the longest time that counts in 64 bits"):
        nanoseconds("1e300 s")


def test_parts_of_a_nanosecond_are_refused():
    with pytest.raises(ValueError, match="0.3 ns is no whole number of nanoseconds"):
        nanoseconds("0.3 ns")
