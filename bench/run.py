"""`make bench [ONLY=key,...]`: measure, print, and keep in bench/results.json what a run measured.

Ratios are taken within one run, jobs interleaved: machines are shared and noisy, absolute numbers are not comparable.
"""

import importlib
import json
import os
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from harness import Group, Missing, Row, machine

RESULTS = Path(__file__).with_name("results.json")
MODULES = (
    "engine",
    "loops",
    "locks",
    "folding",
    "formulations",
    "forward",
    "solution",
    "laboratory",
    "mass",
    "node_loop",
    "node_commands",
    "bags",
    "view",
    "playback",
    "node_actions",
    "node_hil",
)


def main() -> int:
    """Run what ONLY names, or all."""
    groups: list[Group] = [group for name in MODULES for group in importlib.import_module(name).GROUPS]
    known = [key for group in groups for key in group.keys]
    if sys.argv[1:]:
        print(f"{__doc__}\nKeys: {', '.join(known)}")
        return 0 if sys.argv[1] in ("-h", "--help") else 2
    wanted = {key for key in os.environ.get("ONLY", "").split(",") if key} or set(known)
    if unknown := wanted - set(known):
        print(f"bench: no key {', '.join(sorted(unknown))}; there are {', '.join(known)}", file=sys.stderr)
        return 2
    results = json.loads(RESULTS.read_text(encoding="utf-8")) if RESULTS.is_file() else {}
    results["machine"] = machine()
    print(f"{'key':<22}{'value':>9}{'ours':>12}{'peer':>12}  unit", flush=True)
    for group in groups:
        if wanted.isdisjoint(group.keys):
            continue
        start = time.monotonic()
        try:
            rows = group.run(wanted & set(group.keys))
        except Missing as err:
            print(f"{', '.join(sorted(wanted & set(group.keys)))}: left out, {err}", flush=True)
            continue
        for key, row in rows.items():
            results[key] = row._asdict()
            print_row(key, row)
        print(f"  ({time.monotonic() - start:.0f} s)", flush=True)
        RESULTS.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
    return 0


def print_row(key: str, row: Row) -> None:
    """One line, and its note below."""
    ours, peer = (f"{x:12.4g}" if x is not None else f"{'-':>12}" for x in (row.ours, row.peer))
    print(f"{key:<22}{row.value:9.3g}{ours}{peer}  {row.unit}", flush=True)
    if row.note:
        print(f"    {row.note}")


if __name__ == "__main__":
    sys.exit(main())
