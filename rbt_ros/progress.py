"""What tells a person in a terminal that work goes on."""

import sys

WIDTH = 40


def show_progress(fraction: float) -> None:
    """A bar on one line, which goes when all is done."""
    if fraction >= 1.0:
        clear_progress()
        return
    done = int(fraction * WIDTH)
    sys.stderr.write(f"\r[{'#' * done}{'.' * (WIDTH - done)}] {100 * fraction:3.0f} %")
    sys.stderr.flush()


def clear_progress() -> None:
    """Leave an empty line."""
    sys.stderr.write("\r\x1b[K")
    sys.stderr.flush()
