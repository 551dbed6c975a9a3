"""Where the package's own files are: launch, config, urdf."""

from pathlib import Path

from rbt_ros.errors import SetupError


def share(*parts: str) -> Path:
    """The path of a file that ships with the package, `share("config", "cubesat.yaml")`.

    From a source tree (also an editable install and `colcon build --symlink-install`) it is the tree itself; from an
    installed package it is `<prefix>/share/rbt_ros`, whatever the prefix (venv, colcon install folder, /usr).
    """
    package = Path(__file__).resolve().parent
    roots = [package.parent, *(above / "share" / "rbt_ros" for above in package.parents)]
    for root in roots:
        if (root / "package.xml").is_file():
            return root.joinpath(*parts)
    raise SetupError(
        f"the files of rbt_ros (launch, config, urdf) are not beside {package} nor in <prefix>/share/rbt_ros. "
        "Was the package copied by hand? Install it again: pip install rbt_ros"
    )
