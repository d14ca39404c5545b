"""A quick look at a pair's files says what grading says, whatever lies there."""

import json
import os
from collections.abc import Sequence
from pathlib import Path
from shutil import copyfile, copytree, rmtree

import pytest

from instructor.answer_key import load_answer_key
from instructor.classroom import build_pair, load_pairs
from instructor.evidence import Bench
from instructor.history import QUICK
from instructor.intake import landing
from instructor.intake.landing import MAX_DEPTH, MAX_FILES
from instructor.judging import judge_evidence
from instructor.report.model import write_text
from instructor.session import memory, quick
from instructor.session.mirror import Mirror, sources
from instructor.session.quick import Look, Seen, look
from instructor.submission import take_snapshot
from lab.workshop import Evidence, Workshop
from tests.kit.conftest import NOW
from tests.kit.instructor.benches import GATE, TESTS, Change, append, nest, write

SCHEMA = "lab/agent_plan.schema.json"


class Pair:
    """A pair's folder, looked at again and again; ``ran`` lists the suites of the last look."""

    def __init__(self, folder: Path, place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.folder = folder
        self.ran: list[str] = []
        self._place = place
        run = quick.run_parts

        def counted(bench: Bench, suites: Sequence[Evidence], apart: set[str]) -> object:
            self.ran += [item.id for item in suites]
            return run(bench, suites, apart)

        monkeypatch.setattr(quick, "run_parts", counted)

    def look(self, *changes: Change, known: tuple[str, ...] = (), seconds: float = 5.0) -> Seen:
        for change in changes:
            change(self.folder)
        self.ran.clear()
        return look(Look(self.folder, "plan_gate", self._place / "pair", known, seconds))


@pytest.fixture
def pair(finished: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Pair:
    return Pair(finished, tmp_path / "board", monkeypatch)


def not_passed(seen: Seen) -> dict[str, str]:
    return {block: outcome for block, outcome in seen.outcomes.items() if outcome != "pass"}


# What is not there


def test_a_folder_that_is_gone_is_missing_and_nobody_is_to_blame(pair: Pair) -> None:
    rmtree(pair.folder)

    seen = pair.look()

    assert (seen.missing, seen.trouble) == (True, "There is no such folder now.")


def test_a_folder_without_the_workshop_says_so(pair: Pair) -> None:
    seen = pair.look(lambda root: [rmtree(root / f) for f in ("lab", "notebooks", "fixtures")])

    assert (seen.missing, seen.trouble) == (True, "The folder holds nothing of plan_gate.")


def test_what_cannot_be_looked_at_is_an_error_with_its_reason(
    pair: Pair, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Mirror, "update", fail)

    seen = pair.look()

    assert not seen.missing
    assert seen.trouble.startswith("It could not be looked at: PermissionError")


# What is hostile


def test_a_link_is_not_followed_and_a_huge_file_is_not_read(pair: Pair, tmp_path: Path) -> None:
    secret = tmp_path / "secret.py"
    secret.write_text((pair.folder / GATE).read_text())

    def link(root: Path) -> None:
        (root / GATE).unlink()
        (root / GATE).symlink_to(secret)
        os.truncate(root / SCHEMA, 50_000_000)

    assert {"contract", "validator"} <= not_passed(pair.look(link)).keys()


def test_thousands_of_files_crowd_nothing_out(pair: Pair, tmp_path: Path) -> None:
    def fill(root: Path) -> None:
        (root / "more").mkdir()
        for number in range(MAX_FILES + 50):
            (root / "more" / f"{number}.txt").touch()

    assert not not_passed(pair.look(fill))
    assert len(list((tmp_path / "board" / "pair" / "mirror").rglob("*.txt"))) < MAX_FILES


def test_half_a_file_is_red_and_says_where(pair: Pair) -> None:
    seen = pair.look(lambda root: os.truncate(root / SCHEMA, 200))

    assert not_passed(seen)["contract"] == "fail"
    assert seen.latest
    assert "agent_plan.schema.json" in seen.latest["found"]


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("\n\ndef gate_plan(*_, **__):\n    while True: pass\n", "not done after 0.4 seconds"),
        ("\n\nimport os\ndef gate_plan(*_, **__): os._exit(0)\n", "ended Python itself"),
    ],
)
def test_a_gate_that_does_not_come_to_its_end_is_red_alone(
    pair: Pair, code: str, said: str
) -> None:
    seen = pair.look(append(GATE, code), seconds=0.4)

    assert not_passed(seen).keys() == {"validator", "tests", "break", "debrief"}
    assert seen.latest
    assert said in seen.latest["found"]


def test_a_gate_that_changes_files_changes_no_other_finding_and_none_later(pair: Pair) -> None:
    fixture = "fixtures/plan_gate/rounded_credit_plan.json"
    pair.look(write(fixture, "{}"))
    forged = (
        "\n\nfrom pathlib import Path\n"
        f"Path({fixture!r}).write_text(Path('fixtures/plan_gate/valid_plan.json').read_text())\n"
        f"Path({SCHEMA!r}).unlink()\nPath('lab/inventory.py').write_text('')\n"
    )

    seen = pair.look(append(GATE, forged))

    assert seen.outcomes["contract"] == "pass"
    assert seen.outcomes["break"] in {"fail", "blocked"}
    assert not not_passed(
        pair.look(
            write(GATE, (pair.folder / GATE).read_text().replace(forged, "")),
            lambda root: copyfile(Path(__file__).parents[3] / fixture, root / fixture),
        )
    )


def test_folders_without_end_that_a_run_left_in_the_copy_are_taken_away(
    pair: Pair, tmp_path: Path
) -> None:
    first = pair.look()
    copy = tmp_path / "board" / "pair" / "mirror" / "workspace"
    nest(copy / "lab", 1_500)
    nest(copy.parent.parent / "scratch", 1_500)

    seen = pair.look()

    assert seen == first
    assert not (copy / "lab" / "d").exists()
    assert not (copy.parent.parent / "scratch").exists()


def test_a_copy_that_a_run_closed_or_replaced_is_made_anew_and_the_old_one_deleted(
    pair: Pair, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = pair.look()
    copy = tmp_path / "board" / "pair" / "mirror" / "workspace"
    copy.chmod(0)
    lay, failed = Mirror._lay, iter(range(1))

    def closed(mirror: Mirror, wanted: object) -> None:
        # Whoever runs this as root may open it all the same.
        if next(failed, None) is not None:
            raise PermissionError(13, "Permission denied")
        lay(mirror, wanted)  # type: ignore[arg-type]

    monkeypatch.setattr(Mirror, "_lay", closed)

    assert pair.look() == first
    assert [path.name for path in copy.parent.iterdir()] == ["workspace"]
    assert copy.stat().st_mode & 0o700 == 0o700


# The same as grading, and no more than is needed


def test_the_copy_holds_what_grading_copies_whatever_is_left_out(
    pair: Pair, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = pair.folder
    for name in ("notebooks", ".github"):  # no quick evidence reads them
        rmtree(root / name)
    used = sum(path.stat().st_size for path in root.rglob("*") if path.is_file())
    monkeypatch.setattr(landing, "MAX_TOTAL_BYTES", used)
    (root / GATE).unlink()
    for name in (GATE, "fixtures/more.json"):
        (root / name / "below").mkdir(parents=True)
        (root / name / "below" / "x").touch()
    (root / "tests" / "z.txt").write_bytes(b" " * used)
    (root / "link").symlink_to("README.md")
    nest(root / "tests", MAX_DEPTH)
    for folder, _, _ in os.walk(root / "tests"):
        Path(folder, "y").touch()

    copied = take_snapshot(root, tmp_path / "snapshot", []).path

    kept = {p.relative_to(copied).as_posix() for p in copied.rglob("*") if p.is_file()}
    assert set(sources(root, {})) == kept
    assert {"README.md", "tests/y", "tests" + (MAX_DEPTH - 1) * "/d" + "/y"} <= kept
    assert not kept & {f"{GATE}/below/x", "tests/z.txt", "tests" + MAX_DEPTH * "/d" + "/y"}


@pytest.mark.parametrize("name", ["stuck_after_block_2", "binding_check_not_wired"])
def test_a_look_finds_what_grading_finds_with_the_same_evidence(
    name: str, workshop: Workshop, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pairs = load_pairs()
    folder = tmp_path / "handed-in"
    build_pair(next(pair for pair in pairs if pair.name == name), pairs, folder, NOW)
    snapshot = take_snapshot(folder, tmp_path / "graded" / "snapshot", [workshop])
    bench = Bench(workshop, load_answer_key(workshop), snapshot.path, tmp_path / "graded")

    graded = judge_evidence(workshop, bench, QUICK)
    found: dict[str, object] = {}
    monkeypatch.setattr(quick, "_seen", lambda digest, _, own: found.update(own) or Seen(digest))
    Pair(folder, tmp_path / "board", monkeypatch).look()

    assert found == graded


def test_only_suites_that_read_what_was_saved_are_run_again(pair: Pair) -> None:
    assert not not_passed(pair.look())
    assert len(pair.ran) == 7

    pair.look(append(GATE, "\n# saved\n"))
    assert pair.ran == ["validator.visible", "tests.own", "break.visible", "debrief.visible"]
    pair.look(append("fixtures/plan_gate/limits.json", "\n"))
    assert pair.ran == ["debrief.visible"]
    pair.look(append(TESTS, "\n# saved\n"))
    assert pair.ran == ["tests.own"]
    pair.look(append("README.md", "\n"))
    assert not pair.ran


def test_a_suite_is_red_when_a_file_that_it_has_read_is_taken_away(pair: Pair) -> None:
    pair.look()

    seen = pair.look(lambda root: (root / "fixtures/plan_gate/limits.json").unlink())

    assert not_passed(seen) == {"debrief": "fail"}


def test_files_that_were_seen_before_are_not_judged_again(pair: Pair) -> None:
    digest = pair.look().digest

    assert pair.look(known=(digest,)) == Seen(digest)
    assert not pair.ran


def test_files_that_were_seen_before_are_laid_down_once(
    pair: Pair, monkeypatch: pytest.MonkeyPatch
) -> None:
    readme = (pair.folder / "README.md").read_text()
    known = (pair.look().digest, pair.look(append("README.md", "\n")).digest)
    pair.look(write("README.md", readme), known=known)
    copied: list[Path] = []
    copy = Mirror._copy

    def counted(path: Path, *given: object) -> object:
        copied.append(path)
        return copy(path, *given)  # type: ignore[arg-type]

    monkeypatch.setattr(Mirror, "_copy", staticmethod(counted))

    assert pair.look(known=known) == Seen(known[0])
    assert not copied
    assert pair.look(append("README.md", "\n"), known=known) == Seen(known[1])
    assert copied == [pair.folder / "README.md"]


def test_no_two_processes_write_to_one_file_at_once(
    pair: Pair, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each has its own until it is whole, also of what all pairs share."""
    written: list[Path] = []

    def noted(path: Path, text: str) -> None:
        written.append(path)
        write_text(path, text)

    monkeypatch.setattr(memory, "write_text", noted)
    shared = tmp_path / "board" / "memory.json"
    pair.look()
    assert json.loads(shared.read_text())["found"]
    shared.unlink()
    look(Look(pair.folder, "plan_gate", tmp_path / "board" / "other"))

    assert json.loads(shared.read_text())["laid"] == {}
    assert len(written) == len(set(written)) == 4


def test_what_was_found_in_one_pairs_files_holds_for_the_same_files_of_another(
    pair: Pair, tmp_path: Path
) -> None:
    first = pair.look()
    copytree(pair.folder, tmp_path / "other")
    pair.ran.clear()

    second = look(Look(tmp_path / "other", "plan_gate", tmp_path / "board" / "other"))

    assert second == first
    assert not pair.ran


def test_files_that_change_during_a_look_are_left_to_the_next_one(
    pair: Pair, monkeypatch: pytest.MonkeyPatch
) -> None:
    judge = quick._judge

    def saves(*given: object) -> object:
        append(GATE, "\n\ndef gate_plan(*_, **__): return None\n")(pair.folder)
        return judge(*given)  # type: ignore[arg-type]

    with monkeypatch.context() as patched:
        patched.setattr(quick, "_judge", saves)
        assert not not_passed(pair.look())

    assert not_passed(pair.look())["validator"] == "fail"
