"""Mass properties from files: mesh formats, the CubeSat by every route, the command line, scenarios."""

import builtins
import json
import sys
from xml.etree import ElementTree as ET

import numpy as np
import pytest
from mass_checks import EPS, assert_alike
from nastran_oracle import DECKS

import rbt_ros as rbt
from rbt_ros import cli
from rbt_ros.errors import ModelError, ScenarioError, SetupError
from rbt_ros.model.mass import report
from rbt_ros.model.mass.files import from_file
from rbt_ros.model.scenario import scenario_from_text
from rbt_ros.model.urdf_read import load_urdf

trimesh = pytest.importorskip("trimesh", reason="this system lacks trimesh: pip install 'rbt_ros[mesh]'")
SINGLE = float(np.finfo(np.float32).eps)
HUB = rbt.mass.box((0.1, 0.2, 0.3), density=2700).placed(at=(0.05, 0.1, 0.15))
OPEN_OBJ = "v 0 0 0\nv 100 0 0\nv 100 200 0\nv 0 200 0\nf 1 2 3 4\n"
BOX_OBJ = "".join(f"v {x} {y} {z}\n" for z in (0, 300) for y in (0, 200) for x in (0, 100)) + (
    "f 1 3 4 2\nf 5 6 8 7\nf 1 2 6 5\nf 3 7 8 4\nf 1 5 7 3\nf 2 4 8 6\n"
)


@pytest.fixture
def hub(tmp_path):
    """A block in mm."""
    file = tmp_path / "hub.obj"
    file.write_text(BOX_OBJ, encoding="ascii")
    return file


def test_step_files_tell_the_package_that_reads_them(monkeypatch, tmp_path):
    """What CAD exports first: not the name of a module alone, but what to do."""
    monkeypatch.setitem(sys.modules, "cascadio", None)
    (tmp_path / "part.step").write_text("ISO-10303-21;\n", encoding="ascii")
    with pytest.raises(SetupError, match="part.step: trimesh needs .*'cascadio'.*: export the part as STL"):
        from_file(tmp_path / "part.step", unit="m", density=1.0)


@pytest.mark.parametrize("ending", ["stl", "obj", "ply", "glb"])
def test_all_formats_say_the_same(ending, hub, tmp_path):
    """As closed surfaces, though STL writes corners anew for each facet; STL, PLY and GLB hold single precision."""
    file = tmp_path / f"other.{ending}"
    trimesh.load_scene(hub).export(file)
    assert_alike(from_file(file, unit="mm", density=2700), HUB, 8 * SINGLE)
    assert_alike(
        from_file(file, unit="m", mass=HUB.mass * 1e6),
        HUB._replace(mass=HUB.mass * 1e6, com=HUB.com * 1e3, inertia=HUB.inertia * 1e12),
        8 * SINGLE,
    )


def test_instances_stand_where_their_poses_put_them(tmp_path):
    scene, pose = trimesh.Scene(), np.eye(4)
    box = trimesh.creation.box((1, 2, 3))
    scene.add_geometry(box)
    pose[:3, :3], pose[:3, 3] = [[0, -1, 0], [1, 0, 0], [0, 0, 1]], [5, 0, 0]
    scene.add_geometry(box, transform=pose)
    scene.export(tmp_path / "two.glb")
    one = rbt.mass.box((1, 2, 3), density=1)
    both = one + one.placed(at=(5, 0, 0), rotation=pose[:3, :3])
    assert_alike(from_file(tmp_path / "two.glb", unit="m", density=1), both, 8 * SINGLE)


BUS, PANEL, OFFSET = (0.1, 0.1, 0.34), (0.0016, 0.0825, 0.329), 0.091  # thesis, Script 2-2: m; 3 kg and 2 x 0.132 kg


def by_primitives(_):
    return rbt.mass.box(BUS, mass=3), rbt.mass.box(PANEL, mass=0.132)


def by_shells(_):
    """Each block as a plate: the bus one of 340 mm, with corners that run about z; a panel one of 1.6 mm."""
    a, b = np.array(BUS[:2]) / 2
    bus = rbt.mass.shell([(-a, -b, 0), (a, -b, 0), (a, b, 0), (-a, b, 0)], [(0, 1, 2, 3)], thickness=BUS[2], mass=3)
    b, c = np.array(PANEL[1:]) / 2
    corners = [(0, -b, -c), (0, b, -c), (0, b, c), (0, -b, c)]
    return bus, rbt.mass.shell(corners, [(0, 1, 2), (0, 2, 3)], thickness=PANEL[0], mass=0.132)


def by_meshes(folder):
    made = []
    for name, size, mass in (("bus", BUS, 3), ("panel", PANEL, 0.132)):
        trimesh.creation.box(size).export(folder / f"{name}.obj", digits=17)
        made.append(from_file(folder / f"{name}.obj", unit="m", mass=mass))
    return made


@pytest.mark.parametrize("route", [by_primitives, by_shells, by_meshes])
def test_the_cubesat_of_the_thesis_by_parts(route, tmp_path):
    bus, panel = route(tmp_path)
    made = rbt.mass.combine([bus, panel.placed(at=(0, OFFSET, 0)), panel.placed(at=(0, -OFFSET, 0))])
    assert_is_the_cubesat(made, 8 * EPS)


def test_the_cubesat_of_the_thesis_from_nastran():
    """Its densities have 15 digits."""
    assert_is_the_cubesat(rbt.mass.nastran(DECKS / "cubesat.bdf", length_unit="m", mass_unit="kg"), 1e-14)


def assert_is_the_cubesat(made, rtol):
    """The tensor of the shipped scenario, which the thesis prints as 0.0361, 0.0338, 0.0073 kg·m²."""
    shipped = rbt.load("cubesat").robot.bodies[0]
    assert_alike(made, rbt.MassProperties(shipped.mass, np.zeros(3), shipped.inertia), max(rtol, 1e-10))
    assert [round(float(m), 4) for m in made.inertia.diagonal()] == [0.0361, 0.0338, 0.0073]
    bus, panel = by_primitives(None)
    whole = rbt.mass.combine([bus, panel.placed(at=(0, OFFSET, 0)), panel.placed(at=(0, -OFFSET, 0))])
    assert_alike(made, whole, rtol)


@pytest.mark.parametrize(
    ("name", "text", "given", "message"),
    [
        (
            "a.obj",
            BOX_OBJ,
            {"mass": 1},
            r"a.obj: such a file does not say its unit of length, .*unit='mm' \(--unit mm\)",
        ),
        ("a.obj", BOX_OBJ, {"unit": "furlong", "mass": 1}, "a.obj: 'furlong' is no unit of length; use one of m, mm"),
        ("a.obj", BOX_OBJ, {"unit": "mm"}, "a.obj: give either a density"),
        ("a.obj", OPEN_OBJ, {"unit": "mm", "mass": 1}, "a.obj: not a closed surface: 4 open edges around 1 hole"),
        ("a.obj", "v 0 0 0\n", {"unit": "mm", "mass": 1}, "a.obj: there is no facet in it"),
        ("a.stl", "no mesh", {"unit": "mm", "mass": 1}, "a.stl: there is no facet in it"),
        ("a.xyzw", "no mesh", {"unit": "mm", "mass": 1}, "a.xyzw cannot be read as a mesh"),
        ("a.obj", BOX_OBJ, {"unit": "mm", "mass": 1, "mass_unit": "t"}, "a.obj: mass_unit does not go with a mesh"),
        ("a.bdf", "", {"unit": "mm", "mass_unit": "t", "density": 1}, "a.bdf: density does not go with a NASTRAN deck"),
    ],
)
def test_bad_files_say_why(name, text, given, message, tmp_path):
    (tmp_path / name).write_text(text, encoding="ascii")
    with pytest.raises(ModelError, match=message):
        from_file(tmp_path / name, **given)


@pytest.mark.parametrize("ending", ["obj", "stl", "ply"])
def test_names_in_a_mesh_may_be_in_any_encoding(ending, tmp_path):
    """Latin-1, as older programs write it; numbers are ASCII in all of them."""
    trimesh = pytest.importorskip("trimesh", reason="this system lacks trimesh: pip install 'rbt_ros[mesh]'")
    box, comment = trimesh.creation.box((1.0, 2.0, 3.0)), "Gehäuse".encode("latin-1")
    data = {
        "obj": lambda: b"# " + comment + b"\no " + comment + b"\n" + box.export(file_type="obj").encode(),
        "stl": lambda: box.export(file_type="stl_ascii").encode().replace(b"solid", b"solid " + comment, 1),
        "ply": lambda: box.export(file_type="ply").replace(b"element", b"comment " + comment + b"\nelement", 1),
    }[ending]()
    (tmp_path / f"a.{ending}").write_bytes(data)
    assert from_file(tmp_path / f"a.{ending}", unit="m", mass=6.0).inertia.trace() == pytest.approx(14.0, rel=1e-6)


def test_a_mesh_that_is_not_there():
    with pytest.raises(ModelError, match="there is no file nowhere.stl; give the path of a mesh"):
        from_file("nowhere.stl", unit="mm", mass=1)


def test_without_trimesh(hub, monkeypatch):
    real = builtins.__import__

    def without(name, *rest):
        if name == "trimesh":
            raise ImportError(name)
        return real(name, *rest)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(SetupError, match=r"mesh files need trimesh: pip install 'rbt_ros\[mesh\]'"):
        from_file(hub, unit="mm", mass=1)


def rbt_mass(capsys, monkeypatch, *arguments):
    """(exit status, output) of `rbt mass ...`."""
    monkeypatch.setattr("sys.argv", ["rbt", "mass", *map(str, arguments)])
    with pytest.raises(SystemExit) as end:
        cli.main()
    return end.value.code, capsys.readouterr()


def test_the_command_prints_a_table_and_urdf(hub, capsys, monkeypatch, tmp_path):
    status, printed = rbt_mass(capsys, monkeypatch, hub, "--unit", "mm", "--density", "2.7 g/cm3")
    assert status == 0
    table, _, element = printed.out.partition("\n\n")
    rows = {line[:34].strip(): line[34:].split() for line in table.splitlines() if line[:34].strip()}
    assert list(rows) == [
        *("mass [kg]", "centre of mass [m]", "inertia about the CoM [kg·m²]", "inertia about the origin [kg·m²]"),
        *("principal moments [kg·m²]", "radii of gyration [m]"),
        *("axis 1 [-]", "axis 2 [-]", "axis 3 [-]"),
    ]
    assert [float(x) for x in rows["mass [kg]"]] == pytest.approx([16.2])
    assert [float(x) for x in rows["radii of gyration [m]"]] == pytest.approx(
        np.sqrt(np.array([0.05, 0.10, 0.13]) / 12)
    )
    assert [float(x) for x in rows["inertia about the origin [kg·m²]"]] == pytest.approx(HUB.about()[0], rel=1e-8)
    assert ET.fromstring(element).find("mass").get("value") == repr(from_file(hub, unit="mm", density=2700).mass)
    file = tmp_path / "hub.urdf"
    file.write_text(f'<robot name="a"><link name="hub">{element}</link></robot>', encoding="utf-8")
    body = load_urdf(file).bodies[0]
    assert_alike(rbt.MassProperties(body.mass, np.array(body.com), body.inertia), HUB)


def test_the_command_prints_json_of_shells_and_decks(hub, capsys, monkeypatch):
    plate = ["--unit", "mm", "--mass", "3 kg", "--shell", "--thickness", "1 mm", "--json"]
    said = json.loads(rbt_mass(capsys, monkeypatch, hub, *plate)[1].out)
    assert said["mass_kg"] == 3.0
    assert said["inertia_com_kg_m2"] == from_file(hub, unit="mm", mass=3.0, thickness=1e-3).inertia.tolist()
    lumped = ["--unit", "m", "--mass-unit", "kg", "--lumped", "--ignore", "CBAR", "--json"]
    said = json.loads(rbt_mass(capsys, monkeypatch, DECKS / "cubesat.bdf", *lumped)[1].out)
    assert said["inertia_com_kg_m2"][0][0] == pytest.approx(0.0026080239, rel=1e-8)


@pytest.mark.parametrize(
    ("options", "status", "message"),
    [
        ((), "rbt: hub.obj: such a file does not say its unit of length", ""),
        (("--unit", "mm", "--shell", "--mass", "1"), "rbt: --shell and --thickness go together", ""),
        (("--unit", "mm", "--density", "3 kg"), 2, "'3 kg' has the unit 'kg', which is no density"),
        (("--unit", "mm", "--mass", "0"), "rbt: mass of hub.obj: 0 kg must be positive", ""),
    ],
)
def test_the_command_says_what_is_wrong(options, status, message, hub, capsys, monkeypatch):
    code, printed = rbt_mass(capsys, monkeypatch, hub, *options)
    assert code == status or str(code).startswith(str(status))
    assert message in printed.err


SCENARIO = """\
rbt: 1
robot:
  bodies:
    hub:
      mass: {file: hub.obj, unit: mm, density: 2.7 g/cm3}
    lid:
      mass: {file: hub.obj, unit: mm, thickness: 1 mm, mass: 3 kg}
    sat:
      mass: {file: sat.bdf, unit: m, mass_unit: kg, ignore: [CBAR]}
    box: {mass: 1, inertia: [1, 1, 1]}
"""


def test_a_scenario_takes_files(hub):
    (hub.parent / "sat.bdf").write_text((DECKS / "cubesat.bdf").read_text() + "CBAR,99,1,1,2\n", encoding="ascii")
    bodies = scenario_from_text(SCENARIO, str(hub.parent / "a.yaml")).robot.bodies
    made = [rbt.MassProperties(body.mass, np.array(body.com), body.inertia) for body in bodies]
    assert_alike(made[0], HUB)
    assert_alike(made[1], from_file(hub, unit="mm", thickness=1e-3, mass=3))
    assert made[2].mass == pytest.approx(3.264)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("density: 2.7 g/cm3", "density: 2.7 kg", r"a.yaml:5: .*hub.mass.density: '2.7 kg' has the unit 'kg'"),
        ("density: 2.7 g/cm3", "colour: red", r"a.yaml:5: .*hub.mass.colour: unknown key 'colour'; .* file, unit"),
        (
            "unit: mm, density",
            "density",
            r"a.yaml:5: robot.bodies.hub.mass: hub.obj: such a file does not say its unit",
        ),
        ("file: hub.obj, unit: mm, d", "unit: mm, d", r"a.yaml:5: robot.bodies.hub.mass: 'file' is missing"),
        ("cm3}\n", "cm3}\n      com: [0, 0, 0]\n", r"a.yaml:6: .*hub.com: the file of `mass` says the com already"),
    ],
)
def test_a_scenario_says_what_is_wrong_with_them(old, new, message, hub):
    assert old in SCENARIO
    with pytest.raises(ScenarioError, match=message):
        scenario_from_text(SCENARIO.replace(old, new, 1), str(hub.parent / "a.yaml"))


@pytest.mark.filterwarnings("error")
def test_a_rod_in_any_position_has_radii():
    """Turned, its least moment is round-off of either sign, and no root of a negative number is taken."""
    for angle in np.linspace(0.1, 1.5, 20):
        said = json.loads(report.as_json(rbt.mass.rod(2.0, 3.0).placed(rotation=("ZYX", angle, angle, 0))))
        assert said["radii_of_gyration_m"] == pytest.approx([0, 3**-0.5, 3**-0.5], abs=1e-7)
