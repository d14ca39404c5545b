"""What a self-study workspace has and a classroom's has not: solutions and wrong gates, encoded.

``.lab/study/<workshop>.txt`` is base64 of compressed JSON. That keeps nobody out; it keeps you
from reading a solution by accident. The coach shows each when its time has come.
"""

import base64
import json
import zlib
from pathlib import Path
from typing import Any

from lab.progress import FOLDER
from lab.workshop import WorkshopError

STUDY = f"{FOLDER}/study"
COMMENT = (
    "# Solutions and wrong gates for self-study, encoded so that nobody reads them by accident.\n"
    "# coach.solution() and coach.slips() show them when their time has come.\n"
)


def study_file(workshop_id: str) -> str:
    """Name the file of a workshop's self-study data, relative to the workspace."""
    return f"{STUDY}/{workshop_id}.txt"


def encode(data: dict[str, Any]) -> bytes:
    """Write self-study data as lines of text."""
    packed = base64.b64encode(zlib.compress(json.dumps(data).encode(), 9)).decode()
    lines = [packed[start : start + 76] for start in range(0, len(packed), 76)]
    return (COMMENT + "\n".join(lines) + "\n").encode()


def load_study(root: Path, workshop_id: str) -> dict[str, Any] | None:
    """Read the self-study data of a workshop; None where the workspace has none.

    Raises ``WorkshopError`` where the file is damaged.
    """
    path = root / study_file(workshop_id)
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError) as error:
        raise WorkshopError(_damaged(workshop_id)) from error
    packed = "".join(line.strip() for line in lines if not line.startswith("#"))
    try:
        data = json.loads(zlib.decompress(base64.b64decode(packed, validate=True)))
    except (ValueError, zlib.error) as error:
        raise WorkshopError(_damaged(workshop_id)) from error
    if not isinstance(data, dict):
        raise WorkshopError(_damaged(workshop_id))
    return data


def _damaged(workshop_id: str) -> str:
    name = study_file(workshop_id)
    return (
        f"Found: {name} is damaged. Expected: the file as it was released. "
        f"Next: git checkout -- {name}"
    )
