"""NASTRAN decks: pyNastran's totals, closed forms, all formats, and every bad deck refused with file and line."""

import json
import math

import nastran_oracle
import numpy as np
import pytest
from mass_checks import EPS, assert_alike

import rbt_ros as rbt
from rbt_ros.errors import ModelError

IN_SI = {"length_unit": "m", "mass_unit": "kg"}


def deck(tmp_path, text, **given):
    """The mass properties of a deck in m and kg."""
    file = tmp_path / "deck.bdf"
    file.write_text(text, encoding="ascii")
    return rbt.mass.nastran(file, **(IN_SI | given))


def assert_totals(props, totals, rtol):
    scale = np.abs(totals["inertia"]).max()
    assert props.mass == pytest.approx(totals["mass"], rel=rtol)
    np.testing.assert_allclose(props.com, totals["com"], rtol=rtol, atol=rtol * math.sqrt(scale / totals["mass"]))
    np.testing.assert_allclose(props.inertia, totals["inertia"], rtol=0, atol=rtol * scale)


@pytest.mark.parametrize("name", ["satellite", "cubesat"])
def test_lumped_totals_are_those_of_pynastran(name):
    """All cards and formats; round-off of a dozen terms (measured 3e-15), far below the 1e-10 wanted."""
    made = rbt.mass.nastran(nastran_oracle.DECKS / f"{name}.bdf", **IN_SI, lumped=True)
    assert_totals(made, json.loads(nastran_oracle.TOTALS.read_text())[name], rtol=1e-13)


@pytest.mark.filterwarnings("ignore:CONM2")  # about inertia in CID, which the decks do not have
def test_recorded_totals_are_what_pynastran_says():
    pytest.importorskip("pyNastran", reason="this system lacks pyNastran, which has no release for Python 3.13")
    recorded = json.loads(nastran_oracle.TOTALS.read_text())
    for name, totals in nastran_oracle.totals().items():
        assert_totals(rbt.MassProperties(**totals), recorded[name], rtol=1e-14)


def test_units_scale_mass_and_lengths():
    file = nastran_oracle.DECKS / "satellite.bdf"
    plain, made = rbt.mass.nastran(file, **IN_SI), rbt.mass.nastran(file, length_unit="mm", mass_unit="t")
    assert_alike(made, rbt.MassProperties(plain.mass * 1e3, plain.com * 1e-3, plain.inertia * 1e-3))


CUBE = """\
GRID,1,,0.,0.,0.
GRID,2,,1.,0.,0.
GRID,3,,1.,2.,0.
GRID,4,,0.,2.,0.
GRID,5,,0.,0.,3.
GRID,6,,1.,0.,3.
GRID,7,,1.,2.,3.
GRID,8,,0.,2.,3.
PSOLID,1,1
PSHELL,2,1,.25
MAT1,1,,,.3,5.
"""
HEXA = "CHEXA,1,1,1,2,3,4,5,6\n,7,8\n"
# the same block from prisms, and from tetrahedra about a diagonal
PRISMS = "CPENTA,1,1,1,2,3,5,6,7\nCPENTA,2,1,1,3,4,5,7,8\n"
TETRAS = "".join(
    f"CTETRA,{i},1,1,{a},{b},7\n" for i, (a, b) in enumerate([(2, 3), (3, 4), (4, 8), (8, 5), (5, 6), (6, 2)], start=1)
)
BLOCK = rbt.mass.box((1, 2, 3), density=5.0).placed(at=(0.5, 1, 1.5))


@pytest.mark.parametrize("elements", [HEXA, PRISMS, TETRAS], ids=["CHEXA", "CPENTA", "CTETRA"])
def test_solid_elements_have_the_inertia_of_their_volume(elements, tmp_path):
    assert_alike(deck(tmp_path, CUBE + elements), BLOCK, 16 * EPS)


def test_a_crooked_hexahedron_is_the_polyhedron_it_spans(tmp_path):
    """Flat sides, no two parallel: the closed mesh of its corners, by another integral."""
    shrink = CUBE.replace("GRID,7,,1.,2.,3.", "GRID,7,,.5,1.,3.").replace("GRID,6,,1.,0.,3.", "GRID,6,,.5,0.,3.")
    shrink = shrink.replace("GRID,8,,0.,2.,3.", "GRID,8,,0.,1.,3.")  # a truncated pyramid
    x = [(0, 0, 0), (1, 0, 0), (1, 2, 0), (0, 2, 0), (0, 0, 3), (0.5, 0, 3), (0.5, 1, 3), (0, 1, 3)]
    sides = [(0, 3, 2, 1), (4, 5, 6, 7), (0, 1, 5, 4), (1, 2, 6, 5), (2, 3, 7, 6), (3, 0, 4, 7)]
    assert_alike(deck(tmp_path, shrink + HEXA), rbt.mass.solid(x, sides, density=5.0), 16 * EPS)


@pytest.mark.parametrize(
    ("elements", "thickness", "z"),
    [
        ("CQUAD4,1,2,1,2,3,4\n", 0.25, 0),
        ("CTRIA3,1,2,1,2,3\nCTRIA3,2,2,1,3,4\n", 0.25, 0),
        ("CQUAD4,1,2,1,2,3,4,,.5\n", 0.25, 0.5),  # ZOFFS along the normal
        ("CQUAD4,1,2,4,3,2,1,,.5\n", 0.25, -0.5),
        ("CQUAD4,1,2,1,2,3,4\n,,,.1,.2,.3,.4\n", 0.25, 0),  # T1 to T4: their mean
        ("CQUAD4,1,2,1,2,3,4\n,,1,2.,2.,2.\n", 0.25 * 7 / 4, 0),  # relative to T; blank: 1
        ("CTRIA3,1,2,1,2,3,,.5\n,,,1.,1.,1.\nCTRIA3,2,2,1,3,4,,.5\n,,,1.,1.,1.\n", 1.0, 0.5),
    ],
)
def test_plates_are_blocks(elements, thickness, z, tmp_path):
    block = rbt.mass.box((1, 2, thickness), density=5.0).placed(at=(0.5, 1, z))
    assert_alike(deck(tmp_path, CUBE + elements), block, 8 * EPS)


def test_mass_that_is_not_structure_lies_in_the_middle_surface(tmp_path):
    text = CUBE.replace("PSHELL,2,1,.25", "PSHELL,2,1,.25,,,,,4.")
    block = rbt.mass.box((1, 2, 0.25), density=5.0) + rbt.mass.plate(1, 2, mass=8.0)
    assert_alike(deck(tmp_path, text + "CQUAD4,1,2,1,2,3,4\n"), block.placed(at=(0.5, 1, 0)), 8 * EPS)
    alone = text.replace("PSHELL,2,1,", "PSHELL,2,,")
    assert_alike(deck(tmp_path, alone + "CQUAD4,1,2,1,2,3,4\n"), rbt.mass.plate(1, 2, mass=8.0).placed(at=(0.5, 1, 0)))


def test_point_masses_in_any_axes(tmp_path):
    """I21 is + ∫ x y dm, in the axes of CID; those of a cylindrical system are r, θ, z where the grid point is."""
    systems = "CORD2R,1,,1.,2.,3.,1.,2.,4.\n,1.,3.,3.\nCORD2C,2,,0.,0.,0.,0.,0.,1.\n,1.,0.,0.\n"
    systems += "CORD2S,3,,0.,0.,0.,0.,0.,1.\n,1.,0.,0.\nGRID,9,2,5.,90.,0.\n"
    inertia = ",2.,.1,3.,.2,.3,4.\n"
    plain = rbt.mass.given(2.0, [[2, -0.1, -0.2], [-0.1, 3, -0.3], [-0.2, -0.3, 4]], com=(0.5, 0.25, 0.125))
    quarter = [[0, -1, 0], [1, 0, 0], [0, 0, 1]]  # x of 1, r of 2 at the grid point: world y
    polar = [[0, 0, -1], [1, 0, 0], [0, -1, 0]]  # r = y, θ = -z, φ = -x there
    for system, expected in (
        (0, plain.placed(at=(0, 5, 0))),
        (-1, plain),
        (1, plain.placed(at=(0, 5, 0), rotation=quarter)),
        (2, plain.placed(at=(0, 5, 0), rotation=quarter)),
        (3, plain.placed(at=(0, 5, 0), rotation=polar)),
    ):
        made = deck(tmp_path, f"{systems}CONM2,1,9,{system},2.,.5,.25,.125\n{inertia}")
        assert_alike(made, expected, 8 * EPS)


@pytest.mark.parametrize(
    "text",
    [
        "GRID,1,,1.5,-2.5-1,+.5E1\nCONM2,1,1,,2.",
        "grid           1             1.5  -2.5-1      5.\nconm2          1       1              2.",
        "GRID*                  1                             1.5         -2.5D-1\n*                     5.\n"
        "CONM2,1,1,,2.",
        "GRID*,1,,1.5,-.25,+A\n*A,5.0\nCONM2,1,1,,2.",
        "GRID,1,,1.5,-.25,5.,,,,+G\n+G,\nCONM2,1,1,,2. $ two kilograms",
        "SOL 101\nCEND\nBEGIN BULK\nGRID,1,,1.5,-.25,5.\nCONM2,1,1,,2.\nENDDATA\nnot, a card",
        "GRDSET,,7\nCORD2R,7,,1.,0.,0.,1.,0.,1.\n,2.,0.,0.\nGRID,1,,.5,-.25,5.\nCONM2,1,1,,2.",
        "PARAM,WTMASS,.5\nGRID,1,,1.5,-.25,5.\nGRID,1,,1.5,-.25,5.\nCONM2,1,1,,4.\nSPC1,1,123,1",
        "GRID\t1\t\t1.5\t-.25\t5.\nCONM2,1,1,,2.",
    ],
    ids=["free", "small", "large", "large free", "mark", "whole deck", "GRDSET", "WTMASS", "tabs"],
)
def test_all_formats_say_the_same(text, tmp_path):
    made = deck(tmp_path, text + "\n")
    assert made.mass == 2.0 and made.com.tolist() == [1.5, -0.25, 5.0] and not made.inertia.any()


def test_lumping_leaves_out_what_elements_have_of_their_own(tmp_path):
    text = CUBE + HEXA + "CONM2,2,1,,30.\n"
    whole, lumped = deck(tmp_path, text), deck(tmp_path, text, lumped=True)
    assert whole.inertia - lumped.inertia == pytest.approx(BLOCK.inertia, rel=1e-14)


def test_what_has_no_density_or_nodes_in_the_middle_is_told(tmp_path):
    weightless = CUBE.replace(".3,5.", ".3") + HEXA + "CONM2,2,1,,1.\n"
    with pytest.warns(
        UserWarning, match=r"deck.bdf:11: MAT1 1: density RHO is zero .* like CPENTA 3 have no mass"
    ) as told:
        assert deck(tmp_path, weightless + "CPENTA,3,1,1,2,3,5,6,7\n").mass == 1.0
    assert len(told) == 1
    with pytest.warns(UserWarning, match="deck.bdf:12: CTETRA 1: of its nodes only the 4 corners are used"):
        deck(tmp_path, CUBE + "CTETRA,1,1,1,2,3,7,9,10\n,11,12,13,14\n")


def test_files_are_looked_for_beside_the_one_that_names_them_and_beside_the_deck(tmp_path):
    (tmp_path / "parts" / "more").mkdir(parents=True)
    (tmp_path / "parts" / "block.inc").write_text(
        "INCLUDE more/hexa.inc\nINCLUDE 'parts/point.inc'\n", encoding="ascii"
    )
    (tmp_path / "parts" / "more" / "hexa.inc").write_text(CUBE + HEXA, encoding="ascii")
    (tmp_path / "parts" / "point.inc").write_text("CONM2,5,1,,10.\n", encoding="ascii")
    dmap = "INCLUDE 'dmap that is not ours'\nSOL 101\nCEND\nBEGIN BULK\n"
    made = deck(tmp_path, dmap + "INCLUDE parts/block.inc\nENDDATA\nINCLUDE nothing\n")
    assert_alike(made, BLOCK + rbt.mass.point(10.0), 16 * EPS)


@pytest.mark.parametrize(
    "card",
    [
        "MAT9,7,,,,,,,,,,,,,,,1",  # more fields than a line has
        "FREQ1,1,1.,2.,3,,,,,KF\n+G,4.",  # a mark that is not the one before
        "PCOMP,9,,,,,,,,\n,1,.1,0.",
        "CAERO1,1,1",
        "RBE2,5,1,123456,2,3",
    ],
)
def test_cards_of_no_mass_are_passed_over_whatever_they_say(card, tmp_path):
    assert_alike(deck(tmp_path, CUBE + HEXA + card + "\n"), BLOCK, 16 * EPS)


def test_marks_match_but_for_their_first_character_and_case(tmp_path):
    """As in NASTRAN: KHex before +HEX."""
    made = deck(
        tmp_path,
        CUBE + "CHEXA          1       1       1       2       3       4       5       6KHex\n"
        "+HEX           7       8\n",
    )
    assert_alike(made, BLOCK, 16 * EPS)


def changed(old, new, elements=HEXA):
    """The block's deck with a piece replaced; the piece must be there."""
    text = CUBE + elements
    assert old in text
    return text.replace(old, new, 1)


QUAD = "CQUAD4,1,2,1,2,3,4\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            changed("PSOLID,1,1", "PSOLID,1,7"),
            r"deck.bdf:12: CHEXA 1: its PSOLID 1 has no material: there is no MAT1 7",
        ),
        (changed("PSOLID,1,1", "PSOLID,1"), r"deck.bdf:12: CHEXA 1: its PSOLID 1 has no material: none is named"),
        (changed("PSHELL,2,1,", "PSHELL,2,,", QUAD), r"CQUAD4 1: its PSHELL 2 has no material: none is named"),
        (changed("PSOLID,1,1\n", ""), r"deck.bdf:11: CHEXA 1: it names property 1, and there is no PSOLID 1"),
        (changed("5.\nCHEXA", "-5.\nCHEXA"), r"deck.bdf:11: MAT1 1: density RHO -5 must be positive"),
        (changed("2,1,.25", "2,1,-.25", QUAD), r"CQUAD4 1: thickness -0.25 must be positive; give T in PSHELL 2"),
        (changed("2,1,.25", "2,1,", QUAD), r"CQUAD4 1: thickness 0 must be positive"),
        (changed("2,1,.25", "2,1,.25,,,,,-1.", QUAD), r"deck.bdf:10: PSHELL 2: NSM -1 is negative"),
        (changed("CHEXA,1", "CBAR,2,3,1,2\nCHEXA,1"), r"deck.bdf:12: CBAR 2: a CBAR is not read, .* \(--ignore CBAR\)"),
        (changed("1,2,3,4,5,6", "1,2,3,4,5,66"), r"CHEXA 1: it names grid point 66, and there is no GRID 66"),
        (changed("1,2,3,4,5,6\n,7,8", "5,6,7,8,1,2\n,3,4"), r"CHEXA 1: it is flat or turned inside out"),
        (changed("5,6\n,7,8", "1,2\n,3,4"), r"CHEXA 1: it is flat or turned inside out"),
        (changed("1,2,3,4", "1,2,2,1", QUAD), r"CQUAD4 1: it has no area"),
        (changed("GRID,3,,1.,2.", "GRID,3,,1.5,3.", "CQUAD4,1,2,1,2,4,3\n"), r"CQUAD4 1: it crosses itself"),
        ("PARAM,WTMASS,0.\n" + CUBE + HEXA, r"deck.bdf:1: PARAM WTMASS: 0 must be positive; it multiplies all masses"),
        (
            changed("GRID,2,", "CORD1R,4,1,2,3,5,1,2,3\nCORD1R,5,1,2,4\nGRID,2,"),
            r"deck.bdf:3: CORD1R 5: system 5 is there already, in line 2",
        ),
        (changed("GRID,1,", "GRID,1,4"), r"GRID 1: it names coordinate system 4, and there is no CORD1x or CORD2x 4"),
        (changed("GRID,2,", "CORD1R,4,1,2,3\nGRID,2,4"), r"GRID 2: coordinate system 4 hangs on itself"),
        (
            changed("GRID,2,", "CORD2R,4,,0.,0.,0.,0.,0.,1.\n,0.,0.,2.\nGRID,2,4"),
            r"CORD2R 4: its three points lie on one",
        ),
        (changed("GRID,2,", "GRID,1,"), r"deck.bdf:2: GRID 1: the number is taken already, by GRID in line 1"),
        (
            changed("PSHELL,2,1,.25", "PCOMP,2", QUAD),
            r"CQUAD4 1: .* there is no PSHELL 2 \(laminates, PCOMP, are not read\)",
        ),
        (changed("MAT1", "MAT9"), r"PSOLID 1 has no material: there is no MAT1 1 \(others are not read\)"),
        (changed(HEXA, ""), r"deck.bdf: there is nothing with mass in it"),
        (changed("1.,2.,3.", "1.,2.,x"), r"GRID 7: X3 \(data field 5\) is 'x', and must be a number"),
        (changed("1.,2.,3.", "1.,2.,1.+999"), r"GRID 7: X3 \(data field 5\) is '1.\+999', which is too large"),
        (changed("CHEXA,1,1", "CHEXA,1,1.5"), r"CHEXA 1: PID \(data field 2\) is '1.5', and must be a whole number"),
        (changed("CHEXA,1,1", "CHEXA,1,1,1,2,3,4,5,6,7,8"), r"deck.bdf:12: 16 fields, and a line has 8 and a"),
        (changed("5,6\n,7,8", "5,6,+A\n+B,7,8"), r"deck.bdf:13: continuation '\+B' follows a line that ends in '\+A'"),
        (",1,2\n", r"deck.bdf:1: a continuation with no card before it"),
        ("SOL 101\nCEND\n" + CUBE + HEXA, r"deck.bdf: it has CEND and no BEGIN BULK"),
        ("BEGIN BULK\n" + CUBE + "BEGIN SUPER=1\n", r"deck.bdf:13: a second BEGIN: superelements are not read"),
        ("INCLUDE 'none.bdf'\n", r"deck.bdf:1: INCLUDE: there is no file .*none.bdf"),
        ("INCLUDE 'none.bdf\n", r"deck.bdf:1: INCLUDE 'none.bdf: its quote does not end"),
        ("INCLUDE deck.bdf\n", r"deck.bdf:1: INCLUDE 'deck.bdf' includes itself"),
        (CUBE + "CONM2,5,1,,-1.\n", r"deck.bdf:12: CONM2 5: mass -1 is negative"),
        (CUBE + "CONM2,5,1,,1.\n,1.,0.,1.,0.,0.,3.\n", r"deck.bdf:12: CONM2 5: .* break Ix \+ Iy >= Iz"),
    ],
)
def test_bad_decks_say_where_and_why(text, message, tmp_path):
    with pytest.raises(ModelError, match=message):
        deck(tmp_path, text)


def test_cards_may_be_left_out_knowingly(tmp_path):
    assert_alike(deck(tmp_path, CUBE + HEXA + "CBAR,2,3,1,2\n", ignore=["cbar"]), BLOCK, 16 * EPS)


@pytest.mark.parametrize(
    ("units", "message"),
    [
        (
            {"length_unit": None},
            r"deck.bdf: such a file does not say its unit of length, .* \(--unit mm\), one of m, mm",
        ),
        ({"length_unit": "inch"}, "deck.bdf: 'inch' is no unit of length; use one of m, mm, cm, km, in"),
        (
            {"mass_unit": None},
            r"deck.bdf: such a file does not say its unit of mass, .* \(--mass-unit t, which goes with mm and MPa\)",
        ),
        ({"mass_unit": "mm"}, "deck.bdf: 'mm' is no unit of mass; use one of kg, g, t, lb, slinch"),
    ],
)
def test_units_are_never_guessed(units, message, tmp_path):
    with pytest.raises(ModelError, match=message):
        deck(tmp_path, CUBE + HEXA, **units)


def test_a_deck_that_is_not_there():
    with pytest.raises(ModelError, match=r"there is no file nowhere.bdf; give the path of a NASTRAN"):
        rbt.mass.nastran("nowhere.bdf", **IN_SI)
