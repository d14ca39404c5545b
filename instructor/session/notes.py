"""The teacher's notes, taken apart into text and its emphasis, so that no HTML is made of them."""

import re
from typing import Any

from instructor.answer_key import ANSWERS

# Emphasis and code; everything else is text, HTML included.
_PART = re.compile(r"\*\*(?P<strong>[^*]+)\*\*|`(?P<code>[^`]+)`")
_BLOCK = re.compile(r"block\b[\s\d·:.]*", re.IGNORECASE)


def notes_of(workshop: str, blocks: list[str]) -> dict[str, Any]:
    """Read a workshop's notes: a section for each block's id, and all the others.

    The sections whose headings begin with "Block" belong to the blocks in their order. Where their
    numbers differ, everything stands among the others, so that nothing is shown in a wrong place.
    """
    path = ANSWERS / workshop / "notes.md"
    text = path.read_text(encoding="utf-8") if path.is_file() else ""
    sections = sections_of(text)
    own = [section for section in sections if _BLOCK.match(section["heading"])]
    if len(own) != len(blocks):
        return {"blocks": {}, "others": sections}
    others = [section for section in sections if section not in own]
    # The page counts blocks from 1, whatever the notes do.
    own = [{**section, "heading": _BLOCK.sub("", section["heading"])} for section in own]
    return {"blocks": dict(zip(blocks, own, strict=True)), "others": others}


def sections_of(text: str) -> list[dict[str, Any]]:
    """Take notes apart at their headings; each section has paragraphs and points."""
    sections: list[dict[str, Any]] = []
    heading, lines = "", []
    for line in [*text.splitlines(), "# "]:
        if not line.startswith("#"):
            lines.append(line)
            continue
        if heading or any(map(str.strip, lines)):
            sections.append({"heading": heading, "items": _items(lines)})
        heading, lines = line.lstrip("#").strip(), []
    return sections


def parts_of(text: str) -> list[dict[str, str]]:
    """Split a text into plain, strong and code parts."""
    parts, begin = [], 0
    for found in _PART.finditer(text):
        parts.append(("text", text[begin : found.start()]))
        kind = found.lastgroup or "text"
        parts.append((kind, found[kind]))
        begin = found.end()
    parts.append(("text", text[begin:]))
    return [{"kind": kind, "text": part} for kind, part in parts if part]


def _items(lines: list[str]) -> list[dict[str, Any]]:
    """Join lines into items: a point begins with a dash, a paragraph after an empty line."""
    items: list[tuple[bool, str]] = []
    fresh = True
    for line in lines:
        words = line.strip()
        point = words.startswith("- ")
        if not words:
            fresh = True
        elif point or fresh:
            items.append((point, words[2:] if point else words))
            fresh = False
        else:
            items[-1] = (items[-1][0], f"{items[-1][1]} {words}")
    return [{"point": point, "parts": parts_of(text)} for point, text in items]
