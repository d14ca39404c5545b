"""Text that is what it looks like: no blanks, no hidden characters, no borrowed letters.

A person approves what is on the screen and a program acts on the bytes. Where the two can differ,
a gate refuses. Character classes are those of the Unicode database (``unicodedata``).
"""

import re
import unicodedata

# Cyrillic and Greek letters that most fonts draw like a Latin letter.
LATIN_LOOK_ALIKES = frozenset("асеіјорѕухһԁԛԝАВЕЅІЈКМНОРСТУХԌԚԜӀѴοανρτυιχγκϲΑΒΕΖΗΙΚΜΝΟΡΤΥΧ")
# Scripts whose letters pass for Latin ones; the first word of a character's Unicode name.
_SCRIPTS_MISTAKEN_FOR_LATIN = frozenset(
    {"CYRILLIC", "GREEK", "ARMENIAN", "CHEROKEE", "COPTIC", "LISU"}
)
# Letters and symbols that are drawn as nothing.
_DRAWN_AS_NOTHING = frozenset("\u2800\u3164\u115f\u1160\uffa0\u034f\u17b4\u17b5")
_WORD = re.compile(r"[^\W\d_]+")


def shown_length(text: str) -> int:
    """Count the characters that leave ink, and the spaces between them."""
    return len("".join(c for c in text if c == " " or _leaves_ink(c)).strip())


def text_problem(text: str) -> str | None:
    """Say why a text may not be what it looks like, or return None."""
    if shown_length(text) == 0:
        return f"{text!r} is blank"
    if text != text.strip():
        return f"{text!r} begins or ends with white space"
    hidden = next((character for character in text if _is_hidden(character)), None)
    if hidden is not None:
        return f"{text!a} holds a character that does not show ({hidden!a})"
    if any(map(_is_disguised, _WORD.findall(text))) or any(map(_is_a_variant, text)):
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


def _is_disguised(word: str) -> bool:
    scripts = {unicodedata.name(letter, "?").split()[0] for letter in word}
    mistaken = scripts & _SCRIPTS_MISTAKEN_FOR_LATIN
    return bool(mistaken) and ("LATIN" in scripts or set(word) <= LATIN_LOOK_ALIKES)


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
