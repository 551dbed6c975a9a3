"""Child processes of ours, in Python: files of the user's folder (html.py, queue.py) never stand in for modules.

`python child.py MODULE ARGUMENT...` runs that module as `python -m` does. `-m` itself would look for modules in the
working directory first. Isolation by `-I` is no way out: ROS is found by PYTHONPATH, a workspace of colcon, too.
"""

import contextlib
import os
import sys
from collections.abc import Iterator


def command(module: str, *arguments: object) -> list[str]:
    """The command line that runs a module of ours in another process."""
    return [sys.executable, __file__, module, *map(str, arguments)]


@contextlib.contextmanager
def safe_path() -> Iterator[None]:
    """While it is open, the same for processes of others, as Dask's workers; Python 3.10 cannot do that."""
    before = os.environ.get("PYTHONSAFEPATH")
    os.environ["PYTHONSAFEPATH"] = "1"
    try:
        yield
    finally:
        if before is None:
            del os.environ["PYTHONSAFEPATH"]
        else:
            os.environ["PYTHONSAFEPATH"] = before


def _run() -> None:
    package = os.path.dirname(os.path.abspath(__file__))
    # the working directory comes last: PYTHONPATH has it where an entry there is empty
    with contextlib.suppress(FileNotFoundError):  # it may be gone
        here = os.getcwd()
        sys.path.sort(key=lambda folder: folder in ("", here))
    sys.path[:] = [folder for folder in sys.path if folder != package]  # put there by Python: this script's
    import importlib.util
    import runpy

    # this package, and no other one of its name
    spec = importlib.util.spec_from_file_location("rbt_ros", os.path.join(package, "__init__.py"))
    assert spec is not None and spec.loader is not None
    sys.modules["rbt_ros"] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(sys.modules["rbt_ros"])
    del sys.argv[0]
    runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    _run()
