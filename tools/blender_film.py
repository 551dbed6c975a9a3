"""A film of a recorded motion by Blender: a stand-alone script, which needs nothing of rbt_ros but its files.

    rbt run five_body --until 10 --record swing       a run
    rbt convert swing swing.csv --layout blender      place and attitude of every body, a row per frame
    rbt convert five_body five_body.urdf              what the bodies look like
    python tools/blender_film.py swing.csv five_body.urdf film.mp4

Run it by a Python that has Blender as a module (docs/view.md), or by Blender itself:

    blender -b -P tools/blender_film.py -- swing.csv five_body.urdf film.mp4

Blender's axes are ours: right-handed, z up, metres, quaternions w x y z.
"""

import argparse
import csv
import itertools
import math
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from typing import Any, NamedTuple

POSE = ("x [m]", "y [m]", "z [m]", "qw", "qx", "qy", "qz")  # columns of a body
PALETTE = ((0.48, 0.64, 0.84), (0.88, 0.64, 0.35), (0.42, 0.69, 0.53), (0.82, 0.38, 0.37), (0.63, 0.49, 0.77))
SMALLEST = 0.05  # [m] what is drawn where nothing has a size
LENS_MM, SENSOR_MM = 50.0, 36.0
MARGIN = 1.08  # of the picture around what moves
LONGITUDE_DEG, LATITUDE_DEG = -55.0, 12.0  # where the camera stands
GROUND = 400.0  # radii: to the horizon


class FilmError(Exception):
    """What cannot be filmed: names the thing, the value, the rule and the way out."""


class Motion(NamedTuple):
    """A table of layout blender."""

    frames: list[int]
    times: list[float]  # [s]
    poses: dict[str, list[tuple[float, ...]]]  # of each body, by frame: p_WB [m], q_WB


class Visual(NamedTuple):
    """A shape of a body."""

    kind: str  # box, cylinder, sphere, mesh
    size: tuple[float, ...]  # box: edges [m]; cylinder: radius, length [m]; sphere: radius [m]; mesh: scale
    at: tuple[float, ...]  # in the body's frame [m]
    rpy: tuple[float, ...]  # about fixed x, y, z [rad], as URDF has it
    quaternion: tuple[float, ...] | None  # in place of rpy, where the file says it exactly
    rgb: tuple[float, ...] | None
    file: str = ""


# ------------------------------------------------------------------------------------------------------ what is filmed
def read_motion(file: Path) -> Motion:
    """The table that `rbt convert --layout blender` writes."""
    try:
        with file.open(encoding="utf-8", newline="") as lines:
            names, *rows = list(csv.reader(lines)) or [[]]
    except OSError as err:
        raise FilmError(f"{file} cannot be read: {err.strerror}.") from err
    if names[:2] != ["frame", "t [s]"]:
        raise FilmError(f"{file} does not begin with 'frame,t [s]'; make it by rbt convert BAG FILE --layout blender.")
    bodies = [name.removesuffix(f".{POSE[0]}") for name in names if name.endswith(f".{POSE[0]}")]
    places = {name: at for at, name in enumerate(names)}
    missing = [f"{body}.{part}" for body in bodies for part in POSE if f"{body}.{part}" not in places]
    if missing or not bodies:
        raise FilmError(f"{file} lacks the column '{(missing or ['BODY.x [m]'])[0]}'.")
    if not rows:
        raise FilmError(f"{file} has no frames.")
    numbers = [_numbers(file, line, names, row) for line, row in enumerate(rows, 2)]
    poses = {body: [tuple(row[places[f"{body}.{part}"]] for part in POSE) for row in numbers] for body in bodies}
    return Motion([round(row[0]) for row in numbers], [row[1] for row in numbers], poses)


def _numbers(file: Path, line: int, names: list[str], row: list[str]) -> list[float]:
    if len(row) != len(names):
        raise FilmError(f"{file}, line {line}: {len(row)} cells under {len(names)} names.")
    try:
        return [float(cell) for cell in row]
    except ValueError as err:
        raise FilmError(f"{file}, line {line}: {err}.") from None


def check_rate(motion: Motion, rate: float) -> None:
    """FilmError where the frames are not so many per second: of the recorded instants each has the nearest."""
    for frame, time in zip(motion.frames, motion.times, strict=True):
        if abs((frame - motion.frames[0]) - (time - motion.times[0]) * rate) > 1.0:
            raise FilmError(
                f"frame {frame} is at t = {time:g} s, which is not {rate:g} per second; say the --frame-rate of rbt "
                "convert here, too."
            )


def read_visuals(file: Path) -> dict[str, list[Visual]]:
    """The visuals of each link of a URDF."""
    try:
        robot = ElementTree.parse(file).getroot()
    except (OSError, ElementTree.ParseError) as err:
        raise FilmError(f"{file} cannot be read as URDF: {err}.") from err
    colours = {material.get("name", ""): _colour(material) for material in robot.findall("material")}
    return {
        link.get("name", ""): [_visual(file, visual, colours) for visual in link.findall("visual")]
        for link in robot.findall("link")
    }


def _visual(file: Path, visual: ElementTree.Element, colours: dict) -> Visual:
    geometry, origin, exact = visual.find("geometry"), visual.find("origin"), visual.find("rbt")
    shape = next(iter(geometry), None) if geometry is not None else None
    if shape is None or shape.tag not in ("box", "cylinder", "sphere", "mesh"):
        raise FilmError(f"{file}: a visual has no box, cylinder, sphere or mesh.")
    sizes = {
        "box": lambda: _row(shape, "size", ""),
        "cylinder": lambda: (*_row(shape, "radius", ""), *_row(shape, "length", "")),
        "sphere": lambda: _row(shape, "radius", ""),
        "mesh": lambda: _row(shape, "scale", "1 1 1"),
    }
    material = visual.find("material")
    rgb = None if material is None else _colour(material) or colours.get(material.get("name", ""))
    return Visual(
        shape.tag,
        sizes[shape.tag](),
        _row(origin, "xyz", "0 0 0"),
        _row(origin, "rpy", "0 0 0"),
        _row(exact, "quaternion", "1 0 0 0") if exact is not None and exact.get("quaternion") else None,
        rgb,
        _mesh_file(file, shape.get("filename", "")) if shape.tag == "mesh" else "",
    )


def _row(element: ElementTree.Element | None, name: str, otherwise: str) -> tuple[float, ...]:
    text = otherwise if element is None else element.get(name, otherwise)
    return tuple(float(word) for word in text.split())


def _colour(material: ElementTree.Element) -> tuple[float, ...] | None:
    colour = material.find("color")
    return None if colour is None else _row(colour, "rgba", "")[:3]


def _mesh_file(urdf: Path, name: str) -> str:
    """Beside the URDF where its path is relative; a package is looked for as a folder above it."""
    path = name.removeprefix("file://")
    if name.startswith("package://"):
        package, _, rest = name.removeprefix("package://").partition("/")
        root = next((folder for folder in urdf.resolve().parents if folder.name == package), urdf.parent)
        path = str(root / rest)
    return str(urdf.parent / path)


def bodies_to_film(motion: Motion, visuals: dict[str, list[Visual]]) -> dict[str, list[Visual]]:
    """The bodies that both files know; a ball for one without a visual. FilmError where there is none, or one lacks."""
    absent = [link for link, shapes in visuals.items() if shapes and link not in motion.poses]
    if absent:
        raise FilmError(f"the table has no columns of '{absent[0]}'; it holds {', '.join(motion.poses)}.")
    ball = Visual("sphere", (SMALLEST / 2,), (0.0, 0.0, 0.0), (0.0, 0.0, 0.0), None, None)
    found = {body: visuals[body] or [ball] for body in motion.poses if body in visuals}
    if not found:
        raise FilmError(f"the URDF has none of the bodies {', '.join(motion.poses)}.")
    return found


def surroundings(motion: Motion, bodies: dict[str, list[Visual]]) -> tuple[tuple[float, ...], float]:
    """Middle and radius [m] of all that is seen in all frames; meshes count by the places of their frames."""
    points = [
        added(pose[:3], turned(pose[3:], corner))
        for body, shapes in bodies.items()
        for corner in {corner for shape in shapes for corner in corners(shape)}
        for pose in motion.poses[body]
    ]
    low, high = (tuple(pick(axis) for axis in zip(*points, strict=True)) for pick in (min, max))
    middle = tuple((a + b) / 2.0 for a, b in zip(low, high, strict=True))
    return middle, max(SMALLEST, *(math.dist(point, middle) for point in points))


def corners(shape: Visual) -> list[tuple[float, ...]]:
    """Of a box around the shape, in the body's frame."""
    halves = {
        "box": lambda: tuple(edge / 2.0 for edge in shape.size),
        "cylinder": lambda: (shape.size[0], shape.size[0], shape.size[1] / 2.0),
        "sphere": lambda: 3 * shape.size,
        "mesh": lambda: (0.0, 0.0, 0.0),
    }
    q = shape.quaternion or quaternion_of(shape.rpy)
    return [
        added(shape.at, turned(q, tuple(sign * half for sign, half in zip(signs, halves[shape.kind](), strict=True))))
        for signs in itertools.product((-1.0, 1.0), repeat=3)
    ]


def quaternion_of(rpy: tuple[float, ...]) -> tuple[float, ...]:
    """Of turns about the fixed axes x, y, z, one after the other."""
    (cx, sx), (cy, sy), (cz, sz) = ((math.cos(angle / 2.0), math.sin(angle / 2.0)) for angle in rpy)
    return (
        cx * cy * cz + sx * sy * sz,
        sx * cy * cz - cx * sy * sz,
        cx * sy * cz + sx * cy * sz,
        cx * cy * sz - sx * sy * cz,
    )


def turned(q: tuple[float, ...], v: tuple[float, ...]) -> tuple[float, ...]:
    """R(q) v for a unit quaternion: v + 2 u × (u × v + w v), u its vector part."""
    w, u = q[0], q[1:]
    once = added(crossed(u, v), tuple(w * x for x in v))
    return added(v, tuple(2.0 * x for x in crossed(u, once)))


def added(a: tuple[float, ...], b: tuple[float, ...]) -> tuple[float, ...]:
    """a + b."""
    return tuple(x + y for x, y in zip(a, b, strict=True))


def crossed(a: tuple[float, ...], b: tuple[float, ...]) -> tuple[float, ...]:
    """a × b."""
    return (a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0])


def camera_place(middle: tuple[float, ...], radius: float, size: tuple[int, int]) -> tuple[float, ...]:
    """From where a ball of that radius just fills the shorter side of the picture, with some margin."""
    half_angle = math.atan(SENSOR_MM / 2.0 / LENS_MM * min(size) / max(size))
    distance = MARGIN * radius / math.sin(half_angle)
    turn, lift = math.radians(LONGITUDE_DEG), math.radians(LATITUDE_DEG)
    towards = (math.cos(lift) * math.cos(turn), math.cos(lift) * math.sin(turn), math.sin(lift))
    return tuple(m + distance * c for m, c in zip(middle, towards, strict=True))


# ------------------------------------------------------------------------------------------------------- Blender's side
def film(
    motion: Motion, bodies: dict[str, list[Visual]], out: Path, size: tuple[int, int], samples: int, rate: float
) -> None:
    """Build the scene and render every frame."""
    import bpy

    bpy.ops.wm.read_factory_settings(use_empty=True)
    bpy.context.preferences.edit.keyframe_new_interpolation_type = "LINEAR"
    middle, radius = surroundings(motion, bodies)
    for number, (name, shapes) in enumerate(bodies.items()):
        frame = _linked(name, None)
        _animate(frame, motion.frames, motion.poses[name])
        for shape in shapes:
            _dress(frame, shape, PALETTE[number % len(PALETTE)])
    _stage(middle, radius, size)
    _render(motion, out, size, samples, rate)


def _linked(name: str, data: Any) -> Any:
    import bpy

    made = bpy.data.objects.new(name, data)
    bpy.context.collection.objects.link(made)
    return made


def _animate(frame: Any, frames: list[int], poses: list[tuple[float, ...]]) -> None:
    frame.rotation_mode = "QUATERNION"
    for number, pose in zip(frames, poses, strict=True):
        frame.location, frame.rotation_quaternion = pose[:3], pose[3:]
        frame.keyframe_insert("location", frame=number)
        frame.keyframe_insert("rotation_quaternion", frame=number)


def _dress(frame: Any, shape: Visual, otherwise: tuple[float, ...]) -> None:
    """One shape, carried by the frame of its body."""
    import bmesh
    import bpy

    if shape.kind == "mesh":
        looks = _imported(shape)
    else:
        mesh, form = bpy.data.meshes.new(shape.kind), bmesh.new()
        if shape.kind == "box":
            bmesh.ops.create_cube(form, size=1.0)
            bmesh.ops.scale(form, vec=shape.size, verts=form.verts)
        elif shape.kind == "cylinder":
            radius, length = shape.size
            options = {"segments": 48, "radius1": radius, "radius2": radius, "depth": length}
            bmesh.ops.create_cone(form, cap_ends=True, **options)
        else:
            bmesh.ops.create_uvsphere(form, u_segments=48, v_segments=24, radius=shape.size[0])
        form.to_mesh(mesh)
        form.free()
        looks = _linked(shape.kind, mesh)
    looks.parent, looks.location = frame, shape.at
    if shape.quaternion:
        looks.rotation_mode, looks.rotation_quaternion = "QUATERNION", shape.quaternion
    else:
        looks.rotation_mode, looks.rotation_euler = "XYZ", shape.rpy
    for face in looks.data.polygons if shape.kind == "sphere" else ():
        face.use_smooth = True
    looks.data.materials.clear()
    looks.data.materials.append(_paint(shape.rgb or otherwise))


def _imported(shape: Visual) -> Any:
    """The mesh of a file, joined where it has several parts."""
    import bpy

    readers = {
        ".stl": bpy.ops.wm.stl_import,
        ".obj": bpy.ops.wm.obj_import,
        ".ply": bpy.ops.wm.ply_import,
        ".glb": bpy.ops.import_scene.gltf,
        ".gltf": bpy.ops.import_scene.gltf,
    }
    file = Path(shape.file)
    kind, known = file.suffix.lower(), set(bpy.data.objects)
    if kind not in readers or not file.is_file():
        raise FilmError(f"mesh {file} is not there, or none of {', '.join(readers)}.")
    readers[kind](filepath=str(file), **({} if kind in (".glb", ".gltf") else {"forward_axis": "Y", "up_axis": "Z"}))
    parts = [each for each in bpy.data.objects if each not in known and each.type == "MESH"]
    with bpy.context.temp_override(active_object=parts[0], selected_editable_objects=parts):
        bpy.ops.object.join()
    parts[0].scale = shape.size
    return parts[0]


def _paint(rgb: tuple[float, ...]) -> Any:
    """A matt colour, given as a screen shows it; Blender counts in light."""
    import bpy

    paint = bpy.data.materials.new("paint")
    paint.use_nodes = True
    surface = next(node for node in paint.node_tree.nodes if node.type == "BSDF_PRINCIPLED")
    light = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in rgb]
    surface.inputs["Base Color"].default_value = (*light, 1.0)
    surface.inputs["Roughness"].default_value = 0.45
    return paint


def _tiles(radius: float) -> Any:
    """A chequered ground, whose tiles are a power of ten of a metre wide, about a fifth of the radius."""

    paint = _paint((0.40, 0.42, 0.46))
    nodes, links = paint.node_tree.nodes, paint.node_tree.links
    tiles, places = nodes.new("ShaderNodeTexChecker"), nodes.new("ShaderNodeTexCoord")
    tiles.inputs["Scale"].default_value = 10.0 ** -round(math.log10(0.2 * radius))
    tiles.inputs["Color1"].default_value, tiles.inputs["Color2"].default_value = (
        (0.10, 0.11, 0.13, 1.0),
        (0.14, 0.15, 0.17, 1.0),
    )
    surface = next(node for node in nodes if node.type == "BSDF_PRINCIPLED")
    links.new(places.outputs["Object"], tiles.inputs["Vector"])
    links.new(tiles.outputs["Color"], surface.inputs["Base Color"])
    return paint


def _stage(middle: tuple[float, ...], radius: float, size: tuple[int, int]) -> None:
    """Ground, sun, sky, and a camera that looks at the middle."""
    import bmesh
    import bpy
    from mathutils import Vector

    scene = bpy.context.scene
    mesh, form = bpy.data.meshes.new("ground"), bmesh.new()
    bmesh.ops.create_grid(form, x_segments=1, y_segments=1, size=GROUND * radius)
    form.to_mesh(mesh)
    form.free()
    ground = _linked("ground", mesh)
    ground.location = (middle[0], middle[1], middle[2] - 1.02 * radius)
    ground.data.materials.append(_tiles(radius))

    sun = bpy.data.lights.new("sun", "SUN")
    sun.energy, sun.angle = 3.0, math.radians(3.0)
    lamp = _linked("sun", sun)
    lamp.rotation_euler = (math.radians(40.0), math.radians(15.0), math.radians(20.0))
    sky = bpy.data.worlds.new("sky")
    sky.use_nodes = True
    background = next(node for node in sky.node_tree.nodes if node.type == "BACKGROUND")
    background.inputs["Color"].default_value = (0.62, 0.74, 0.92, 1.0)
    background.inputs["Strength"].default_value = 0.7
    scene.world = sky

    lens = bpy.data.cameras.new("camera")
    lens.lens, lens.sensor_width, lens.clip_end = LENS_MM, SENSOR_MM, 1000.0 * radius
    camera = _linked("camera", lens)
    camera.location = camera_place(middle, radius, size)
    camera.rotation_mode = "QUATERNION"
    camera.rotation_quaternion = (Vector(middle) - camera.location).to_track_quat("-Z", "Y")
    scene.camera = camera


def _render(motion: Motion, out: Path, size: tuple[int, int], samples: int, rate: float) -> None:
    import bpy

    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = motion.frames[0], motion.frames[-1]
    scene.render.fps = max(1, math.ceil(rate))
    scene.render.fps_base = scene.render.fps / rate
    scene.render.engine, scene.cycles.samples = "CYCLES", samples
    scene.cycles.use_denoising = True
    scene.render.use_persistent_data = True
    scene.view_settings.view_transform = "Standard"
    scene.render.resolution_x, scene.render.resolution_y = size
    scene.render.resolution_percentage = 100
    scene.render.use_file_extension = False
    pictures, film = scene.render.image_settings, scene.render.ffmpeg
    if out.suffix == ".mp4":
        if hasattr(pictures, "media_type"):  # since 5.0
            pictures.media_type = "VIDEO"
        pictures.file_format = "FFMPEG"
        film.format, film.codec, film.constant_rate_factor = "MPEG4", "H264", "HIGH"
        scene.render.filepath = str(out.resolve())
    else:
        out.mkdir(parents=True, exist_ok=True)
        pictures.file_format = "PNG"
        scene.render.use_file_extension = True
        scene.render.filepath = f"{out.resolve()}/"
    bpy.ops.render.render(animation=True)


def main(words: list[str]) -> int:
    """The command line."""
    parser = argparse.ArgumentParser(prog="blender_film.py", description="A film of a recorded motion by Blender.")
    parser.add_argument("table", type=Path, help="of rbt convert BAG TABLE.csv --layout blender")
    parser.add_argument("urdf", type=Path, help="of rbt convert SCENARIO ROBOT.urdf")
    parser.add_argument("out", type=Path, help="*.mp4, or a folder for PNG files")
    parser.add_argument("--size", default="1280x720", help="of the picture (1280x720)")
    parser.add_argument("--samples", type=int, default=32, help="of light per pixel: more is finer and slower (32)")
    parser.add_argument("--frame-rate", type=float, default=24.0, help="per second, as given to rbt convert (24)")
    given = parser.parse_args(words)
    try:
        width, height = (int(word) for word in given.size.split("x"))
    except ValueError:
        parser.error(f"--size {given.size} is not of the form 1280x720.")
    if not (16 <= width <= 16384 and 16 <= height <= 16384) or width % 2 or height % 2 or given.samples < 1:
        parser.error(f"--size {given.size}: even numbers from 16 to 16384; --samples {given.samples}: 1 or more.")
    try:
        motion = read_motion(given.table)
        check_rate(motion, given.frame_rate)
        bodies = bodies_to_film(motion, read_visuals(given.urdf))
        film(motion, bodies, given.out, (width, height), given.samples, given.frame_rate)
    except ModuleNotFoundError as err:
        print(f"{err}: it wants Blender: python3.11 -m pip install -r tools/blender.txt", file=sys.stderr)
        return 1
    except FilmError as err:
        print(f"blender_film: {err}", file=sys.stderr)
        return 1
    print(f"wrote {given.out}: {len(motion.frames)} frames at {given.frame_rate:g} per second")
    return 0


if __name__ == "__main__":
    arguments = sys.argv[sys.argv.index("--") + 1 :] if "--" in sys.argv else sys.argv[1:]
    sys.exit(main(arguments))
