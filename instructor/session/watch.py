"""Be told of what is saved in a set of folders that may change while they are watched."""

import asyncio
import contextlib
from collections.abc import Callable, Iterable
from pathlib import Path

from watchfiles import Change, awatch

from instructor.intake.landing import IGNORED_FOLDERS

# Saves that come together are told together; nobody waits longer than this for what was first.
TOGETHER_MILLISECONDS = 300
STEP_MILLISECONDS = 50
# A folder that went away while it was about to be watched; the next look over says what is there.
AGAIN_SECONDS = 1.0
# What editors and tools write beside the file that is saved.
_BESIDE = ("~", ".swp", ".swx", ".tmp", ".pyc", ".part", ".partial")


class Watch:
    """A watch over folders, not over what lies deeper in them."""

    def __init__(self, polling: bool) -> None:
        """Watch nothing yet; ``polling`` asks the disk, which works on every disk."""
        self._polling = polling
        self._folders: frozenset[Path] = frozenset()
        self._moved = asyncio.Event()

    def over(self, folders: Iterable[Path]) -> bool:
        """Watch these folders from now on; say whether they are others than before."""
        wanted = frozenset(folders)
        if wanted == self._folders:
            return False
        self._folders = wanted
        self._moved.set()
        return True

    async def run(self, touched: Callable[[set[Path]], None]) -> None:
        """Tell what is saved until this is cancelled."""
        while True:
            self._moved = asyncio.Event()
            if not self._folders:
                await self._moved.wait()
                continue
            try:
                await self._tell(touched)
            except (OSError, RuntimeError):
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(self._moved.wait(), AGAIN_SECONDS)

    async def _tell(self, touched: Callable[[set[Path]], None]) -> None:
        watching = awatch(
            *self._folders,
            watch_filter=counts,
            debounce=TOGETHER_MILLISECONDS,
            step=STEP_MILLISECONDS,
            stop_event=self._moved,
            force_polling=self._polling or None,
            recursive=False,
            ignore_permission_denied=True,
        )
        async for changes in watching:
            touched({Path(path) for _, path in changes})


def counts(_: Change, path: str) -> bool:
    """Tell whether a path is work, and not what a tool writes beside it."""
    name = Path(path).name
    return not (name.startswith(".") or name.endswith(_BESIDE) or name in IGNORED_FOLDERS)
