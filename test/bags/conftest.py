"""The command line in this process: as `rbt WORDS` in a folder of its own, without the seconds that a start takes."""

import sys
import warnings
from typing import NamedTuple

import pytest

from rbt_ros import cli


class Done(NamedTuple):
    """What a command came to."""

    code: int
    out: str
    err: str


@pytest.fixture
def run_rbt(tmp_path, monkeypatch, capsys):
    """A function of the words of a command."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(warnings, "showwarning", warnings.showwarning)  # put back behind what `main` sets

    def run(*words):
        monkeypatch.setattr(sys, "argv", ["rbt", *map(str, words)])
        capsys.readouterr()
        with warnings.catch_warnings(), pytest.raises(SystemExit) as end:
            warnings.simplefilter("always")
            cli.main()
        code = end.value.code
        out, err = capsys.readouterr()
        if isinstance(code, str):  # as the interpreter does
            code, err = 1, err + code + "\n"
        assert "Traceback" not in err
        return Done(code or 0, out, err)

    return run
