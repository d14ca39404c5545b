"""What several tests of the graded package need: a model of our own."""

from collections.abc import Callable, Iterator

import pytest

from tests.kit.lab.model_server import Answer, Model


@pytest.fixture
def serve(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[Answer], Model]]:
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    models: list[Model] = []

    def start(answer: Answer) -> Model:
        models.append(Model(answer))
        return models[-1]

    yield start
    for model in models:
        model.stop()
