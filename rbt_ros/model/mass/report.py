"""Mass properties as people and programs want to read them: a table, JSON, URDF."""

import json
from xml.etree import ElementTree as ET

import numpy as np

from rbt_ros.model.mass.properties import MassProperties
from rbt_ros.model.urdf import inertial_element


def table(props: MassProperties) -> str:
    """Everything, each with its unit, in the axes of the file. Radii of gyration show a wrong unit of length."""
    moments, axes = props.principal()
    lines = [
        _row("mass", "kg", [props.mass]),
        _row("centre of mass", "m", _clean(props.com, props.com)),
        *_tensor("inertia about the CoM", props.inertia),
        *_tensor("inertia about the origin", props.about()),
        _row("principal moments", "kg·m²", moments),
        _row("radii of gyration", "m", _radii(moments, props.mass)),
        *(_row(f"  axis {i + 1}", "-", _clean(axes[:, i], axes)) for i in range(3)),
    ]
    return "\n".join(lines)


def as_json(props: MassProperties) -> str:
    """The same for scripts: SI, 17 digits, tensors by rows, principal axes one by one."""
    moments, axes = props.principal()
    return json.dumps(
        {
            "mass_kg": props.mass,
            "com_m": props.com.tolist(),
            "inertia_com_kg_m2": props.inertia.tolist(),
            "inertia_origin_kg_m2": props.about().tolist(),
            "principal_moments_kg_m2": moments.tolist(),
            "radii_of_gyration_m": _radii(moments, props.mass).tolist(),
            "principal_axes": axes.T.tolist(),
        },
        indent=1,
    )


def urdf_inertial(props: MassProperties) -> str:
    """The <inertial> of a link whose frame is that of the properties."""
    element = inertial_element(*props)
    ET.indent(element)
    return ET.tostring(element, encoding="unicode")


def _radii(moments: np.ndarray, mass: float) -> np.ndarray:
    """√(I/m); the least moment of a rod may be a negative round-off."""
    return np.sqrt(np.maximum(moments, 0.0) / mass)


def _tensor(name: str, tensor: np.ndarray) -> list[str]:
    rows = _clean(tensor, tensor)
    return [_row(name, "kg·m²", rows[0]), _row("", "", rows[1]), _row("", "", rows[2])]


def _row(name: str, unit: str, numbers) -> str:
    label = f"{name} [{unit}]" if unit else ""
    return f"{label:<34}" + "".join(f"{x:>16.9g}" for x in numbers)


def _clean(numbers: np.ndarray, among: np.ndarray) -> np.ndarray:
    """Round-off beside the largest of its kind is shown as 0."""
    return np.where(np.abs(numbers) < 1e-14 * np.abs(among).max(), 0.0, numbers)
