"""What counts as said: the value stands in a message, and not as part of something longer."""

import time
from typing import Any

import pytest

from lab.grounding import stands_in

PART_OF_SOMETHING_LONGER = {
    "the beginning of an identifier": ("acct_2210", "credit acct_22101"),
    "the end of an identifier": ("acct_2210", "credit my_acct_2210"),
    "the end of a dashed identifier": ("1044", "credit acct-1044"),
    "the beginning of a dashed identifier": ("cred-1044", "use cred-1044-20260905"),
    "a part of a dotted name": ("example", "write to www.example.org"),
    "the beginning of an address": ("owner", "write to owner@example.org"),
    "the host of an address": ("example.org", "write to owner@example.org"),
    "an address with a tag before it": ("owner@example.org", "write to x+owner@example.org"),
    "an address with a longer host": ("owner@example.org", "write to owner@example.org.invalid"),
    "the beginning of a number": (15, "credit 150 dollars"),
    "the end of a number": (15, "credit 115 dollars"),
    "the whole part of a decimal": (15, "credit 15.50 dollars"),
    "the fraction of a decimal": (5, "credit 1.5 dollars"),
    "the thousands of a number": (15, "credit 15,000 dollars"),
    "the rest of a number after its thousands": ("000", "credit 15,000 dollars"),
    "a negative number": (15, "book -15 dollars"),
    "a negative number with a minus sign": (15, "book \u221215 dollars"),
    "a negative amount of a currency": (15, "book -$15"),
    "the rest of a number after an apostrophe": (500, "credit 1'500 francs"),
    "the end of a name with an apostrophe": ("Brien", "for O'Brien"),
    "the numerator of a fraction": (15, "credit 15/100 of it"),
    "the beginning of a path": ("/srv/data", "empty /srv/data/old"),
    "a letter of a word": ("a", "credit an account"),
    "a word with a letter that is not ASCII": ("caf", "credit the café"),
    "a number with a decimal comma in Chinese": (15, "共1，500元"),
    "the beginning of a range": (15, "credit 15—20 dollars"),
    "a negative number after a label": (15, "amount=-15"),
    "the numerator of a fraction after a label": (15, "amount:15/100"),
    "the minutes of a time": (30, "call at 10:30"),
    "a digit of a dotted version": (5, "use v1.5, please"),
    "the host of a web address": ("example.org", "see https://example.org"),
    "the host of an address after a label": ("example.org", "mailto:owner@example.org"),
    "the value of a second label": ("sort", "call std::sort"),
    "the first of two with a slash": ("TCK-10419", "close TCK-10419/TCK-10420"),
    "the label itself": ("ticket", "ticket:TCK-10419"),
    "an emphasised part": ("2210", "credit acct_**2210**"),
    "the beginning of a word with an apostrophe": ("we", "we've agreed"),
    "an identifier with underlines around it": ("acct", "credit _acct_2210"),
}


@pytest.mark.parametrize(
    ("value", "text"), PART_OF_SOMETHING_LONGER.values(), ids=PART_OF_SOMETHING_LONGER.keys()
)
def test_a_part_of_something_longer_is_not_said(value: Any, text: str) -> None:
    assert not stands_in(value, [text])


NOT_THERE = {
    "no message": ("acct_2210", []),
    "an empty message": ("acct_2210", [""]),
    "another identifier": ("acct_0000", ["credit acct_2210"]),
    "another case": ("acct_2210", ["credit ACCT_2210"]),
    "a look-alike letter": ("\u0430cct_2210", ["credit acct_2210"]),
    "two messages that only join to it": ("acct_2210", ["credit acct_", "2210"]),
    "a pattern that would match": ("acct_....", ["credit acct_2210"]),
    "a choice that would match": ("x|acct_2210", ["credit acct_2210"]),
    "a number of another type": (15.0, ["credit 15"]),
    "words in another order": ("defect billing", ["a billing defect"]),
}


@pytest.mark.parametrize(("value", "texts"), NOT_THERE.values(), ids=NOT_THERE.keys())
def test_a_value_that_stands_nowhere_is_not_said(value: Any, texts: list[str]) -> None:
    assert not stands_in(value, texts)


SAID = {
    "the whole message": ("acct_2210", ["acct_2210"]),
    "the end of a sentence": ("acct_2210", ["Please credit acct_2210."]),
    "before a comma": ("acct_2210", ["For acct_2210, as agreed"]),
    "before a colon": ("acct_2210", ["acct_2210: please credit"]),
    "in quotation marks": ("acct_2210", ['credit "acct_2210"']),
    "in brackets": ("acct_2210", ["my account (acct_2210)"]),
    "on a line of its own": ("acct_2210", ["my account\nacct_2210\nthanks"]),
    "in the second message": ("acct_2210", ["hello", "it is acct_2210"]),
    "after a part of something longer": ("acct_2210", ["not acct_22101 but acct_2210"]),
    "a number": (15, ["credit 15 dollars"]),
    "a number with its currency": (15, ["credit $15"]),
    "a decimal": (15.5, ["credit 15.5 dollars."]),
    "an address": ("owner@example.org", ["write to owner@example.org."]),
    "two words": ("Ada Lovelace", ["the name is Ada Lovelace!"]),
    "characters that patterns use": ("a.b*c", ["the key is a.b*c, I think"]),
    "in backticks": ("TCK-10419", ["close `TCK-10419`, please"]),
    "in bold": ("TCK-10419", ["close **TCK-10419**."]),
    "with a hash": ("TCK-10419", ["close #TCK-10419"]),
    "after a label": ("TCK-10419", ["ticket:TCK-10419"]),
    "after a label in bold": ("TCK-10419", ["**Ticket:**TCK-10419"]),
    "after a label in quotation marks": ("TCK-10419", ['{"ticket":"TCK-10419"}']),
    "after an equals sign": ("db1.example.org", ["restart host=db1.example.org"]),
    "with a genitive": ("TCK-10419", ["TCK-10419's status"]),
    "with a round genitive in backticks": ("TCK-10419", ["the `TCK-10419`’s status"]),
    "before a dash": ("TCK-10419", ["TCK-10419—please close it"]),
    "before an ellipsis": ("TCK-10419", ["about TCK-10419…"]),
    "in low quotation marks": ("TCK-10419", ["close „TCK-10419“"]),
    "in angle quotation marks": ("TCK-10419", ["close «TCK-10419»"]),
    "in angle quotation marks that point inwards": ("TCK-10419", ["close »TCK-10419«!"]),
    "before a Chinese full stop": ("TCK-10419", ["请关闭 TCK-10419。谢谢"]),
    "before a Chinese comma": ("TCK-10419", ["请关闭 TCK-10419，谢谢"]),
    "an address with its scheme": ("a@x.org", ["write to mailto:a@x.org"]),
    "a share": (5, ["give them 5%"]),
    "a number before its currency": (15, ["credit 15€."]),
}


@pytest.mark.parametrize(("value", "texts"), SAID.values(), ids=SAID.keys())
def test_a_value_that_stands_in_a_message_is_said(value: Any, texts: list[str]) -> None:
    assert stands_in(value, texts)


@pytest.mark.parametrize("text", ["(" * 200_000, "." * 200_000, "x" * 200_000, " x:" * 60_000])
def test_a_long_message_is_searched_quickly(text: str) -> None:
    started = time.process_time()

    for value in ("x", "(", "."):
        stands_in(value, [text, f"x{text}y", f"{text}'s{text}y"])

    assert time.process_time() - started < 5


def test_messages_may_come_from_any_iterable() -> None:
    assert stands_in("acct_2210", (text for text in ["hello", "acct_2210"]))
