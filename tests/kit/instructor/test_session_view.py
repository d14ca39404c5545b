"""What the pages of a session are told: words, ends, notes, and a board without names."""

import json
from typing import Any

import pytest

from instructor.classroom import load_workshops
from instructor.session.board_view import Numbers, board_view
from instructor.session.clock import whole_minutes
from instructor.session.notes import notes_of, parts_of, sections_of
from instructor.session.plan import plan_of
from instructor.session.view import minutes_text, notice, over_text, teacher_view, view_of
from lab.workshop import Workshop, workshop_ids
from tests.kit.command import COURSE
from tests.kit.instructor.rooms import NOON, after, clock
from tests.kit.instructor.served import board_of, pair

WORKSHOPS = load_workshops(tuple(workshop_ids(COURSE)))
NUMBERS = Numbers(b"salt")


@pytest.mark.parametrize(
    ("script", "at", "text"),
    [
        ("0 start", "10:59", "On plan"),
        ("0 start", "11", "1 minute over"),
        ("0 start", "12", "2 minutes over"),
        ("0 start, 9:01 next", "9:01", "On plan"),
        ("0 start, 9 next", "9", "1 minute in hand"),
        ("0 start, 5 next", "5", "5 minutes in hand"),
    ],
)
def test_on_plan_or_not_is_said_in_words(script: str, at: str, text: str) -> None:
    assert over_text(after(script, at)) == text


@pytest.mark.parametrize(
    ("script", "at", "text"),
    [
        ("", "0", ""),
        ("0 start", "4:59", ""),
        ("0 start", "5", "5 minutes left"),
        ("0 start", "9", "1 minute left"),
        ("0 start", "10", "Time is up"),
        ("0 start", "15", "Time is up"),
        ("0 start, 0 minutes -6", "0", ""),  # four minutes are no news when there were no more
        ("0 start, 10 end", "10", ""),
    ],
)
def test_that_minutes_run_out_is_said_at_three_points(script: str, at: str, text: str) -> None:
    assert notice(after(script, at)) == text


def test_the_timeline_is_what_was_what_is_and_what_comes_without_a_gap() -> None:
    state = after("0 start, 4 pause, 6 resume, 12 next", "15")

    rows = view_of(state, state.now)["timeline"]

    def minutes(stamp: int) -> float:
        return (stamp / 1000 - NOON.timestamp()) / 60

    spans = [(row["block"], row["kind"], minutes(row["from"]), minutes(row["to"])) for row in rows]
    assert spans == [
        (0, "done", 0, 4),
        (0, "pause", 4, 6),
        (0, "done", 6, 12),
        (1, "now", 12, 32),
        (2, "next", 32, 42),
    ]


def test_a_session_that_is_over_has_nothing_to_come_and_no_proposal() -> None:
    state = after("0 start, 10 next, 45 next, 60 end", "90")

    view = view_of(state, NOON + clock("90"))

    assert [row["kind"] for row in view["timeline"]] == ["done", "done", "done"]
    assert (view["proposal"], view["cue"], view["next"]) == (None, None, None)
    assert view["over_text"] == "20 minutes over"


def test_the_teacher_sees_every_cue_with_its_time_and_every_cut_with_its_state() -> None:
    state = after("0 start, 12 cut 1, 12 decline 3", "12")

    view = teacher_view(state, state.now)

    assert [cue["due"] for cue in view["cues"]] == [True, True]
    assert [cut["status"] for cut in view["cuts"]] == ["gone", "taken", "gone", "declined"]
    assert [cut["frees"] for cut in view["cuts"]] == ["", "", "", "6 minutes"]


@pytest.mark.parametrize(
    ("seconds", "text"),
    [("0:00", "0 minutes"), ("1:00", "1 minute"), ("1:29", "1.5 minutes"), ("15", "15 minutes")],
)
def test_minutes_are_said_to_the_half(seconds: str, text: str) -> None:
    assert minutes_text(clock(seconds)) == text


# --- Notes ----------------------------------------------------------------------------------------
@pytest.mark.parametrize("workshop", WORKSHOPS, ids=lambda workshop: workshop.id)
def test_the_notes_of_every_block_belong_to_it(workshop: Workshop) -> None:
    """The minutes in a heading are those of its block, so no section has slipped to another."""
    plan = plan_of(workshop)
    notes = notes_of(workshop.id, [block.id for block in plan.blocks])

    assert list(notes["blocks"]) == [block.id for block in plan.blocks]
    for place, block in enumerate(plan.blocks):
        span = f"({plan.begins(place)} to {plan.begins(place + 1)})"
        assert span in notes["blocks"][block.id]["heading"]
        assert notes["blocks"][block.id]["items"]


def test_notes_with_another_number_of_blocks_are_shown_all_and_placed_nowhere() -> None:
    notes = notes_of(WORKSHOPS[0].id, ["one", "two"])

    assert notes["blocks"] == {}
    assert len(notes["others"]) > 5
    assert notes_of("no_such", ["one"]) == {"blocks": {}, "others": []}


def test_notes_are_text_with_emphasis_and_nothing_else() -> None:
    text = "# A\n\nOne\ntwo `x*y`.\n\n- **Ask**: <b>why</b>\n  and how\n- **open\n\n## B\n"

    sections = sections_of(text)

    assert [section["heading"] for section in sections] == ["A", "B"]
    items = sections[0]["items"]
    assert [item["point"] for item in items] == [False, True, True]
    assert items[1]["parts"] == [
        {"kind": "strong", "text": "Ask"},
        {"kind": "text", "text": ": <b>why</b> and how"},
    ]
    assert parts_of("**open") == [{"kind": "text", "text": "**open"}]


# --- The board ------------------------------------------------------------------------------------
LATEST = {"check": "gate", "found": "pair_1 is in pair_10/lab", "expected": "", "next": ""}


def shown(*pairs: dict[str, Any], names: bool = False) -> dict[str, Any]:
    return board_view(board_of(*pairs), Numbers(b"salt"), names=names)


def test_without_names_no_name_is_anywhere_in_what_is_sent() -> None:
    pairs = [pair(f"pair_{number}", "fail", latest=LATEST) for number in range(12)]
    pairs.append(pair('é"\\name', "fail", latest={**LATEST, "found": 'of é"\\name'}))

    view = shown(*pairs)

    text = json.dumps(view, ensure_ascii=False)
    assert "pair_" not in text
    assert "name" not in text.replace('"name"', "").replace('"named"', "")
    assert [row["name"] for row in view["rows"]] == [f"Pair {n}" for n in range(1, 14)]
    assert "pair_10" in json.dumps(shown(*pairs, names=True))


@pytest.mark.parametrize("name", ["n", "u", "l", "found", "check", "1", "Pair", "Pair 1", "a\\b.*"])
@pytest.mark.parametrize("latest", [None, LATEST])
def test_no_name_of_a_pair_changes_more_than_the_words_of_a_check(
    name: str, latest: dict[str, str] | None
) -> None:
    found = f"{name}, or pair_1 and pair_10."
    pairs = [pair(other, "fail", latest=None) for other in ("pair_1", "pair_10")]
    pairs.append(pair(name, "fail", latest=latest and {**latest, "found": found}))

    view = shown(*pairs)

    assert [row["name"] for row in view["rows"]] == ["Pair 1", "Pair 2", "Pair 3"]
    numbers = Numbers(b"salt").of([own["name"] for own in pairs])
    (own,) = (row["latest"] for row in view["rows"] if row["number"] == numbers[name])
    if latest is None:
        assert own is None
    else:
        assert own.keys() == latest.keys()
        said = [f"Pair {numbers[other]}" for other in (name, "pair_1", "pair_10")]
        if name not in {"n", "u", "l", "1"}:  # a name of one letter is hidden in every word
            assert own["found"] == "{}, or {} and {}.".format(*said)
        assert own["found"].startswith(said[0])


def test_a_number_says_nothing_of_the_alphabet_and_stays() -> None:
    names = [f"pair_{letter}" for letter in "abcdefghij"]
    numbers = Numbers(b"salt")
    before = numbers.of(names)
    after_ = numbers.of([*names, "aaa"])

    assert [before[name] for name in names] != list(range(1, 11))
    assert {name: after_[name] for name in names} == before
    assert after_["aaa"] == 11
    assert Numbers(b"salt").of(names) == before


def test_a_cell_has_a_mark_and_a_word_and_what_is_unknown_is_an_error() -> None:
    view = shown(pair("a", "pass", "later"), pair("b", "fail", "blocked", "error"))

    words = sorted(cell["word"] for row in view["rows"] for cell in row["cells"])
    assert words == [
        "could not be judged",
        "could not be judged",
        "not yet",
        "nothing there yet",
        "reached",
        "waits for an earlier block",
    ]
    assert [column["reached"] for column in view["columns"]] == [1, 0, 0]


def test_over_minutes_are_whole() -> None:
    assert whole_minutes(clock("1:59")) == 1
    assert whole_minutes(-clock("1:59")) == -1
