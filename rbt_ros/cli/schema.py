"""`rbt schema`: what a scenario file may hold, for editors and for the documentation."""

import argparse
import json


def add(parser: argparse.ArgumentParser) -> None:
    """Its arguments."""
    parser.description = (
        "Print the JSON Schema (draft 2020-12) of scenario files, with which editors complete and check them: "
        "rbt schema > scenario.schema.json. docs/scenario.md has how an editor is told."
    )
    parser.add_argument("--tables", action="store_true", help="print the tables of docs/scenario.md instead")


def run(arguments: argparse.Namespace, rest: list[str]) -> int:
    """Print it."""
    from rbt_ros.model.scenario import KEYS
    from rbt_ros.model.schema import json_schema, tables

    schema = json_schema(KEYS, "Scenario of rbt_ros")
    print(tables(schema) if arguments.tables else json.dumps(schema, indent=2, ensure_ascii=False))
    return 0
