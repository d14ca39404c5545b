"""The same work gets the same verdict from the coach, from ``lab check``, and from the grader.

Over the whole sample class, for every evidence that a pair can see. The coach looks at one
workspace after the other in one process, as it does when files change under it.
"""

import json
from pathlib import Path

import pytest

from instructor.classroom import build_class, load_pairs, load_workshops
from instructor.judging import judge_evidence
from instructor.release import release
from tests.kit.command import python
from tests.kit.conftest import NOW
from tests.kit.instructor.benches import put_on_bench

NAMES = [pair.name for pair in load_pairs()]
# What the coach and the terminal say about each of the workspaces that are given.
LOOK = """
import contextlib, io, json, sys
from pathlib import Path
import lab
from lab import coach
from lab.__main__ import main
from lab.checks import Checks
from lab.fresh import forget
from lab.workshop import load_workshop, workshop_ids

said = {}
for folder in map(Path, sys.argv[1:]):
    coach.ROOT, lab.__path__[:] = folder, [str(folder / "lab")]
    forget()
    # Two workspaces never meet in one process, but for this one: their test modules share names.
    for test in [test for test in sys.modules if test.startswith("tests.")]:
        del sys.modules[test]
    (name,) = workshop_ids(folder)
    workshop = load_workshop(folder, name)
    checks = Checks(folder, workshop)
    visible = [item for item in workshop.evidence if item.kind == "suite"]
    outcomes = {item.id: checks.outcome(item) for item in visible}
    cards = [coach.check(name, block.id) for block in workshop.all_blocks]
    terminal = []
    for block in workshop.all_blocks:
        with contextlib.redirect_stdout(io.StringIO()) as out:
            code = main(["check", name, block.id])
        terminal.append([code, out.getvalue()])
    lines = [[line.outcome for line in card.lines] for card in cards]
    said[folder.name] = [outcomes, lines, terminal]
print(json.dumps(said))
"""
MARKS = {"✓": "pass", "✗": "fail", "…": "blocked"}


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    target = tmp_path_factory.mktemp("class")
    build_class(target, NOW)
    release(load_workshops(("plan_gate",)), target / "untouched", NOW)
    return target


@pytest.fixture(scope="module")
def said(built: Path) -> dict[str, list]:  # type: ignore[type-arg]
    done = python("-c", LOOK, *map(str, sorted(built.iterdir())), cwd=built)
    assert (done.code, done.err) == (0, ""), done.err
    return dict(json.loads(done.out))


@pytest.mark.parametrize("name", [*NAMES, "untouched"])
def test_coach_terminal_and_grader_agree_on_what_a_pair_can_see(
    name: str,
    built: Path,
    said: dict[str, list],  # type: ignore[type-arg]
    tmp_path: Path,
) -> None:
    outcomes, lines, terminal = said[name]
    pair = next((pair for pair in load_pairs() if pair.name == name), None)
    (workshop,) = load_workshops(pair.workshops if pair else ("plan_gate",))
    bench = put_on_bench(built / name, tmp_path, workshop, seconds=10)

    graded = judge_evidence(workshop, bench, kinds=("suite",))

    assert {item: finding.outcome for item, finding in graded.items()} == outcomes
    # A block's lines are green together exactly where its evidence is.
    for block, shown, (code, text) in zip(workshop.all_blocks, lines, terminal, strict=True):
        own = [e.id for e in workshop.evidence_of(block.id) if e.kind == "suite"]
        assert all(o == "pass" for o in shown) == all(outcomes[e] == "pass" for e in own)
        assert [MARKS[row[2]] for row in text.splitlines() if row[:2] == "  "] == shown
        assert code == int(any(outcome != "pass" for outcome in shown))


def test_the_class_shows_every_verdict(said: dict[str, list]) -> None:  # type: ignore[type-arg]
    found = {outcome for outcomes, _, _ in said.values() for outcome in outcomes.values()}

    assert found == {"pass", "fail", "blocked"}
    assert len(said) == len(NAMES) + 1 == 27
