"""NASTRAN models -> mass properties: plates, solids and point masses. How a deck is read: bulk_data.py."""

import re
import warnings
from collections.abc import Iterable
from itertools import product
from pathlib import Path
from typing import NamedTuple

import numpy as np

from rbt_ros.errors import ModelError
from rbt_ros.kinds import in_words
from rbt_ros.model.build import checked_inertia
from rbt_ros.model.mass.bulk_data import BEGIN, Card, read_cards
from rbt_ros.model.mass.coordinates import SYSTEMS, Grid, local_axes
from rbt_ros.model.mass.mesh_file import file_factor, length_factor
from rbt_ros.model.mass.properties import MassProperties, Moments, combine, mass_properties, simplex_moments
from rbt_ros.model.mass.shells import area_vectors, crossed, plate_moments
from rbt_ros.paths import as_path

CORNERS = {"CTRIA3": 3, "CQUAD4": 4, "CTETRA": 4, "CPENTA": 6, "CHEXA": 8}
PLATES = ("CTRIA3", "CQUAD4")
MIDDLES = {"CTETRA": 10, "CPENTA": 15, "CHEXA": 20}  # nodes of those with one in the middle of each edge
READ = (*CORNERS, *SYSTEMS, "GRID", "GRDSET", "PSHELL", "PSOLID", "MAT1", "CONM2", "PARAM")
# cards that carry no mass, by the beginning of their names: properties and materials (what is made of them may),
# loads, supports, constraints, tables, solution control, aerodynamics, contact, optimisation, springs and dampers
MASSLESS = re.compile(
    r"(P|MAT|SPC|MPC|SUPORT|[ABCOQRSU]SET|OMIT|FORCE|MOMENT|LOAD|DLOAD|LSEQ|GRAV|ACCEL|RFORCE|TEMP|DAREA|DELAY|DPHASE|"
    r"RLOAD|TLOAD|DEFORM|TAB|RAND|EIG|FREQ|TSTEP|NLPARM|NLPCI|NLSTEP|TIC|RBE|RBAR|RROD|RSPLINE|RTRPLT|SPOINT|EPOINT|"
    r"CELAS|CDAMP|CBUSH|CVISC|CGAP|CFAST|AE|CAERO|SPLINE|MKAERO|FLUTTER|FLFACT|TRIM|GUST|DIVERG|SET[123]|BC|BSURF|"
    r"DV|DCON|DRESP|DESVAR|DOPTPRM|DEQATN|DLINK|DSCREEN|BAROR|BEAMOR|MDLPRM|ECHO).*"
)


class Plate(NamedTuple):
    """What a plate element is made of, in the deck's units."""

    thickness: float
    per_area: float  # mass per area: density times thickness, and what is not structure


@in_words(ModelError)
def nastran(
    file: str | Path,
    *,
    length_unit: str | None = None,
    mass_unit: str | None = None,
    ignore: str | Iterable[str] = (),
    lumped: bool = False,
) -> MassProperties:
    """The mass properties of a NASTRAN model, in its basic coordinate system.

    A deck does not say its units: length_unit ("mm") and mass_unit ("t") do. Read are GRID, CORD1R/C/S, CORD2R/C/S,
    CTRIA3, CQUAD4, CTETRA, CPENTA, CHEXA, PSHELL, PSOLID, MAT1, CONM2, PARAM WTMASS. Cards without mass are passed
    over; any other one is refused, unless `ignore` names it. Each element has its own inertia, that of its volume; with
    lumped=True all its mass stands in the mean of its corners, as in pyNastran's mass_properties.
    """
    path = as_path(file, "mass.nastran")
    metre = length_factor(length_unit, path.name)
    kilogram = file_factor(mass_unit, "mass", path.name, "mass_unit='t' (--mass-unit t, which goes with mm and MPa)")
    skip = {word.upper() for word in ([ignore] if isinstance(ignore, str) else ignore)}
    deck = _Deck([card for card in read_cards(path) if card.name not in skip])
    parts = [*deck.elements(lumped), *deck.point_masses()]
    if not any(part.mass > 0 for part in parts):
        raise ModelError(f"{path.name}: there is nothing with mass in it; it needs elements with a density, or CONM2.")
    m, com, inertia = combine(parts)
    kilogram *= deck.weight_to_mass
    return MassProperties(m * kilogram, com * metre, inertia * (kilogram * metre**2))


class _Deck:
    """The cards by kind and number."""

    def __init__(self, cards: list[Card]):
        self.by_name: dict[str, list[Card]] = {name: [] for name in READ}
        for card in cards:
            if card.name not in self.by_name:
                if MASSLESS.fullmatch(card.name):
                    continue
                if BEGIN.fullmatch(card.name):
                    raise card.line.error("a second BEGIN: superelements are not read; write the model as one.")
                raise card.error(
                    f"a {card.name} is not read, and it may carry mass; take it out, or leave it out of the sum: "
                    f"ignore=['{card.name}'] (--ignore {card.name})."
                )
            if card.problem:
                raise ModelError(card.problem)
            self.by_name[card.name].append(card)
        systems: dict[int, tuple[Card, int]] = {}
        for name in SYSTEMS:
            for card in self.by_name[name]:
                for first in (1, 5) if name[4] == "1" and card.text(5) else (1,):  # CORD1x: two in a card
                    number = card.integer(first, "CID")
                    other, _ = systems.setdefault(number, (card, first))
                    if other[:2] != card[:2]:
                        raise card.error(f"system {number} is there already, in line {other.line.number}.")
        default = [card.integer(2, "CP", 0) for card in self.by_name["GRDSET"]]
        self.grid = Grid(self._numbered("GRID"), systems, default[0] if default else 0)
        self.materials = self._numbered("MAT1")
        self.sections = {name: self._numbered(name) for name in ("PSHELL", "PSOLID")}
        self._warned: set[str] = set()
        self._numbered(*CORNERS, "CONM2")  # no two elements share a number

    @property
    def weight_to_mass(self) -> float:
        """PARAM, WTMASS: what all masses are multiplied with."""
        found = [card for card in self.by_name["PARAM"] if card.text(1).upper() == "WTMASS"]
        factor = found[-1].real(2, "WTMASS") if found else 1.0
        if not factor > 0:
            raise found[-1].error(f"{factor:g} must be positive; it multiplies all masses.")
        return factor

    def elements(self, lumped: bool) -> list[MassProperties]:
        """Each kind of elements as one part."""
        parts = []
        for name in CORNERS:
            cards = self.by_name[name]
            if not cards:
                continue
            corners = np.array([self._corners(card) for card in cards])
            origin = (corners.min(axis=(0, 1)) + corners.max(axis=(0, 1))) / 2
            sum_of = self._plates if name in PLATES else self._solids
            moments = sum_of(cards, corners - origin, lumped)
            if moments.mass > 0:
                parts.append(mass_properties(moments, origin))
        return parts

    def point_masses(self) -> list[MassProperties]:
        """CONM2: mass at an offset from a grid point, with inertia about itself in the axes of CID."""
        parts = []
        for card in self.by_name["CONM2"]:
            at, m = self.grid.position(card.integer(2, "G"), card), card.real(4, "M", 0.0)
            system, offset = card.integer(3, "CID", 0), np.array(card.reals(5, 3, "X"))
            xx, yx, yy, zx, zy, zz = card.reals(9, 6, "I")
            tensor = np.array([[xx, -yx, -zx], [-yx, yy, -zy], [-zx, -zy, zz]])  # I21 is + ∫ x y dm
            if m < 0:
                raise card.error(f"mass {m:g} is negative.")
            try:
                checked_inertia("point mass", tensor)
            except ModelError as err:
                raise card.error(str(err)) from err
            if system == -1:  # the offset is a position in the basic system
                place, axes = offset, np.eye(3)
            else:
                axes = local_axes(self.grid.frame(system, card), at)
                place = at + axes @ offset
            parts.append(MassProperties(m, place, axes @ tensor @ axes.T))
        return parts

    def _plates(self, cards: list[Card], corners: np.ndarray, lumped: bool) -> Moments:
        made = [self._plate(card) for card in cards]
        thickness, per_area = (np.array(values) for values in zip(*made, strict=True))
        areas = area_vectors(corners)
        area = np.linalg.norm(areas, axis=1)
        if not area.all():
            raise cards[int(np.argmin(area))].error("it has no area: its corners coincide or lie on one line.")
        if (wrong := crossed(corners, areas)).any():
            raise cards[int(np.argmax(wrong))].error("it crosses itself; put its corners in order.")
        if lumped:
            return simplex_moments(per_area * area, corners.mean(axis=1)[:, None])
        offset = np.array([card.real(corners.shape[1] + 4, "ZOFFS", 0.0) for card in cards])
        corners = corners + (offset / area)[:, None, None] * areas[:, None]
        return plate_moments(corners, areas, per_area, thickness)

    def _plate(self, card: Card) -> Plate:
        """Density and thickness: of its own corners, or else of its PSHELL."""
        section = self._section(card, "PSHELL")
        count = CORNERS[card.name]
        common, relative = section.real(3, "T", 0.0), card.integer(10, "TFLAG", 0) == 1
        own = [card.real(11 + i, f"T{i + 1}", 1.0 if relative else common) for i in range(count)]
        thickness = sum(own) / count * (common if relative else 1.0)
        if not thickness > 0:
            raise card.error(f"thickness {thickness:g} must be positive; give T in PSHELL {section.text(1)}.")
        extra = section.real(8, "NSM", 0.0)
        if extra < 0:
            raise section.error(f"NSM {extra:g} is negative.")
        material = section.text(2) or section.text(4)  # MID1, or a plate that only bends: MID2
        structural = self._density(section, material, card, extra > 0) * thickness
        # m t²/12 of the structure alone, said as a thickness of the whole mass
        share = structural / (structural + extra) if structural + extra > 0 else 0.0
        return Plate(thickness * share**0.5, structural + extra)

    def _solids(self, cards: list[Card], corners: np.ndarray, lumped: bool) -> Moments:
        sections = [self._section(card, "PSOLID") for card in cards]
        density = np.array([self._density(s, s.text(2), card) for s, card in zip(sections, cards, strict=True)])
        points, volumes = _tetrahedra(corners) if cards[0].name == "CTETRA" else _gauss_points(corners)
        wrong = ~(volumes.sum(axis=1) > 0) | (volumes.min(axis=1) < 0)
        if wrong.any():
            raise cards[int(np.argmax(wrong))].error(
                "it is flat or turned inside out, as its nodes are in another order than the manual's, or its shape "
                "overlaps itself."
            )
        if lumped:
            return simplex_moments(density * volumes.sum(axis=1), corners.mean(axis=1)[:, None])
        weights = (density[:, None] * volumes).ravel()
        return simplex_moments(weights, points.reshape(len(weights), -1, 3))

    def _corners(self, card: Card) -> list[np.ndarray]:
        """Positions of its corners."""
        count = CORNERS[card.name]
        if card.name in MIDDLES and any(card.text(i) for i in range(3 + count, 3 + MIDDLES[card.name])):
            text = f"of its nodes only the {count} corners are used: edges count as straight, here and in others."
            self._warn(card.name, card.error(text))
        return [self.grid.position(number, card) for number in card.integers(3, count, "G")]

    def _section(self, card: Card, name: str) -> Card:
        number = card.integer(2, "PID", card.integer(1, "EID"))
        if number not in self.sections[name]:
            hint = " (laminates, PCOMP, are not read)" if name == "PSHELL" else ""
            raise card.error(f"it names property {number}, and there is no {name} {number}{hint}.")
        return self.sections[name][number]

    def _density(self, section: Card, material: str, user: Card, may_lack: bool = False) -> float:
        """RHO of the material that a section names."""
        if not material and may_lack:  # only mass that is not structure
            return 0.0
        number = int(material) if material.isdecimal() else None
        if number not in self.materials:
            what = f"there is no MAT1 {material} (others are not read)" if material else "none is named"
            raise user.error(f"its {section.name} {section.text(1)} has no material: {what}.")
        density = self.materials[number].real(5, "RHO", 0.0)
        if density < 0:
            raise self.materials[number].error(f"density RHO {density:g} must be positive.")
        if density == 0 and not may_lack:
            text = f"density RHO is zero or missing, so elements like {user.name} {user.text(1)} have no mass."
            self._warn(f"MAT1 {number}", self.materials[number].error(text))
        return density

    def _warn(self, about: str, warning: ModelError) -> None:
        """Once about each thing."""
        if about not in self._warned:
            self._warned.add(about)
            warnings.warn(str(warning), stacklevel=2)

    def _numbered(self, *names: str) -> dict[int, Card]:
        """Cards by number; the same twice must say the same."""
        found: dict[int, Card] = {}
        for name in names:
            for card in self.by_name[name]:
                other = found.setdefault(card.integer(1, "its number"), card)
                if other[:2] != card[:2]:
                    raise card.error(f"the number is taken already, by {other.name} in line {other.line.number}.")
        return found


def _tetrahedra(corners: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """As one simplex each: corners (n, 1, 4, 3) and signed volumes (n, 1)."""
    a, b, c = (corners[:, i] - corners[:, 0] for i in (1, 2, 3))
    return corners[:, None], np.einsum("ni,ni->n", a, np.cross(b, c))[:, None] / 6


def _gauss_points(corners: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Hexahedra (n, 8, 3) as 27 points (n, 27, 1, 3) of volumes (n, 27), with exactly their moments to second order.

    x = Σ N_k(ξ) x_k, with N_k linear in each of ξ, η, ζ: then det dx/dξ times x xᵀ has at most degree 4 in each, and
    Gauss' 3 points a side are exact to 5. A pentahedron is a hexahedron with two edges that have no length.
    """
    if corners.shape[1] == 6:
        corners = corners[:, [0, 1, 2, 2, 3, 4, 5, 5]]
    abscissas, weights = np.polynomial.legendre.leggauss(3)
    signs = np.array([(-1, -1, -1), (1, -1, -1), (1, 1, -1), (-1, 1, -1)])
    signs = np.concatenate([signs, signs * (1, 1, -1)])  # of ξ, η, ζ at the 8 corners
    points, volumes = [], []
    for (x, u), (y, v), (z, w) in product(zip(abscissas, weights, strict=True), repeat=3):
        factors = 1 + signs * (x, y, z)
        points.append(np.prod(factors, axis=1) / 8 @ corners)
        slopes = [signs[:, i] * np.prod(np.delete(factors, i, axis=1), axis=1) / 8 for i in range(3)]
        a, b, c = (np.einsum("k,nki->ni", slope, corners) for slope in slopes)
        volumes.append(u * v * w * np.einsum("ni,ni->n", a, np.cross(b, c)))
    return np.stack(points, axis=1)[:, :, None], np.stack(volumes, axis=1)
