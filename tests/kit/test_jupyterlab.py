"""A workspace in a real JupyterLab, in a real browser, opened by ``lab study``."""

import json
import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.kit.browser import needs_browser, open_browser
from tests.kit.command import COURSE

INVENTORY = "fixtures/plan_gate/inventory.json"
FIRST = "notebooks/plan_gate/1_inventory_and_contract.ipynb"
# For a machine that has other things to do.
PATIENCE_MS = 60_000
COUNTING = re.compile(r"\d+:\d\d left")
# JupyterLab's own commands, so that no test hangs on where a menu is.
RUN = "([command, args]) => { window.jupyterapp.commands.execute(command, args); }"
RUN_ALL = "window.jupyterapp.commands.execute('notebook:run-all-cells'); null"
# A notebook that is shown has no kernel yet, and running it then asks which one it may be.
READY = """() => {
  const kernel = window.jupyterapp?.shell.currentWidget?.sessionContext?.session?.kernel;
  return kernel?.connectionStatus === "connected" && kernel.status === "idle";
}"""


@pytest.fixture
def address(workspace: Path, tmp_path: Path) -> Iterator[str]:
    """Where JupyterLab serves the workspace, as ``lab study`` starts it."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    (config := tmp_path / "config").mkdir()
    server = {"open_browser": False, "port": port, "allow_root": True, "log_level": "ERROR"}
    settings = {
        "ServerApp": server,
        "IdentityProvider": {"token": "key"},
        "LabApp": {"expose_app_in_browser": True, "news_url": None},
        "ContentsManager": {"allow_hidden": False},
    }
    (config / "jupyter_server_config.json").write_text(json.dumps(settings), encoding="utf-8")
    places = {f"JUPYTER_{name}_DIR": str(tmp_path / name) for name in ("DATA", "RUNTIME")}
    places |= {"JUPYTER_CONFIG_DIR": str(config), "IPYTHONDIR": str(tmp_path / "ipython")}
    process = subprocess.Popen(
        [sys.executable, "-m", "lab", "study", "plan_gate"],
        cwd=workspace,
        env={**os.environ, **places, "PYTHONPATH": str(workspace)},
        stdin=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        yield f"http://127.0.0.1:{port}/lab/tree/{FIRST}?token=key"
    finally:
        os.killpg(process.pid, signal.SIGTERM)
        process.wait(timeout=120)


def open_when_there(page: Page, address: str) -> None:
    """Open a page of a server that may not listen yet; each failed attempt ends by itself."""
    for _ in range(1_000):
        try:
            page.goto(address, timeout=PATIENCE_MS)
        except Exception as error:
            if "ERR_CONNECTION_REFUSED" not in str(error):
                raise
            page.wait_for_timeout(250)
        else:
            return
    pytest.fail("JupyterLab does not listen")


@needs_browser
def test_red_edit_green_and_a_clock_in_jupyterlab(workspace: Path, address: str) -> None:
    """Run the notebook from top to bottom, mend the file in JupyterLab's editor, run it again."""
    solved = (COURSE / INVENTORY).read_text(encoding="utf-8")
    with open_browser() as browser:
        page = browser.new_page(viewport={"width": 1400, "height": 6_000})
        page.set_default_timeout(PATIENCE_MS)
        expect.set_options(timeout=PATIENCE_MS)
        open_when_there(page, address)
        notebook = page.locator(".jp-NotebookPanel")
        page.wait_for_function(READY)

        page.evaluate(RUN_ALL)
        red = notebook.get_by_text("Inventory one real tool: 0 of 4 checks pass.")
        expect(red).to_be_visible()
        expect(
            notebook.get_by_text("Freeze the plan contract: 1 of 8 checks pass.")
        ).to_be_visible()
        expect(
            notebook.get_by_text("Found: inventory.json does not have its form yet")
        ).to_be_visible()
        expect(notebook.locator("b[id^=lab-clock-]").first).to_have_text(COUNTING)
        assert notebook.locator(".jp-RenderedText[data-mime-type*=stderr]").count() == 0

        page.evaluate(RUN, ["docmanager:open", {"path": INVENTORY}])
        editor = page.locator(".jp-FileEditor .cm-content")
        editor.click()
        page.keyboard.press("ControlOrMeta+A")
        page.keyboard.insert_text(solved)
        page.evaluate(RUN, ["docmanager:save", {}])
        unsaved = page.locator(".lm-TabBar-tab.jp-mod-dirty", has_text="inventory.json")
        expect(unsaved).to_have_count(0)
        assert json.loads((workspace / INVENTORY).read_text(encoding="utf-8")) == json.loads(solved)

        page.locator(".lm-TabBar-tabLabel", has_text="1_inventory").first.click()
        page.evaluate(RUN_ALL)
        expect(notebook.get_by_text("Inventory one real tool: 4 of 4 checks pass.")).to_be_visible()
        expect(red).to_have_count(0)
