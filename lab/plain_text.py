"""Text that is what it looks like: no blanks, no hidden characters, no borrowed letters.

A person approves what is on the screen and a program acts on the bytes. Where the two can differ,
a gate refuses. Character classes are those of the Unicode database (``unicodedata``).
"""

import re
import unicodedata

# Letters of other scripts that most fonts draw like a Latin letter.
LATIN_LOOK_ALIKES = frozenset(
    "асеіјорѕухһԁԛԝАВЕЅІЈКМНОРСТУХԌԚԜӀѴοανρτυιχγκϲΑΒΕΖΗΙΚΜΝΟΡΤΥΧ"
    "ꓐꓑꓒꓓꓔꓖꓗꓙꓚꓜꓝꓟꓠꓡꓢꓣꓦꓧꓪꓫꓬꓮꓰꓲꓳꓴ"
    "ᎠᎡᎢᎥᎩᎪᎫᎬᎳᎷᎻᎽᏀᏂᏃᏏᏒᏔᏕᏙᏚᏞᏟᏢᏦᏧᏳᏴꭵꮃꮓꮩꮪꮯ"
    "ⲀⲁⲂⲌⲎⲒⲓⲔⲕⲘⲚⲞⲟⲢⲣⲤⲥⲦⲨⲩⲬⲭ"
)
# Scripts whose letters pass for Latin ones.
_SCRIPTS_MISTAKEN_FOR_LATIN = frozenset(
    {"CYRILLIC", "GREEK", "ARMENIAN", "CHEROKEE", "COPTIC", "LISU"}
)
_EMOJI_STYLES = frozenset("\ufe0e\ufe0f")
_IDEOGRAPH_VARIANTS = frozenset(map(chr, range(0xE0100, 0xE01F0)))
# Letters, symbols and variation selectors that are drawn as nothing.
_DRAWN_AS_NOTHING = (
    frozenset("\u2800\u3164\u115f\u1160\uffa0\u034f\u17b4\u17b5\U0001d159\U00016fe4")
    | frozenset("\u180b\u180c\u180d\u180f")
    | frozenset(map(chr, range(0xFE00, 0xFE10)))
    | _IDEOGRAPH_VARIANTS
)
_JOINERS = frozenset("\u200c\u200d")
# Scripts in whose words a joiner changes how the letters beside it are drawn.
_SCRIPTS_WITH_JOINERS = frozenset({
    "ARABIC", "DEVANAGARI", "BENGALI", "GURMUKHI", "GUJARATI", "ORIYA", "TAMIL", "TELUGU",
    "KANNADA", "MALAYALAM", "SINHALA",
})  # fmt: skip
_WORD = re.compile(r"[^\W\d_]+")


def shown_length(text: str) -> int:
    """Count the characters that leave ink, and the spaces between them."""
    if text.isascii() and text.isprintable():
        return len(text.strip())
    return len("".join(c for c in text if c == " " or _leaves_ink(c)).strip())


def text_problem(text: str) -> str | None:
    """Say why a text may not be what it looks like, or return None."""
    if shown_length(text) == 0:
        return f"{text!r} is blank"
    if text != text.strip():
        return f"{text!r} begins or ends with white space"
    if text.isascii() and text.isprintable():
        return None
    beside = zip(f" {text}", text, f"{text[1:]} ", strict=False)
    hidden = next((c for a, c, b in beside if _is_hidden(c) and not _has_use(a, c, b)), None)
    if hidden is not None:
        return f"{text!a} holds a character that does not show ({hidden!a})"
    if _is_disguised(text) or any(map(_is_a_variant, text)):
        return f"{text!a} holds letters that only look Latin"
    return None


def name_problem(name: str) -> str | None:
    """Say why a name (of a tool, a key, an argument) is not plain printable ASCII, or return None.

    Names are written by programmers, so nothing is lost by being stricter than with values.
    """
    if shown_length(name) == 0:
        return f"name {name!r} is blank"
    if not (name.isascii() and name.isprintable() and " " not in name):
        return f"name {name!a} is not plain ASCII"
    return None


def _leaves_ink(character: str) -> bool:
    return unicodedata.category(character)[0] not in "ZC" and character not in _DRAWN_AS_NOTHING


def _is_hidden(character: str) -> bool:
    return character in _DRAWN_AS_NOTHING or unicodedata.category(character) in {
        "Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp",
    }  # fmt: skip


def _has_use(before: str, character: str, after: str) -> bool:
    """Tell whether a hidden character stands where it only says how its neighbours are drawn."""
    if character in _EMOJI_STYLES:
        return unicodedata.category(before) == "So" or after == "\u20e3"
    if character in _IDEOGRAPH_VARIANTS:
        return unicodedata.category(before) == "Lo" and _script(before) == "CJK"
    if character in _JOINERS:
        letters = unicodedata.category(before)[0] in "LM" and unicodedata.category(after)[0] in "LM"
        return letters and _script(before) == _script(after) in _SCRIPTS_WITH_JOINERS
    return False


def _script(letter: str) -> str:
    """Give the script of a letter: the first word of its Unicode name."""
    return unicodedata.name(letter, "?").split()[0]


def _is_disguised(text: str) -> bool:
    """Look for a word of two scripts, and for a script whose letters in a text all look Latin.

    One letter that is plainly of another script speaks for all others of that script: a name that
    could be read as Latin is often beside one that could not.
    """
    words = _WORD.findall(text)
    return any(map(_is_mixed, words)) or _has_only_look_alikes(set("".join(words)))


def _is_mixed(word: str) -> bool:
    scripts = set(map(_script, word))
    return "LATIN" in scripts and bool(scripts & _SCRIPTS_MISTAKEN_FOR_LATIN)


def _has_only_look_alikes(letters: set[str]) -> bool:
    found = set(map(_script, letters)) & _SCRIPTS_MISTAKEN_FOR_LATIN
    telling = set(map(_script, letters - LATIN_LOOK_ALIKES))
    return not found <= telling


def _is_a_variant(character: str) -> bool:
    """Tell whether a character is another drawing of an ASCII letter or digit, of the same size."""
    plain = unicodedata.normalize("NFKC", character)
    kind = unicodedata.decomposition(character).split(" ")[0]
    same_size = kind not in {"<super>", "<sub>", "<circle>", "<square>", "<fraction>"}
    return (
        not character.isascii()
        and plain.isascii()
        and plain.isalnum()
        and len(plain) == 1
        and same_size
    )
