"""URDF and xacro -> Robot. What is read, what the extension is and what is refused: docs/urdf.md."""

from collections.abc import Iterable
from pathlib import Path

from rbt_ros.core.types import JointKind
from rbt_ros.errors import ModelError, SetupError
from rbt_ros.model.build import RobotBuilder
from rbt_ros.model.checks import NAME
from rbt_ros.model.elements import Element, parse_xml
from rbt_ros.model.robot import WORLD, Robot
from rbt_ros.model.urdf_parts import Joint, Link, colours, joint, link, placed
from rbt_ros.model.urdf_tree import hinges_of, merge_massless, root_of
from rbt_ros.paths import as_path, content_of

BASES = ("floating", "fixed")


def load_urdf(path: str | Path, base: str = "floating") -> Robot:
    """The robot in a URDF or xacro file. base: a root link not named `world` is "floating" or "fixed" to the world."""
    file = as_path(path, "URDF")
    data = content_of(file, "a URDF file", ModelError)
    if file.suffix == ".xacro":
        return robot_from_urdf(_expanded(file), f"{file} (expanded)", base)
    return robot_from_urdf(data, str(file), base)


def robot_from_urdf(text: str | bytes, name: str = "URDF", base: str = "floating") -> Robot:
    """The robot in a URDF text; `name` stands in error messages. base: as in `load_urdf`."""
    if base not in BASES:
        raise ModelError(f"base '{base}' is not one of {', '.join(BASES)}: how a root link other than 'world' sits.")
    document = parse_xml(text, name)
    if document.tag != "robot":
        raise document.error("a URDF document is one <robot>.")
    for element in document.walk():
        if element.tag.startswith("xacro:"):
            raise element.error("this is xacro; name the file *.xacro, or expand it: xacro in.xacro > out.urdf")
    _check_names(document)
    materials = colours(document)
    links: dict[str, Link] = {element.text("name"): link(element, materials) for element in document.all("link")}
    joints: dict[str, Joint] = {element.text("name"): joint(element) for element in document.all("joint")}
    root = root_of(document, links, joints.values())
    mimics = [joint for joint in joints.values() if joint.mimic is not None and joint.mimic["leader"] != joint.hinge]
    hinges = hinges_of(links, joints)
    if root == WORLD:
        del links[WORLD]
    elif base == "fixed":
        hinges.append(Joint(root, links[root].element, JointKind.FIXED, WORLD, root))
    return _built(document, links, merge_massless(root, links, hinges), mimics)


def _check_names(document: Element) -> None:
    """Every name there, fit for ROS, and of one link or joint only."""
    bad = []
    seen: dict[tuple[str, str], Element] = {}
    for element in (document, *document.all("link"), *document.all("joint")):
        name = element.text("name")
        if not NAME.fullmatch(name):
            bad.append(element)
        other = seen.setdefault((element.tag, name), element)
        if other is not element:
            raise element.error(f"line {other.line} has a {element.tag} of this name already; names must differ.")
    if bad:
        names = ", ".join(f"{element.where} (line {element.line})" for element in bad[:10])
        raise bad[0].error(
            f"ROS cannot carry the names of {names}{' and more' if len(bad) > 10 else ''}: use a letter, then letters, "
            "digits or _ (64 at most)."
        )


def _built(document: Element, links: dict[str, Link], hinges: list[Joint], mimics: list[Joint]) -> Robot:
    builder = RobotBuilder(document.text("name"))
    for part in links.values():
        placed(part.element, builder.body, part.name, **part.body, shapes=part.shapes)
    for hinge in hinges:
        ends = {"parent": hinge.parent, "child": hinge.child, "at": hinge.at, "rotation": hinge.quaternion}
        placed(hinge.element, builder.hinge, hinge.name, hinge.kind.name.lower(), **ends, **hinge.given)
    for follower in mimics:
        placed(follower.element, builder.mimic, follower.name, **(follower.mimic or {}))
    try:
        return builder.build()
    except ModelError as err:
        section, name = err.about or ("", "")
        parts: dict[str, Iterable[Link | Joint]] = {"bodies": links.values(), "hinges": hinges, "constraints": mimics}
        raise next((part.element for part in parts.get(section, ()) if part.name == name), document).error(
            str(err)
        ) from err


def _expanded(file: Path) -> str:
    """The URDF that the xacro file makes, with its arguments at their defaults."""
    try:
        import xacro
    except ImportError as err:
        raise SetupError(
            f"{file} needs the module xacro: pip install 'rbt_ros[xacro]', or the xacro of your ROS; or expand it "
            f"elsewhere: xacro {file.name} > {file.name.split('.')[0]}.urdf"
        ) from err
    try:
        return str(xacro.process_file(str(file)).toprettyxml(indent="  "))
    except Exception as err:  # what it raises is not one family
        raise ModelError(f"{file}: xacro cannot expand it: {' '.join(str(err).split())}") from err
