"""A real browser for the tests of pages: headless Chromium, driven by Playwright."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from playwright.sync_api import Browser, sync_playwright

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
REQUIRED = "FAILING_CLOSED_REQUIRE_BROWSER"

# Where the variable is set, a missing browser is a failure, so that CI cannot skip these unseen.
needs_browser = pytest.mark.skipif(
    not CHROMIUM and not os.environ.get(REQUIRED),
    reason="there is no Chromium on this machine: install the package chromium",
)


@contextmanager
def open_browser() -> Iterator[Browser]:
    """Start Chromium without a screen and without its own network requests; end it at the end."""
    assert CHROMIUM, f"{REQUIRED} is set, and there is no chromium on the path"
    quiet = ["--disable-background-networking", "--disable-component-update", "--disable-sync"]
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=CHROMIUM,
            # Chromium refuses its own sandbox to root, as in a container.
            args=[*quiet, "--no-first-run", "--disable-gpu", "--no-sandbox"],
        )
        try:
            yield browser
        finally:
            browser.close()
