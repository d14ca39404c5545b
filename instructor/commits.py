"""Make a workspace a git repository, without the git program.

dulwich is imported when it is needed: every command and every worker would pay for it.
"""

from datetime import datetime
from pathlib import Path

AUTHOR = b"Course <course@localhost>"


def start_repository(workspace: Path) -> None:
    """Make a repository with the branch ``main`` and no commit."""
    from dulwich import porcelain
    from dulwich.refs import Ref

    repository = porcelain.init(str(workspace))
    try:
        repository.refs.set_symbolic_ref(Ref(b"HEAD"), Ref(b"refs/heads/main"))
    finally:
        repository.close()


def commit_all(workspace: Path, at: datetime, message: str) -> None:
    """Commit every file of a workspace as the course, at a given time."""
    from dulwich import porcelain

    # dulwich takes a relative path for one below the workspace, and leaves out what is not there.
    workspace = workspace.resolve()
    with porcelain.open_repo_closing(str(workspace)) as repository:
        files = [p for p in workspace.rglob("*") if p.is_file() and ".git" not in p.parts]
        porcelain.add(repository, [str(path) for path in sorted(files)])
        stamp = int(at.timestamp())
        porcelain.commit(
            repository,
            message=message.encode(),
            author=AUTHOR,
            committer=AUTHOR,
            author_timestamp=stamp,
            commit_timestamp=stamp,
            author_timezone=0,
            commit_timezone=0,
        )
