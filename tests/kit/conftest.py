"""What several tests of the kit need: a fresh release, and a finished submission."""

import os
import shutil
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from instructor.classroom import build_reference, load_workshops
from instructor.release import release
from instructor.sandbox import tiers
from instructor.sandbox.places import work_below
from instructor.sandbox.selftest import contains, missing
from lab.workshop import Workshop

# The files of a workshop for a test; they run in a course of their own.
collect_ignore = ["toy_workshop"]

# These take minutes, so they start first and the others fill the gaps.
LONG = ("test_demo", "test_hostile", "test_fifth_workshop")
NOW = datetime(2026, 9, 5, 12, 0, tzinfo=UTC)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    items.sort(key=lambda item: item.path.stem not in LONG)


@pytest.fixture(scope="session", autouse=True)
def one_box(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Have one fork server, in a box or not, do the jobs of all tests of a process."""
    work_below(tmp_path_factory.getbasetemp())


@pytest.fixture(scope="module", params=[tiers.A, tiers.B])
def held(request: pytest.FixtureRequest) -> Iterator[str]:
    """Run students' code in tier A, and in tier B."""
    if not contains(request.param):
        trouble = " ".join(missing(request.param))
        assert not os.environ.get("FAILING_CLOSED_REQUIRE_BWRAP"), trouble
        pytest.skip(f"this machine has no tier {request.param}: {trouble}")
    with tiers.trying(request.param):
        yield request.param


@pytest.fixture
def limits_only() -> Iterator[None]:
    """Let students' code do what only limits allow: read, write and start what it likes."""
    with tiers.trying(tiers.C):
        yield


@pytest.fixture(scope="session")
def workshop() -> Workshop:
    return load_workshops(("plan_gate",))[0]


@pytest.fixture(scope="session")
def released(tmp_path_factory: pytest.TempPathFactory, workshop: Workshop) -> Path:
    """A fresh release; tests that change it take a copy."""
    target = tmp_path_factory.mktemp("released") / "pair"
    release([workshop], target, NOW)
    return target


@pytest.fixture
def workspace(released: Path, tmp_path: Path) -> Path:
    """A fresh release of its own, to change at will."""
    return Path(shutil.copytree(released, tmp_path / "workspace"))


@pytest.fixture(scope="session")
def reference(tmp_path_factory: pytest.TempPathFactory, workshop: Workshop) -> Path:
    """The course's own solutions as a submission; tests that change it take a copy."""
    target = tmp_path_factory.mktemp("reference") / "pair"
    build_reference([workshop], target)
    return target


@pytest.fixture
def finished(reference: Path, tmp_path: Path) -> Path:
    """A finished submission of its own, to change at will, alone in a class."""
    return Path(shutil.copytree(reference, tmp_path / "class" / "pair"))
