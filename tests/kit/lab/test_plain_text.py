"""Text that is what it looks like, character by character."""

import unicodedata

import pytest

from lab.plain_text import LATIN_LOOK_ALIKES, name_problem, shown_length, text_problem

BLANKS = {
    "nothing": "",
    "a space": " ",
    "a tab": "\t",
    "a line break": "\n",
    "a no-break space": "\u00a0",
    "an ideographic space": "\u3000",
    "a zero width space": "\u200b",
    "a joiner": "\u200d",
    "a soft hyphen": "\u00ad",
    "a direction mark": "\u200e",
    "a byte order mark": "\ufeff",
    "a line separator": "\u2028",
    "a null": "\0",
    "a braille blank": "\u2800",
    "a hangul filler": "\u3164",
    "a halfwidth hangul filler": "\uffa0",
    "a khmer vowel that is not drawn": "\u17b4",
    "the other khmer vowel that is not drawn": "\u17b5",
    "a filler for a first hangul letter": "\u115f",
    "a filler for a middle hangul letter": "\u1160",
    "a private character": "\ue000",
    "an emoji style": "\ufe0f",
    "a variation selector": "\ufe00",
    "an ideograph's variation selector": "\U000e0101",
    "a mongolian variation selector": "\u180b",
    "the fourth mongolian variation selector": "\u180f",
    "a note without a head": "\U0001d159",
    "a khitan filler": "\U00016fe4",
}


@pytest.mark.parametrize("text", BLANKS.values(), ids=BLANKS.keys())
def test_a_text_without_ink_is_blank(text: str) -> None:
    assert shown_length(text) == 0
    assert shown_length(text * 9) == 0
    assert text_problem(text) == f"{text!r} is blank"
    assert name_problem(text) == f"name {text!r} is blank"


@pytest.mark.parametrize(
    ("text", "length"),
    [("1234567", 7), ("1234567\u200b", 7), ("é" * 8, 8), ("Pay 15 $", 8), ("        a", 1)],
    ids=ascii,
)
def test_ink_and_the_spaces_between_it_are_counted(text: str, length: int) -> None:
    assert shown_length(text) == length


@pytest.mark.parametrize("text", [" a", "a ", "a\n", "\ta", "\u00a0a", "a\u3000", "a\u2028"])
def test_white_space_at_an_end_is_refused(text: str) -> None:
    assert text_problem(text) == f"{text!r} begins or ends with white space"


HIDDEN = {
    "a zero width space": "\u200b",
    "a zero width joiner": "\u200d",
    "a word joiner": "\u2060",
    "a soft hyphen": "\u00ad",
    "a byte order mark": "\ufeff",
    "a right-to-left override": "\u202e",
    "a right-to-left isolate": "\u2067",
    "a tag letter": "\U000e0061",
    "a null": "\0",
    "a tab": "\t",
    "a line break": "\n",
    "a carriage return": "\r",
    "an escape": "\x1b",
    "a next line": "\x85",
    "a line separator": "\u2028",
    "a paragraph separator": "\u2029",
    "a hangul filler": "\u3164",
    "a braille blank": "\u2800",
    "a grapheme joiner": "\u034f",
    "a private character": "\ue000",
    "an unassigned character": "\u0378",
    "half a character": "\ud800",
    "an emoji style": "\ufe0f",
    "a text style": "\ufe0e",
    "an ideograph's variation selector": "\U000e0141",
    "a mongolian variation selector": "\u180d",
    "a note without a head": "\U0001d159",
    "a khitan filler": "\U00016fe4",
}


@pytest.mark.parametrize("character", HIDDEN.values(), ids=HIDDEN.keys())
def test_a_character_that_does_not_show_is_refused(character: str) -> None:
    text = f"acct{character}1044"

    assert text_problem(text) == f"{text!a} holds a character that does not show ({character!a})"


@pytest.mark.parametrize(
    "text",
    [
        "SKU-19\ufe0f",
        "SKU\U000e0141\U000e0142",
        "\u2764\ufe0f\ufe0f",
        "\u2764\U000e0100",
        "\u845b\ufe0f",
        "\u845b\U000e0100\U000e0101",
        "\u0639\u0644\u06cc\u200c\u200c\u0631",
        "\u0639\u0644\u06cc\u200c-",
        "\u0639\u200d\u0915",
        "\u0416\u200d\u0416",
    ],
    ids=ascii,
)
def test_a_selector_or_joiner_out_of_its_place_is_refused(text: str) -> None:
    assert "holds a character that does not show" in str(text_problem(text))


DISGUISED = {
    "a cyrillic a among latin letters": "\u0430cct_2210",
    "a cyrillic o in the middle": "acc\u043eunt",
    "a greek o among latin letters": "acc\u03bfunt",
    "a greek capital": "\u0391CCT",
    "an armenian letter among latin ones": "acc\u0585unt",
    "a cherokee letter among latin ones": "\u13aacct",
    "a coptic letter among latin ones": "\u2c9fwner",
    "a lisu letter among latin ones": "\ua4eeCCT",
    "a word of cyrillic letters that all look latin": "\u0441\u043e\u0440\u0443",
    "a single cyrillic letter": "\u0430",
    "cyrillic capitals before digits": "\u0410\u0412-19",
    "two cyrillic words that both look latin": "\u0421\u0430\u0440\u0430 \u0410\u0412",
    "a mixed word beside a cyrillic one": "\u0430cct \u0416\u0443\u043a",
    "a cyrillic word beside a greek one": "\u0441\u043e\u0440\u0443 \u03b4",
    "a lisu word": "\ua4e2\ua4d7\ua4f4",
    "a cherokee letter": "\u13aa",
    "a cherokee word": "\u13da\u13d9\u13d9",
    "a coptic word": "\u2ca3\u2ca5\u2c9f",
    "one disguised word of several": "credit \u0430cct for defect",
    "one disguised word beside digits": "1044\u04302210",
    "fullwidth letters": "\uff41\uff43\uff43\uff54",
    "mathematical letters": "\U0001d41a\U0001d41c\U0001d41c\U0001d42d",
    "fullwidth digits": "acct_\uff11\uff10\uff14\uff14",
    "mathematical digits": "acct_\U0001d7cf\U0001d7ce\U0001d7d2\U0001d7d2",
    "a roman numeral for a letter": "ac\u217dt_1044",
    "the kelvin sign for a letter": "\u212aey_1044",
}


@pytest.mark.parametrize("text", DISGUISED.values(), ids=DISGUISED.keys())
def test_letters_and_digits_that_only_look_like_ours_are_refused(text: str) -> None:
    assert text_problem(text) == f"{text!a} holds letters that only look Latin"


PLAIN = [
    "acct_1044",
    "cred-1044-20260905",
    "owner@example.org",
    "two words",
    "1 < 2 & 3",
    "José Müller",
    "O’Neill – 5 €",
    "Москва",
    "Жук",
    "αβγδ",
    "Αθήνα",
    "東京",
    "日本語 text",
    "서울",
    "שלום",
    "مرحبا",
    "Δ 5",
    "Москва acct_1044",
    "naïve café",
    "x²",
    "№ 15",
    "👍",
    "Вера Смирнова",
    "Оса и Жук",
    "ᏣᎳᎩ",
    "❤\ufe0f",
    "❤\ufe0e 5",
    "1\ufe0f\u20e3",
    "\u845b\U000e0100城",
    "\u0639\u0644\u06cc\u200c\u0631\u0636\u0627",
    "\u0915\u094d\u200d\u0937",
    "\u0dc1\u0dca\u200d\u0dbb\u0dd3",
]


@pytest.mark.parametrize("text", PLAIN, ids=ascii)
def test_a_text_that_shows_what_it_holds_is_plain(text: str) -> None:
    assert text_problem(text) is None


@pytest.mark.parametrize(
    "name",
    [
        "amount_usd\u200b",
        "\u0430ccount_id",
        "account id",
        " account_id",
        "account_id\n",
        "account\tid",
        "account\x7fid",
        "montant_é",
        "a\u00a0b",
        "\uff41",
    ],
    ids=ascii,
)
def test_a_name_that_is_not_plain_ascii_is_refused(name: str) -> None:
    assert name_problem(name) == f"name {name!a} is not plain ASCII"


@pytest.mark.parametrize("name", ["account_id", "step_1", "Create", "a", "a.b-c/d", "0", "$ref"])
def test_a_name_of_printable_ascii_is_plain(name: str) -> None:
    assert name_problem(name) is None


@pytest.mark.parametrize("letter", sorted(LATIN_LOOK_ALIKES), ids=ascii)
def test_each_look_alike_is_a_letter_of_another_script(letter: str) -> None:
    assert unicodedata.category(letter)[0] == "L"
    assert unicodedata.name(letter).split()[0] in {
        "CYRILLIC", "GREEK", "LISU", "CHEROKEE", "COPTIC",
    }  # fmt: skip
