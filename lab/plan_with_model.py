"""The station of this workshop: ask a model for a plan, keep what it said, then gate it.

``generate()`` asks the endpoint of ``LAB_MODEL_BASE_URL`` with the prompt in ``model_prompt.md``,
and saves the raw output as ``model_plan.json``, byte for byte. Without an endpoint it takes one of
the recorded outputs. It asks no second time before the gate's refusal stands in the lab notes: else
nobody can tell prompt luck from contract enforcement.
"""

import argparse
import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from lab import coach
from lab.cards import Note
from lab.model import Endpoint, Message, ModelError, ask, message_of
from lab.replay import Decision, load_and_decide
from lab.strict_json import MAX_BYTES, NotStrictJson, load_json
from lab.suite import cut, uncut
from lab.whole_file import write_whole
from lab.workshop import WorkshopError, load_workshop

WORKSHOP, OUTPUT, PROMPT = "plan_gate", "model_plan.json", "model_prompt.md"
NOTES, PLAIN, RECORDED = "lab_notes.json", "valid_plan.json", "model_outputs"
UNTOUCHED = (b"", b"{}")
LONGEST_PROMPT = 20_000
# A part of a refusal that is shorter than this could stand in any other.
SHORTEST_NOTE = 20


class NotNow(Exception):  # noqa: N818  said of a call
    """No model is asked now; the text says what was found, what was expected, what to do next."""


def generate(*, again: bool = False, environment: Mapping[str, str] = os.environ) -> Note:
    """Get one output and save it; ``again`` asks once more, when the last one is noted."""
    return _generate(again, environment)[1]


def _generate(again: bool, environment: Mapping[str, str]) -> tuple[bool, Note]:
    """Tell whether an output was saved, and what there is to say."""
    folder = coach.ROOT / "fixtures" / WORKSHOP
    try:
        return _saved_or_kept(folder, again, environment)
    except OSError as error:
        return False, Note(
            f"Nothing was saved as {OUTPUT}. Found: {_below(error.filename, folder)} cannot be "
            f"read or written: {error.strerror}. Expected: a file or a folder of yours, as it was "
            "given. Next: move away what stands there, then ask again."
        )


def _saved_or_kept(folder: Path, again: bool, environment: Mapping[str, str]) -> tuple[bool, Note]:
    """Save an output, or keep what came in its place."""
    try:
        return True, _one_output(folder, again, environment)
    except (NotNow, ModelError, WorkshopError) as error:
        partial = getattr(error, "partial", b"")
        kept = _keep_aside(folder, partial) if partial else ""
        return False, Note(f"Nothing was saved as {OUTPUT}. {_sentence(str(error))}{kept}")


def _one_output(folder: Path, again: bool, environment: Mapping[str, str]) -> Note:
    _check_gate(folder)
    _check_last_output(folder, again)
    endpoint = Endpoint.from_environment(environment)
    return _take_recorded(folder) if endpoint is None else _ask(folder, endpoint)


def _below(file: str | None, folder: Path) -> str:
    """Name a file as a pair knows it."""
    path = Path(file or folder)
    return path.relative_to(folder).as_posix() if path.is_relative_to(folder) else path.name


def _check_gate(folder: Path) -> None:
    """A gate that refuses everything would be red about any output."""
    decision = _decide(folder / PLAIN)
    if decision.verdict != "accept":
        raise NotNow(
            f"Found: your gate does not accept {PLAIN}: {cut(decision.text, 300)}. Expected: a "
            "gate that is done. Next: finish block 2, then come back"
        )


def _check_last_output(folder: Path, again: bool) -> None:
    """Refuse to replace an output whose refusal nobody has written down."""
    path = folder / OUTPUT
    if not path.is_file() or path.read_bytes().strip() in UNTOUCHED:
        return
    decision = _decide(path)
    if decision.verdict != "accept" and not _is_noted(folder, decision.text):
        raise NotNow(
            f"Found: your gate refuses {OUTPUT}, and {NOTES} does not say with which words. "
            f"Expected: the reject string stands in {NOTES}, under {OUTPUT}, before the prompt "
            f"changes. Next: gate it, copy the string, and then ask again: {cut(decision.text)}"
        )
    if not again:
        raise NotNow(
            f"Found: {OUTPUT} holds an output that your gate has seen. Expected: a new prompt, if "
            f"you want a new one. Next: change {PROMPT}, then generate(again=True)"
        )


def _is_noted(folder: Path, text: str) -> bool:
    """Tell whether the notes hold a refusal, or as much of it as was shown."""
    try:
        notes: Any = load_json(folder / NOTES)
    except NotStrictJson as error:
        raise NotNow(f"Found: {error}. Expected: your notes. Next: mend the file") from error
    said = notes.get(OUTPUT) if isinstance(notes, dict) else None
    said = uncut(said.strip()) if isinstance(said, str) else ""
    enough = len(said) >= max(1, min(len(text), SHORTEST_NOTE))
    return enough and (said in text or text in said)


def _decide(path: Path) -> Decision:
    gate = load_workshop(coach.ROOT, WORKSHOP).gate
    try:
        return load_and_decide(gate, coach.fresh(gate.module), path, {})
    except (Exception, SystemExit) as error:  # noqa: BLE001  a pair's module may raise anything
        return Decision("crash", f"{type(error).__name__}: {error}")


def _ask(folder: Path, endpoint: Endpoint) -> Note:
    prompt = _prompt(folder)
    reply = ask(endpoint, [{"role": "user", "content": prompt}])
    if len(reply) > MAX_BYTES:
        raise ModelError(
            f"the reply is longer than {MAX_BYTES:,} bytes",
            f"ask for one plan and no more, in {PROMPT}",
            partial=reply[:MAX_BYTES],
        )
    try:
        message = message_of(reply)
    except ModelError as error:
        raise ModelError(error.found, error.next, error.expected, reply) from None
    return _save(folder, _bytes_of(message), f"{endpoint.model} answered:", message.is_cut)


def _prompt(folder: Path) -> str:
    try:
        text = (folder / PROMPT).read_text(encoding="utf-8-sig").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise NotNow(
            f"Found: {PROMPT} cannot be read: {error}. Expected: a text. "
            f"Next: git checkout -- fixtures/{WORKSHOP}/{PROMPT}"
        ) from error
    if not 0 < len(text) <= LONGEST_PROMPT:
        raise NotNow(
            f"Found: {PROMPT} holds {len(text)} characters. Expected: 1 to {LONGEST_PROMPT:,}. "
            "Next: write what you want to ask"
        )
    return text


def _bytes_of(message: Message) -> bytes:
    """Give the text as it came, halves of characters too."""
    return message.text.encode("utf-8", "surrogatepass")


def _take_recorded(folder: Path) -> Note:
    """Take the recorded output after the one that is there; the first where none is."""
    recorded = sorted((folder / RECORDED).glob("*.json"))
    outputs = [path for path in recorded if not path.name.startswith("earlier_")]
    if not outputs:
        raise NotNow(
            f"Found: no endpoint is set, and {RECORDED}/ holds no recorded output. Expected: one "
            f"of them. Next: git checkout -- fixtures/{WORKSHOP}/{RECORDED}"
        )
    now = (folder / OUTPUT).read_bytes() if (folder / OUTPUT).is_file() else b""
    here = [number for number, path in enumerate(outputs) if path.read_bytes() == now]
    chosen = outputs[(here[0] + 1) % len(outputs) if here else 0]
    source = (
        f"No endpoint is set (LAB_MODEL_BASE_URL), so here is a recorded output, {chosen.name}:"
    )
    return _save(folder, chosen.read_bytes(), source, is_cut=False)


def _save(folder: Path, output: bytes, source: str, is_cut: bool) -> Note:
    """Keep the output that was there, then write the new one whole."""
    path = folder / OUTPUT
    before = path.read_bytes() if path.is_file() else b""
    kept = _keep_aside(folder, before) if before.strip() not in UNTOUCHED else ""
    write_whole(path, output)
    limit = " Its own length limit cut it off." if is_cut else ""
    return Note(
        f"{source} {len(output):,} bytes, saved as {OUTPUT}, byte for byte.{limit}{kept} Predict "
        "the first thing that your gate will find; then gate it."
    )


def _keep_aside(folder: Path, data: bytes) -> str:
    """Write what would be lost into a file of its own, and say where."""
    (folder / RECORDED).mkdir(exist_ok=True)
    number = 1
    while (folder / RECORDED / f"earlier_{number}.json").exists():
        number += 1
    name = f"{RECORDED}/earlier_{number}.json"
    (folder / name).write_bytes(data)
    return f" What there was is kept as {name}."


def _sentence(text: str) -> str:
    return text if text.endswith(".") else f"{text}."


def main(arguments: list[str] | None = None) -> int:
    """Ask a model for a plan, or take a recorded one, and save it as model_plan.json."""
    parser = argparse.ArgumentParser(prog="python -m lab.plan_with_model", description=main.__doc__)
    parser.add_argument("--again", action="store_true", help="ask once more, with a new prompt")
    saved, note = _generate(parser.parse_args(arguments).again, os.environ)
    print(note)
    return 0 if saved else 1


if __name__ == "__main__":
    sys.exit(main())
