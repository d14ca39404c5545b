import { $, announce, current, dropFocus, listen, press, remember, remembered, setText, showClock, switchTheme, wireButtons, wireTheme } from "./core.js";
import { redraw, showBoard, wireBoard } from "./board.js";

const PRESS = "/press";

function onState(view) {
  showClock();
  showCue(view.cue);
  showProposal(view.proposal);
  $("show-board").hidden = !view.watched;
  if (!view.watched) setView("clock");
  announce();
  keepAwake(view.phase === "running");
}

function showCue(cue) {
  $("cue").hidden = !cue;
  setText("cue-text", cue ? cue.say : "");
}

function showProposal(cut) {
  $("proposal").hidden = !cut;
  if (!cut) return;
  const frees = cut.frees ? `Frees ${cut.frees}: the new end is ${cut.end_text}.` : `The end stays ${cut.end_text}.`;
  setText("proposal-text", `${cut.title}: ${cut.what} ${frees}`);
  for (const name of ["accept", "decline"]) $(name).dataset.cut = cut.cut;
}

function setView(name) {
  document.body.dataset.view = name;
  $("board").hidden = name !== "board";
  $("show-board").setAttribute("aria-pressed", String(name === "board"));
  if (name === "board") redraw();
}

function toggleBoard() {
  if (!$("show-board").hidden) setView(document.body.dataset.view === "board" ? "clock" : "board");
}

function fullScreen() {
  if (document.fullscreenElement) document.exitFullscreen();
  else document.documentElement.requestFullscreen().catch(() => {});
}

function showKeys() {
  if ($("keys").open) $("keys").close();
  else $("keys").showModal();
}

function decide(name) {
  const view = current();
  if (view && view.proposal) press(PRESS, name, { cut: view.proposal.cut });
}

function go() {
  const name = $("go").dataset.do;
  if (name) press(PRESS, name);
}

const KEYS = {
  " ": go,
  n: () => press(PRESS, "next"),
  ArrowRight: () => press(PRESS, "next"),
  b: () => press(PRESS, "back"),
  ArrowLeft: () => press(PRESS, "back"),
  "+": () => press(PRESS, "more"),
  "=": () => press(PRESS, "more"),
  "-": () => press(PRESS, "less"),
  "−": () => press(PRESS, "less"),
  a: () => decide("cut"),
  d: () => decide("decline"),
  l: toggleBoard,
  f: fullScreen,
  t: switchTheme,
  "?": showKeys,
};

function onKey(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || event.repeat) return;
  if (document.querySelector("dialog[open]") && event.key !== "?") return;
  if (event.target.closest("input") && event.key !== "?") return;
  // A button that has the focus keeps the space key for itself.
  if (event.key === " " && event.target.closest("button")) return;
  if (!$("keys-on").checked && event.key !== "?") return;
  const action = KEYS[event.key.length === 1 ? event.key.toLowerCase() : event.key];
  if (!action) return;
  event.preventDefault();
  action();
}

// A projector that goes dark in the middle of a block helps nobody; where this is refused, so be it.
let lock = null;

async function keepAwake(wanted) {
  if (!navigator.wakeLock || document.visibilityState !== "visible") return;
  if (!wanted && lock) {
    lock.release();
    lock = null;
  }
  if (wanted && (!lock || lock.released)) lock = await navigator.wakeLock.request("screen").catch(() => null);
}

function wire() {
  wireTheme();
  wireButtons(PRESS);
  wireBoard();
  for (const [id, action] of Object.entries({ full: fullScreen, help: showKeys, "show-board": toggleBoard, "keys-close": showKeys })) {
    $(id).addEventListener("click", (event) => {
      action();
      dropFocus(event);
    });
  }
  $("keys-on").checked = remembered("keys") !== "off";
  $("keys-on").addEventListener("change", () => remember("keys", $("keys-on").checked ? "on" : "off"));
  document.addEventListener("keydown", onKey);
  listen("/events", onState, showBoard);
}

wire();
