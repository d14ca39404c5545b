"""Unpack one zip or fetch one repository into a folder: a program of its own, within limits.

``python -m instructor.intake.fetch`` reads one JSON request on standard input (``kind``, ``place``,
``target``, ``limits``) and answers with one on standard output: ``remarks``, and ``problem`` with
its ``outcome`` where there is nothing to judge. An address may hold a password, so it is neither
an argument nor part of an answer.
"""

import json
import sys
from dataclasses import asdict
from pathlib import Path

from instructor.intake.landing import Snapshot
from instructor.intake.unzip import Unusable, unzip
from instructor.sandbox.confine import confine, die_with_parent


def main() -> None:
    """Do what one request asks for, and answer it."""
    die_with_parent()
    request = json.load(sys.stdin)
    # It has to reach the network, and runs no line of what it brings.
    confine(request["limits"], None)
    snapshot = Snapshot(Path(request["target"]))
    said = (
        _unzip(request["place"], snapshot)
        if request["kind"] == "zip"
        else _clone(request["place"], snapshot)
    )
    print(json.dumps({"remarks": [asdict(remark) for remark in snapshot.remarks], **said}))


def _unzip(place: str, snapshot: Snapshot) -> dict[str, str]:
    try:
        unzip(Path(place), snapshot)
    except Unusable as error:
        return {"problem": str(error), "outcome": "fail"}
    return {}


def _clone(place: str, snapshot: Snapshot) -> dict[str, str]:
    # A zip needs none of this, and it takes a while to import.
    from instructor.intake.clone import Unreachable, clone

    try:
        clone(place, snapshot)
    except Unusable as error:
        return {"problem": str(error), "outcome": "fail"}
    except Unreachable as error:
        return {"problem": str(error), "outcome": "error"}
    return {}


if __name__ == "__main__":
    main()
