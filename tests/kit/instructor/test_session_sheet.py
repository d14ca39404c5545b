"""The run sheet: one page, with everything that a session needs and nothing that must not go."""

import html
import re
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from instructor import CourseError
from instructor.classroom import load_workshops
from instructor.commands.times import today_at
from instructor.session.sheet import sheet
from lab.workshop import Cut, Workshop, workshop_ids
from tests.kit.browser import needs_browser, open_browser
from tests.kit.command import COURSE

ONE = datetime(2026, 9, 5, 13, 0, tzinfo=UTC)
WORKSHOPS = load_workshops(tuple(workshop_ids(COURSE)))


@pytest.mark.parametrize("text", ["", "25:00", "13:60", "1pm", "13:00:00", "now"])
def test_what_is_no_time_is_said_so(text: str) -> None:
    with pytest.raises(CourseError, match="as in 13:00"):
        today_at(text, ONE)


def test_a_time_is_that_of_today() -> None:
    assert today_at("9:05", ONE) == ONE.replace(hour=9, minute=5)


@pytest.mark.parametrize("workshop", WORKSHOPS, ids=lambda workshop: workshop.id)
def test_every_block_cue_and_material_is_there_with_its_time(workshop: Workshop) -> None:
    text = sheet(workshop, ONE)

    for block in workshop.blocks:
        assert html.escape(block.title).replace("&#x27;", "&#39;") in text
        for cue in block.cues:
            assert f">13:{cue.minute:02}<" in text or f">14:{cue.minute - 60:02}<" in text
    assert text.count('<tr class="cue">') == sum(len(block.cues) for block in workshop.blocks)
    assert text.count("<li>") == len(workshop.cuts) + len(workshop.materials)


def test_what_must_stay_is_no_offer_and_what_is_written_is_text(workshop: Workshop) -> None:
    kept = Cut(workshop.keep[0], 5, "Everything that matters.")
    script = Cut(workshop.blocks[0].id, 1, "<script>alert(1)</script>")

    text = sheet(replace(workshop, cuts=(*workshop.cuts, kept, script)), ONE)

    assert "Everything that matters." not in text
    assert "<script" not in text
    assert "&lt;script&gt;" in text


@needs_browser
def test_each_workshop_prints_on_one_page(tmp_path: Path) -> None:
    with open_browser() as browser:
        page = browser.new_page()
        for workshop in WORKSHOPS:
            path = tmp_path / f"{workshop.id}.html"
            path.write_text(sheet(workshop, ONE), encoding="utf-8")
            page.goto(path.as_uri())
            printed = page.pdf(prefer_css_page_size=True)
            assert len(re.findall(rb"/Type\s*/Page\b", printed)) == 1, workshop.id
