"""Files: where the package's own ones are (launch, config, urdf), and results that cannot be written."""

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

from rbt_ros.errors import ModelError, RbtError, ScenarioError, SetupError

MOST_BYTES = 1 << 24  # of a text that somebody wrote
KINDS = {stat.S_IFDIR: "a folder", stat.S_IFIFO: "a pipe", stat.S_IFSOCK: "a socket"}


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
    path = as_path(name, "file", ScenarioError)
    return path.suffix in (".mcap", ".db3", ".bag") or os.path.isdir(path)


def as_path(file: Any, what: str, error: type[RbtError] = ModelError) -> Path:
    """`file` as a path, ~ expanded; an `error` where it is none."""
    try:
        return Path(file).expanduser()
    except (TypeError, RuntimeError) as err:  # RuntimeError: ~ of nobody
        raise error(f"{what}: {file!r:.80} is no path of a file.") from err


def content_of(path: Path, what: str, error: type[RbtError], most: int = MOST_BYTES) -> bytes:
    """What is in the file `path`, a `what` ("a scenario YAML"); an `error` where it has more than `most` bytes."""
    try:
        with opened(path, what, error) as file:
            if (size := os.fstat(file.fileno()).st_size) > most:
                raise error(f"{path!s:.200} has {size} bytes; {what} has {most} at most.")
            return file.read(size or most)  # as much memory is taken as is asked for; files of /proc have no size
    except OSError as err:
        raise error(f"{path!s:.200} cannot be read ({err.strerror}); give the path of {what}.") from err


def opened(path: Path, what: str, error: type[RbtError]) -> BinaryIO:
    """The file `path`, which is a `what`, open; an `error` where it is none, as a pipe, which would be waited for."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError as err:
        raise error(f"there is no file {path!s:.200}; give the path of {what}.") from err
    except (OSError, ValueError) as err:  # ValueError: a path with a zero byte in it
        why = err.strerror if isinstance(err, OSError) else err
        raise error(f"{path!s:.200} cannot be read ({why}); give the path of {what}.") from err
    if not stat.S_ISREG(mode := os.fstat(handle).st_mode):
        os.close(handle)
        kind = KINDS.get(stat.S_IFMT(mode), "a device")
        raise error(f"{path!s:.200} is no file but {kind}; give the path of {what}.")
    return open(handle, "rb")


@contextmanager
def writing(path: Any) -> Iterator[None]:
    """Around what writes the file `path`: a ScenarioError where that fails, or where it is a pipe or a device.

    A pipe would be waited for, and of devices archives read on for ever.
    """
    try:
        file = as_path(path, "file", ScenarioError) if isinstance(path, str | os.PathLike) else None
        if file and os.path.exists(file) and not os.path.isdir(file) and not os.path.isfile(file):
            kind = KINDS.get(stat.S_IFMT(os.stat(file).st_mode), "a device")
            raise ScenarioError(f"{path!s:.200} cannot be written: it is {kind}, no regular file; name another one.")
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
