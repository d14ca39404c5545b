"""A workspace works on Windows too: CRLF files, odd paths, and no call that only POSIX has."""

import ast
import json
import re
from pathlib import Path

import pytest

from instructor.classroom import build_reference, load_workshops
from instructor.release import workspace_files
from instructor.study import study_files
from lab.workshop import workshop_ids
from tests.kit.command import COURSE, in_workspace

WORKSHOPS = load_workshops(tuple(workshop_ids(COURSE)))
CODE = {
    file: data.decode()
    for file, data in workspace_files(WORKSHOPS)
    if file.endswith(".py") and not file.startswith(".lab/")
}
POSIX_MODULES = {
    "curses", "fcntl", "grp", "posix", "pty", "pwd", "readline", "resource", "spwd", "syslog",
    "termios", "tty",
}  # fmt: skip
POSIX_NAMES = {
    "SIGALRM", "SIGHUP", "SIGKILL", "alarm", "fork", "forkpty", "geteuid", "getpgid", "getuid",
    "killpg", "mkfifo", "pathconf", "setitimer", "setsid", "sysconf", "uname", "wait3",
}  # fmt: skip
TEXT_CALLS = {"read_text", "write_text", "open"}


def problems(source: str) -> list[str]:
    """List what a module does that only POSIX has, or that depends on a machine's encoding."""
    found = []
    tree = ast.parse(source)
    # What is imported only where it is there, with another way where it is not.
    tried = [node for node in ast.walk(tree) if isinstance(node, ast.Try) and _catches(node)]
    guarded = {id(inner) for node in tried for inner in node.body}
    for node in ast.walk(tree):
        if id(node) in guarded:
            continue
        if isinstance(node, ast.Import):
            found += [a.name for a in node.names if a.name.split(".")[0] in POSIX_MODULES]
        elif (
            isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] in POSIX_MODULES
        ):
            found.append(str(node.module))
        elif isinstance(node, ast.Attribute) and node.attr in POSIX_NAMES:
            found.append(node.attr)
        elif isinstance(node, ast.Call) and _text_call(node):
            found.append(f"{_name(node)} without an encoding, line {node.lineno}")
    return found


def _catches(node: ast.Try) -> bool:
    return any(ast.unparse(h.type) == "ImportError" for h in node.handlers if h.type)


def _name(node: ast.Call) -> str:
    return getattr(node.func, "attr", getattr(node.func, "id", ""))


def _text_call(node: ast.Call) -> bool:
    if _name(node) not in TEXT_CALLS or any(k.arg == "encoding" for k in node.keywords):
        return False
    words = [a.value for a in node.args if isinstance(a, ast.Constant) and isinstance(a.value, str)]
    if _name(node) == "open":
        of_os = isinstance(node.func, ast.Attribute) and ast.unparse(node.func.value) == "os"
        return not of_os and not any("b" in word for word in words)
    return not any(re.fullmatch(r"utf-?8(-sig)?", word) for word in words)


@pytest.mark.parametrize("file", CODE)
def test_no_module_of_a_workspace_needs_posix(file: str) -> None:
    assert problems(CODE[file]) == []


@pytest.mark.parametrize(
    "source",
    [
        "import fcntl",
        "try:\n    import fcntl\nexcept OSError:\n    pass",
        "from resource import setrlimit",
        "import os\nos.fork()",
        "import signal\nsignal.alarm(3)",
        "signal.SIGALRM",
        "path.read_text()",
        "path.write_text('x')",
        "open('x')",
        "path.open('a')",
    ],
)
def test_the_search_sees_what_it_looks_for(source: str) -> None:
    assert problems(source) != []
    assert (
        problems("path.open('rb'); path.read_text(encoding='utf-8'); os.open(os.devnull, 1)") == []
    )


def test_all_is_green_with_crlf_below_a_path_with_spaces_and_other_letters(tmp_path: Path) -> None:
    """Every visible check, the reset of an exercise and the slips, in all workshops."""
    root = tmp_path / "Zoës Ordner" / "课 程"
    build_reference(WORKSHOPS, root)
    for file, data in study_files(WORKSHOPS).items():
        (root / file).parent.mkdir(parents=True, exist_ok=True)
        (root / file).write_bytes(data)
    for path in root.rglob("*"):
        if path.is_file():
            path.write_bytes(path.read_bytes().replace(b"\r\n", b"\n").replace(b"\n", b"\r\n"))
    code = """
import json
from lab import coach
from lab.workshop import load_workshop, workshop_ids

said = {}
for name in workshop_ids(coach.ROOT):
    workshop = load_workshop(coach.ROOT, name)
    cards = [coach.check(name, block.id) for block in workshop.all_blocks]
    red = [str(card) for card in cards if card.lines and not card.passed]
    said[name] = [red, str(coach.slips(name)).splitlines()[0], str(coach.hint(name))]
said["reset"] = str(coach.reset("plan_gate", "bindings"))
said["after"] = str(coach.check("plan_gate", "validator"))
print(json.dumps(said))
"""

    done = in_workspace(root, "-c", code)

    assert (done.code, done.err) == (0, "")
    said = json.loads(done.out)
    for workshop in WORKSHOPS:
        red, slips, hint = said[workshop.id]
        assert red == []
        number = re.search(r"notice (\d+) of (\d+) slips", slips)
        assert number, slips
        assert number[1] == number[2], slips
        assert "hint 1 of" in hint
    assert "validate_bindings in lab/plan_gate.py" in said["reset"]
    assert "validate_bindings is not written yet" in said["after"]
