"""What README says in figures is what there is."""

from instructor.answer_key import load_answer_key
from instructor.classroom import load_pairs, load_workshops
from lab.workshop import workshop_ids
from tests.kit.command import COURSE

README = (COURSE / "README.md").read_text(encoding="utf-8")
WORKSHOPS = load_workshops(tuple(workshop_ids(COURSE)))


def test_the_figures_are_those_of_the_answer_key_and_the_class() -> None:
    keys = [load_answer_key(workshop) for workshop in WORKSHOPS]
    numbers = [len(key.cases) for key in keys]

    shown = f"{sum(numbers)} hidden inputs ({min(numbers)} to {max(numbers)} a workshop)"
    assert shown in README
    assert f"| {sum(len(key.wrong_gates) for key in keys)} gates that are wrong" in README
    assert f"a sample class of {len(load_pairs())} pairs" in README


def test_every_workshop_is_in_the_first_table_with_its_minutes() -> None:
    for workshop in WORKSHOPS:
        assert f"| `{workshop.id}` | {workshop.minutes} | " in README
