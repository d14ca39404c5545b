"""What must stay with the teacher is searched for, in all that leaves the teacher's hands."""

import gzip
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from dulwich.objects import Blob
from dulwich.repo import Repo

from instructor.classroom import load_workshops
from instructor.release import build, release
from instructor.report.exports import EXPORTS, score, write_exports
from instructor.report.model import report_from_json
from lab.workshop import Workshop, workshop_ids
from tests.kit.command import COURSE
from tests.kit.conftest import NOW
from tests.kit.instructor.benches import bench_with, findings
from tests.kit.instructor.hidden import as_read, case_texts, secrets, shown_in

GOLDEN = Path(__file__).resolve().parents[1] / "golden"


@pytest.fixture(scope="module")
def workshops() -> list[Workshop]:
    return load_workshops(tuple(workshop_ids(COURSE)))


@pytest.fixture(scope="module")
def hidden(workshops: list[Workshop]) -> set[str]:
    return secrets(workshops)


def test_a_release_of_all_workshops_holds_nothing_hidden(
    workshops: list[Workshop], hidden: set[str], tmp_path: Path
) -> None:
    """Every file as it is, every cell of a notebook, and every object of its repository."""
    release(workshops, tmp_path / "pair", NOW)

    files = [path for path in (tmp_path / "pair").rglob("*") if path.is_file()]
    found = [path.read_bytes().decode(errors="replace") for path in files]
    found += [cell for path in files if path.suffix == ".ipynb" for cell in cells(path)]
    with Repo(str(tmp_path / "pair")) as repository:
        objects = [repository[name] for name in repository.object_store]
        found += [o.data.decode(errors="replace") for o in objects if isinstance(o, Blob)]
    assert len(hidden) > 900
    assert sum(map(len, found)) > 500_000
    assert shown_in(as_read("\n".join(found)), hidden) == []


def test_no_export_holds_anything_hidden(
    workshops: list[Workshop], hidden: set[str], tmp_path: Path
) -> None:
    read = [json.loads(path.read_text(encoding="utf-8")) for path in GOLDEN.iterdir()]
    reports = [report_from_json(data) for data in read]
    folders = {made.submission: made.submission for made in reports}
    environment = {"GITHUB_STEP_SUMMARY": str(tmp_path / "summary.md"), "CLASSROOM": "x"}

    book = score(reports, folders, tuple(workshops), environment=environment)

    paths = write_exports(EXPORTS, book, tmp_path)

    assert {path.relative_to(tmp_path).parts[0] for path in paths} >= set(EXPORTS)
    text = "\n".join(p.read_text(encoding="utf-8") for p in tmp_path.rglob("*.*"))
    assert "Your tests would not notice a gate that" in text
    assert shown_in(as_read(text), hidden) == []


# Looks at whatever its process can reach, and writes it down where the test finds it.
WALK = """
import gc, gzip, itertools, json, os, sys, types
from pathlib import Path

OUT = Path({out!r})
LOOKS = itertools.count()


def walk():
    gc.unfreeze()
    frame, frames = sys._getframe(), []
    while frame:
        frames.append(frame)
        frame = frame.f_back
    todo = [frames, dict(os.environ), sys.argv, sys.modules, gc.get_objects()]
    seen, texts, rows = set(), set(), []
    while todo:
        one = todo.pop()
        if isinstance(one, (str, bytes, bytearray)):
            texts.add(one if isinstance(one, str) else bytes(one).decode(errors="replace"))
        elif id(one) not in seen:
            seen.add(id(one))
            if isinstance(one, dict) and ("document" in one or "remote" in one):
                rows.append([str(key) for key in one])
            more = [one.co_consts, one.co_filename] if isinstance(one, types.CodeType) else []
            todo += [*gc.get_referents(one), *more]
    places = [os.getcwd(), Path(os.environ["HOME"]).parent]
    files = [path for place in places for path in Path(place).rglob("*") if path.is_file()]
    files += [Path("/proc/self") / name for name in ("cmdline", "environ")]
    links = Path("/proc/self/fd")
    texts |= {{os.readlink(link) for link in links.iterdir() if link.is_symlink()}}
    files += [link for link in links.iterdir() if link.is_file()]
    texts |= {{path.read_bytes().decode(errors="replace") for path in files if path.exists()}}
    found = {{"texts": sorted(texts), "rows": rows, "files": [str(path) for path in files]}}
    found["number"] = next(LOOKS)
    name = f"{{os.getpid()}} {{found['number']}}"
    with gzip.open(OUT / name, "wt", encoding="utf-8", errors="replace") as file:
        json.dump(found, file)
"""
GATE = (
    WALK
    + """
class PlanRejected(ValueError):
    pass


def load_plan(path):
    return json.loads(Path(path).read_text())


def gate_plan(plan, inventory=None):
    walk()
    raise PlanRejected("step_1 account_id")
"""
)
SUITE = (
    WALK
    + """
from lab.plan_gate import gate_plan, load_plan


def test_the_sourced_plan_is_accepted_and_the_process_looked_at():
    try:
        said = gate_plan(load_plan(Path("fixtures/plan_gate/valid_plan.json")))
    finally:
        walk()
    assert said["status"] == "dry_run_accepted"
"""
)


def walked(out: Path) -> list[dict[str, Any]]:
    return [json.loads(gzip.decompress(path.read_bytes())) for path in sorted(out.iterdir())]


@pytest.mark.usefixtures("limits_only")
def test_a_gate_finds_its_own_input_in_the_sandbox_and_nothing_else(
    workshop: Workshop, hidden: set[str], tmp_path: Path
) -> None:
    """It looks through its process's memory, environment, arguments and open files.

    And through its workspace and scratch folder. The file system outside of them is not contained
    yet, so it is not looked at here.
    """
    (out := tmp_path / "out").mkdir()
    files = {workshop.gate.file: GATE.format(out=str(out))}
    bench = bench_with(workshop, tmp_path, files, build)
    cases = tuple(c for c in bench.answers.cases if c.id in ("bindings-05", "bindings-07"))
    bench.answers = replace(bench.answers, cases=cases)
    bench.seconds = 100

    findings(bench, "cases")

    first, second = (case_texts(case) for case in cases)
    assert first - second
    assert second - first
    dumps = walked(out)
    own = [set(shown_in("\n".join(dump["texts"]), hidden)) for dump in dumps]
    # Two processes meet the two inputs in opposite orders; neither has an input that is to come.
    assert len(own) == 6
    begun = [found for found, dump in zip(own, dumps, strict=True) if dump["number"] == 0]
    assert sorted(begun, key=len) == sorted([first, second], key=len)
    assert all(found <= first | second for found in own)
    keys = {key for dump in dumps for row in dump["rows"] for key in row}
    assert keys == {"id", "document", "named"}
    assert all(any(name.endswith("lab/plan_gate.py") for name in dump["files"]) for dump in dumps)


@pytest.mark.usefixtures("limits_only")
def test_a_suite_finds_no_gate_of_ours_in_the_sandbox(
    workshop: Workshop, hidden: set[str], tmp_path: Path
) -> None:
    """It runs on the reference and on a wrong gate, and looks where the gate above looks."""
    (out := tmp_path / "out").mkdir()
    files = {"tests/test_plan_gate.py": SUITE.format(out=str(out))}
    bench = bench_with(workshop, tmp_path, files, build)
    wrong = [gate for gate in bench.answers.wrong_gates if gate.id == "refuses-everything"]
    bench.answers = replace(bench.answers, wrong_gates=tuple(wrong), rewrites=())
    bench.seconds = 100

    said = findings(bench, "wrong_gates")

    assert said["tests.reference"].outcome == "pass", said["tests.reference"].found
    dumps = walked(out)
    assert len(dumps) == 4  # the reference is asked three times
    assert not any(shown_in("\n".join(dump["texts"]), hidden) for dump in dumps)
    assert all("dry_run_accepted" in dump["texts"] for dump in dumps)
    assert {key for dump in dumps for row in dump["rows"] for key in row} >= {"id", "remote"}


def cells(path: Path) -> list[str]:
    rows = json.loads(path.read_text(encoding="utf-8"))["cells"]
    return ["".join(row["source"]) for row in rows]
