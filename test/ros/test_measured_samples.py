"""What is made of samples from hardware before they act: clocks, ages, jumps, rates."""

import math

import numpy as np
import pytest

from rbt_ros.ros.measured_samples import SAME_CLOCK_NS, STAYS, WINDOW, ClockOffset, Filter, Limits

MS = 1_000_000
DELAY = 5 * MS


def test_the_offset_of_another_clock_is_found_to_the_least_delay():
    """Delays of 5 to 9 ms: what is above the least one is age, the least itself cannot be told from the offset."""
    rng, offset, filter = np.random.default_rng(1), 1_700_000_000 * 10**9, Filter(Limits())
    ages = []
    for k in range(400):
        delay = DELAY + int(rng.integers(0, 4 * MS))
        judged = filter.judge(k * 10 * MS + offset, k * 10 * MS + delay, (0.0,))
        ages.append((judged.age_ns, delay))
    least = min(delay for _, delay in ages)
    assert filter.clock.offset_ns == least - offset
    assert filter.clock.foreign
    assert ages[-1][0] == ages[-1][1] - least


def test_the_least_delay_is_that_of_the_last_samples_only():
    """A delay that rises, falls and jumps: at each sample the least of the window, as found by looking at all."""
    rng, clock, differences = np.random.default_rng(2), ClockOffset(), []
    for k in range(4 * WINDOW):
        differences.append(10**12 + int(rng.integers(0, 9 * MS)) + (k // 700) * 3 * MS - (k % 700) * 20_000)
        clock.add(k, k + differences[-1])
        assert clock.offset_ns == min(differences[-WINDOW:])
        assert clock.ahead_ns(k, k + 10**12) == clock.offset_ns - 10**12
    clock.forget()
    assert clock.offset_ns == 0 == clock.ahead_ns(5, 9)


def test_stamps_of_our_clock_have_no_offset_and_their_delay_is_their_age():
    filter = Filter(Limits())
    judged = [filter.judge(k * MS, k * MS + DELAY, (0.0,)) for k in range(1, 50)]
    assert {j.age_ns for j in judged} == {DELAY} and not filter.clock.foreign


def test_a_sample_without_a_stamp_is_of_now():
    filter = Filter(Limits())
    assert filter.judge(0, 77 * MS, (1.0,)).age_ns == 0


def test_an_old_sample_is_dropped_and_told():
    filter = Filter(Limits(age_ns=20 * MS))
    assert filter.judge(1 * MS, 2 * MS, (0.0,)) is not None
    assert filter.judge(2 * MS, 30 * MS, (0.0,)) is None
    assert (filter.counts.old, filter.counts.last_fault) == (1, "a sample is 0.028 s old; the limit is 0.02 s.")


def test_a_sample_that_is_overtaken_is_dropped():
    filter = Filter(Limits())
    filter.judge(5 * MS, 6 * MS, (0.0,))
    assert filter.judge(4 * MS, 7 * MS, (0.0,)) is None
    assert filter.counts.unordered == 1


def test_numbers_that_are_none_are_refused():
    filter = Filter(Limits())
    assert filter.judge(1 * MS, 1 * MS, (math.nan,)) is None
    assert filter.judge(2 * MS, 2 * MS, (0.0,), (math.inf,)) is None
    assert filter.counts.refused == 2


def test_a_jump_is_an_outlier_and_one_that_stays_is_where_the_hardware_is():
    filter = Filter(Limits(rate=10.0))
    filter.judge(1 * MS, 1 * MS, (0.0,))
    assert filter.judge(2 * MS, 2 * MS, (3.0,)) is None
    assert filter.counts.last_fault == "a jump at 3e+03 per s; the limit is 10."
    assert filter.judge(3 * MS, 3 * MS, (0.01,)) is not None, "what comes after it is judged by what came before"
    taken = [filter.judge((4 + k) * MS, (4 + k) * MS, (3.0,)) for k in range(STAYS)]
    assert [j is not None for j in taken] == [False] * (STAYS - 1) + [True]
    assert taken[-1].rates == (0.0,), "no rate comes of the jump"
    assert (filter.counts.outliers, filter.counts.taken) == (STAYS, 3)


def test_a_rate_made_of_positions_follows_a_low_pass():
    """Of a ramp that begins at rest: slope (1 - exp(-2 π f t)), exact at the samples; one that is told is taken."""
    filter, cutoff, slope = Filter(Limits(cutoff=10.0)), 10.0, 0.7
    for k in range(1, 40):
        judged = filter.judge(k * MS, k * MS, (slope * (k - 1) * 1e-3,))
        wanted = slope * -math.expm1(-2 * math.pi * cutoff * (k - 1) * 1e-3)
        assert judged.rates[0] == pytest.approx(wanted, rel=1e-12)
    assert filter.judge(40 * MS, 40 * MS, (1.0,), (4.0,)).rates == (4.0,)


def test_a_clock_half_a_second_off_is_taken_for_ours():
    """What is documented: only clocks that differ by more than a second are told apart."""
    filter = Filter(Limits(age_ns=2 * SAME_CLOCK_NS))
    assert filter.judge(1, SAME_CLOCK_NS // 2, (0.0,)).age_ns == SAME_CLOCK_NS // 2 - 1


def test_a_sender_whose_clock_is_put_back_is_believed_after_a_while():
    """As one on /clock that begins again, or on a clock that somebody set; a straggler alone is not."""
    filter, back = Filter(Limits()), 3600 * 10**9
    for k in range(1, 100):
        filter.judge(k * MS + 2 * back, k * MS, (0.0,))
    assert filter.judge(99 * MS, 100 * MS, (0.0,)) is None, "a straggler"
    assert filter.judge(101 * MS + 2 * back, 101 * MS, (0.0,)) is not None
    taken = [filter.judge(k * MS + back, k * MS, (0.5,)) for k in range(102, 102 + STAYS)]
    assert [j is not None for j in taken] == [False] * (STAYS - 1) + [True]
    assert (taken[-1].age_ns, taken[-1].rates) == (0, (0.0,)), "neither its age nor a rate spans the two clocks"
    assert filter.clock.offset_ns == -back


def test_a_stamp_of_another_clock_alone_is_not_believed():
    """Among stamps of one clock one of another, with numbers or without: refused, and those after it are taken."""
    filter, hour = Filter(Limits()), 3600 * 10**9
    for k in range(1, 10):
        filter.judge(k * MS, k * MS, (0.0,))
    for k, value in ((10, 0.0), (12, math.nan)):
        assert filter.judge(k * MS + hour, k * MS, (value,)) is None
        assert filter.judge((k + 1) * MS, (k + 1) * MS, (0.0,)).age_ns == 0
    assert (filter.counts.unordered, filter.counts.refused, filter.clock.offset_ns) == (1, 1, 0)
    assert filter.judge(14 * MS + hour, 14 * MS, (0.0,)) is None
    assert filter.counts.last_fault == "a sample is stamped 3600.000 s ahead of those before: of another clock."


def test_a_sender_whose_clock_is_put_ahead_is_believed_after_a_while():
    filter, hour = Filter(Limits()), 3600 * 10**9
    for k in range(1, 10):
        filter.judge(k * MS, k * MS, (0.0,))
    taken = [filter.judge(k * MS + hour, k * MS, (0.5,)) for k in range(10, 10 + STAYS)]
    assert [j is not None for j in taken] == [False] * (STAYS - 1) + [True]
    assert (taken[-1].age_ns, taken[-1].rates, filter.clock.offset_ns) == (0, (0.0,), -hour)


def test_a_sample_ages_until_it_acts():
    judged = Filter(Limits()).judge(10 * MS, 12 * MS, (0.0,))
    assert judged.age_at(15 * MS) == 5 * MS
    assert judged.age_at(0) == 2 * MS, "/clock begins again: it is as old as it was"


def dropped(filter, differences, first=1, period=5 * MS):
    """Which of these samples are, by their number; differences: of our clock to the stamp [ns]."""
    stamps = [(first + k) * period for k in range(len(differences))]
    judged = [filter.judge(stamp, stamp + d, (0.0,)) for stamp, d in zip(stamps, differences, strict=True)]
    return [k for k, each in enumerate(judged) if each is None]


@pytest.mark.parametrize("offset", [0, -1_700_000_000 * 10**9])
@pytest.mark.parametrize("good", [0, 1, 40])
def test_one_stamp_from_ahead_does_not_hold_up_those_after_it(offset, good):
    """Half a second ahead among samples of 200 Hz: as many as it takes to believe, not all of half a second."""
    filter, usual = Filter(Limits()), DELAY + offset
    assert dropped(filter, [usual] * good) == []
    stamp = (good + 1) * 5 * MS
    filter.judge(stamp + 500 * MS, stamp + usual, (0.0,))
    assert dropped(filter, [usual] * 60, first=good + 2) == [*range(STAYS - 1)]


@pytest.mark.parametrize("lag_ns", [310 * MS, 400 * MS, 900 * MS])
def test_our_clock_that_was_behind_once_drops_a_few_samples_of_another_clock(lag_ns):
    """Steps that are late and caught up: the least difference of then is no delay of the way."""
    filter, usual = Filter(Limits(age_ns=300 * MS)), DELAY - 1_700_000_000 * 10**9
    differences = [usual] * 50 + [usual - lag_ns] * 10 + [usual] * 540
    assert dropped(filter, differences) == [60 + k for k in range(STAYS - 1)]
    assert filter.clock.offset_ns == usual


@pytest.mark.parametrize("offset", [0, -1_700_000_000 * 10**9])
def test_what_was_held_up_on_the_way_comes_at_once_and_stays_old(offset):
    """A second of samples in one burst: they agree in nothing; those that are not too old are taken."""
    filter, usual = Filter(Limits(age_ns=300 * MS)), DELAY + offset
    burst = [usual + (200 - k) * 5 * MS for k in range(200)]
    held = 200 - 300 // 5  # older than the limit; at it: taken, where the delay counts as none
    wanted = [40 + k for k in range(held + (offset == 0))]
    assert dropped(filter, [usual] * 40 + burst + [usual] * 40) == wanted


def test_what_is_old_by_our_own_clock_stays_old_however_long():
    filter = Filter(Limits(age_ns=300 * MS))
    assert dropped(filter, [DELAY] * 10 + [1500 * MS] * 50) == [*range(10, 60)]
