"""Files: where the package's own ones are (launch, config, urdf), and results that cannot be written."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from rbt_ros.errors import ModelError, RbtError, ScenarioError, SetupError


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


def looks_like_bag(name: str) -> bool:
    """Whether a name on the command line is that of a bag, not of a scenario."""
    path = Path(name).expanduser()
    return path.suffix in (".mcap", ".db3", ".bag") or path.is_dir()


def as_path(file: Any, what: str, error: type[RbtError] = ModelError) -> Path:
    """`file` as a path, ~ expanded; an `error` where it is none."""
    try:
        return Path(file).expanduser()
    except (TypeError, RuntimeError) as err:  # RuntimeError: ~ of nobody
        raise error(f"{what}: {file!r:.80} is no path of a file.") from err


@contextmanager
def writing(path: Any) -> Iterator[None]:
    """Around what writes the file `path`: a ScenarioError where that fails."""
    try:
        yield
    except (OSError, TypeError, ValueError) as err:  # ValueError: figures in a format that matplotlib does not know
        why = err.strerror if isinstance(err, OSError) else err
        raise ScenarioError(f"{path!s:.200} cannot be written ({why}); give a file in a folder that exists.") from err


def made_folder(path: Path) -> Path:
    """The folder `path`, made where it is not there. Ask before a long computation, not behind it."""
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as err:
        raise ScenarioError(f"the folder {path} cannot be made ({err.strerror}); give another one: --out DIR") from err
    return path
