"""The comparison of formulations: its references against other hands, and what docs/formulations.md says of it."""

import csv
import json
from pathlib import Path

import numpy as np
import pytest
from five_body import states

from rbt_ros.errors import SolveError
from rbt_ros.studies import formulations
from rbt_ros.studies.formulation_systems import systems
from rbt_ros.studies.formulation_ways import WAYS, Bodies, Minimal, Problem
from rbt_ros.studies.formulations import difference, reference, run

KANE = json.loads((Path(__file__).parents[1] / "reference" / "formulations.json").read_text())
SYSTEMS = {system.name: system for system in systems()}


@pytest.mark.parametrize("name", ["S3", "S4"])
def test_references_of_the_folding_are_those_of_kanes_equations(name):
    """Another derivation, by other hands, under error control of 1e-13: within 2e-12 after 40 s (measured: 2e-13)."""
    found = reference(Problem(SYSTEMS[name]))
    kane = Bodies(np.array(KANE[name]["R"]), np.array(KANE[name]["x"]), found.v, found.w)
    assert difference(found, kane) < 2e-12


def test_reference_of_the_five_bodies_is_that_of_34_digits():
    """At 5 s, where round-off has grown by 1e3 and more: within 5e-11 (measured: 6e-12)."""
    found, exact = reference(Problem(SYSTEMS["S2"])), states("as_coded")[-1]
    assert np.abs(found.x - exact["body_com"]).max() < 5e-11


@pytest.mark.parametrize("formulation", WAYS)
def test_one_short_step_is_the_same_in_all_formulations(formulation):
    """The five bodies after 1 ms: truncation is nothing yet, so round-off, 1e-14 m and rad."""
    problem = Problem(SYSTEMS["S2"])
    engine, way = Minimal(problem, 1_000_000), WAYS[formulation](problem, 1_000_000)
    before = engine.bodies()
    for one in (engine, way):
        one.advance(1)
    assert difference(way.bodies(), engine.bodies()) < 1e-14 < 1e-6 < difference(before, engine.bodies())


@pytest.fixture(scope="module")
def rows():
    """Parts of the study: {(system, formulation, step in µs): Row}."""
    found = {}
    for name, seconds, steps in (("S1", 2.0, (8000,)), ("S2", 1.0, (25_000, 12_500)), ("S4", 10.0, (40_000, 20_000))):
        problem = Problem(SYSTEMS[name]._replace(duration=seconds))
        end = reference(problem)
        for formulation in WAYS:
            for step in steps:
                found[name, formulation, step] = run(problem, formulation, step, end).row
    return found


def test_one_free_body_is_the_same_in_all(rows):
    """No hinge, so no choice of coordinates: errors are equal to a thousandth, of attitude, energy and momentum."""
    first, *others = (rows["S1", formulation, 8000] for formulation in WAYS)
    for other in others:
        assert other[3:6] == pytest.approx(first[3:6], rel=1e-3)
    assert first.error > 1e-9 and all(row.open == 0.0 for row in (first, *others))


@pytest.mark.parametrize(("name", "step"), [("S2", 12_500), ("S4", 20_000)])
def test_minimal_and_wittenburg_are_one_integration(rows, name, step):
    """The same coordinates, so the same error of every step, to 1e-3; hinges cannot open."""
    minimal, other = rows[name, "minimal", step], rows[name, "wittenburg", step]
    assert other.error == pytest.approx(minimal.error, rel=1e-3)
    assert max(minimal.open, other.open) < 1e-14


@pytest.mark.parametrize(("name", "step"), [("S2", 12_500), ("S4", 20_000)])
def test_hinges_of_maximal_coordinates_stay_shut_when_put_back(rows, name, step):
    """To 1e-12, as all constraints do; else they open by the error of the steps, and the error is larger for it."""
    put, drifting = rows[name, "maximal", step], rows[name, "drifting", step]
    assert put.open < 1e-12 and drifting.open > 100 * put.open
    assert drifting.error > put.error
    assert drifting.open < 10 * drifting.error


def test_folding_keeps_its_angular_momentum_better_in_maximal_coordinates(rows):
    """Where L = 0 steers the attitude: a hundredth of the error of minimal coordinates with the same steps."""
    for step in (40_000, 20_000):
        minimal, put = rows["S4", "minimal", step], rows["S4", "maximal", step]
        assert put.error < 0.02 * minimal.error and put.momentum < 0.02 * minimal.momentum


@pytest.mark.parametrize("formulation", WAYS)
def test_the_order_holds_in_all_formulations(rows, formulation):
    """Half the step of DOP853 leaves less than 2^-7.5 of the error: S4, where steps are fine enough for it."""
    coarse, fine = (rows["S4", formulation, step].error for step in (40_000, 20_000))
    assert 7.5 < np.log2(coarse / fine) < 9.5


def test_a_run_that_cannot_go_on_says_where():
    """Steps of half a second are unstable for the controllers of S4: dampers of 50/s."""
    problem = Problem(SYSTEMS["S4"])
    for way in WAYS.values():
        with pytest.raises(SolveError, match="S4: no motion beyond 0 s; a smaller step"):
            way(problem, 500_000_000).advance(8000)


def test_table_file_and_figure(tmp_path, capsys):
    fractions = []
    assert formulations.main(["--only", "S1", "--out", str(tmp_path)], fractions.append) == 0
    text = capsys.readouterr().out.splitlines()
    assert text[0].split() == ["system", "formulation", "step", "error", "energy", "|ΔL|", "open", "cost"]
    assert [line.split()[3] for line in text[1:5]] == list(WAYS) and text[1].split()[-1] == "1.0"
    with open(tmp_path / "formulations.csv", newline="", encoding="utf-8") as file:
        head, *table = list(csv.reader(file))
    assert head[:4] == ["system", "formulation", "step [s]", "error [m or rad]"]
    assert len(table) == len(WAYS) * len(SYSTEMS["S1"].steps_us) == len(fractions)
    assert fractions == sorted(fractions) and fractions[-1] == 1.0
    assert (tmp_path / "formulations.png").stat().st_size > 10_000


def test_unknown_systems_are_refused(capsys):
    with pytest.raises(SystemExit):
        formulations.main(["--only", "S9"])
    assert "invalid choice: 'S9'" in capsys.readouterr().err
