// What both pages share. All decisions about time are the server's: it sends words, and absolute
// ends; this only counts from the server's clock to those ends, and puts text where it belongs.

export const $ = (id) => document.getElementById(id);

// Milliseconds from this machine's clock to the server's.
let offset = 0;
let view = null;

export const current = () => view;
const serverNow = () => Date.now() + offset;

export function setText(id, text) {
  const element = typeof id === "string" ? $(id) : id;
  if (element.textContent !== text) element.textContent = text;
}

export function make(tag, text, kind) {
  const element = document.createElement(tag);
  if (text) element.textContent = text;
  if (kind) element.className = kind;
  return element;
}

// --- Listening and pressing ------------------------------------------------------------------
const SILENCE = 15000;
const UNHEARD = "That was not heard. Press it again; if this stays, look at the teacher's terminal.";

export function listen(path, onState, onBoard) {
  let source = null;
  let heard = performance.now();
  const alive = () => {
    heard = performance.now();
    setText("offline", "");
  };
  const open = () => {
    if (source) source.close();
    heard = performance.now();
    source = new EventSource(path);
    source.addEventListener("state", (event) => {
      alive();
      view = JSON.parse(event.data);
      offset = view.now - Date.now();
      onState(view);
      count();
    });
    source.addEventListener("board", (event) => {
      alive();
      onBoard(JSON.parse(event.data));
    });
    source.addEventListener("error", lost);
  };
  const lost = () => {
    setText("offline", "Not connected. The clock counts on; keys work again when it is back.");
  };
  open();
  setInterval(() => {
    if (performance.now() - heard > SILENCE || source.readyState === EventSource.CLOSED) {
      lost();
      open();
    }
  }, 3000);
  setInterval(count, 200);
  document.addEventListener("visibilitychange", count);
}

export function press(path, name, more = {}) {
  if (!view) return;
  const body = JSON.stringify({ do: name, block: view.block.id, ...more });
  const headers = { "Content-Type": "application/json" };
  fetch(path, { method: "POST", headers, body })
    .then((answer) => {
      // A conflict is a press that came too late: somebody else was first, and the page shows it.
      if (!answer.ok && answer.status !== 409) setText("offline", UNHEARD);
    })
    .catch(() => setText("offline", UNHEARD));
}

export function wireButtons(path) {
  for (const button of document.querySelectorAll("button[data-do]")) {
    button.addEventListener("click", (event) => {
      const cut = button.dataset.cut;
      press(path, button.dataset.do, cut === undefined ? {} : { cut: Number(cut) });
      dropFocus(event);
    });
  }
}

// After a click with the mouse, the space key must mean "pause" again and not this button.
export function dropFocus(event) {
  if (event.detail > 0) event.currentTarget.blur();
}

// --- The clock -------------------------------------------------------------------------------
function count() {
  if (!view) return;
  const left = view.ends === null ? view.left : view.ends - serverNow();
  const seconds = left >= 0 ? Math.ceil(left / 1000) : Math.floor(-left / 1000);
  const over = left < 0 && seconds > 0;
  const minutes = Math.floor(seconds / 60);
  const text = `${over ? "+" : ""}${minutes}:${String(seconds % 60).padStart(2, "0")}`;
  setText("time", text);
  const unit = over ? "over this block's minutes" : "left in this block";
  setText("unit", view.phase_text ? `${unit} · ${view.phase_text}` : unit);
  $("time").className = text.length > 5 ? "long" : text.length < 5 ? "short" : "";
  document.body.classList.toggle("block-over", over);
  const hand = document.querySelector("#bar .hand");
  if (hand) hand.style.left = `${placeOf(serverNow())}%`;
}

function span() {
  const rows = view.timeline;
  const begin = rows.length ? rows[0].from : view.now;
  const last = rows.length ? rows[rows.length - 1].to : view.now;
  return { begin, length: Math.max(last, view.planned_end) - begin || 1 };
}

function placeOf(time) {
  const { begin, length } = span();
  return Math.min(100, Math.max(0, ((time - begin) / length) * 100));
}

export function showClock() {
  document.title = `${view.block.title} · ${view.title}`;
  document.body.dataset.phase = view.phase;
  setText("title", view.block.title);
  setText("workshop", view.title);
  setText("place", `Block ${view.block.number} of ${view.block.of}`);
  setText("outcome", view.block.outcome);
  setText("next", view.next ? `${view.next.title}, ${view.next.minutes}` : "This is the last block.");
  showStatus();
  showButtons();
  showBar();
}

function showStatus() {
  const late = view.over > 0;
  setText("status-sign", late ? "▲" : view.over < 0 ? "▼" : "●");
  const end = late ? `ends ${view.end_text}, plan ${view.planned_end_text}` : `ends ${view.end_text}`;
  setText("status-text", `${view.over_text} · ${view.phase === "ended" ? end.replace("ends", "ended") : end}`);
  $("status").classList.toggle("late", late);
}

function showButtons() {
  const go = { ready: ["start", "Start"], running: ["pause", "Pause"], paused: ["resume", "Go on"] }[view.phase];
  const active = view.phase === "running" || view.phase === "paused";
  $("go").dataset.do = go ? go[0] : "";
  setText("go", go ? go[1] : "Over");
  $("go").disabled = !go;
  setText("step", view.next ? "Next" : "End");
  $("step").disabled = !active;
  $("undo").disabled = view.phase === "ready" || (view.phase !== "ended" && view.block.number === 1);
  for (const name of ["less", "more"]) {
    document.querySelector(`button[data-do=${name}]`).disabled = view.phase === "ended";
  }
}

function showBar() {
  const bar = $("bar");
  const shown = JSON.stringify([view.timeline, view.planned_end, view.over > 0]);
  if (bar.shown !== shown) {
    bar.shown = shown;
    const pieces = view.timeline.map((row) => {
      const piece = make("span", "", `piece ${row.kind}`);
      piece.append(make("span", row.kind === "pause" ? "" : row.title, "name"));
      place(piece, row.from, row.to);
      return piece;
    });
    const hand = make("span", "", "hand");
    const plan = make("span", "", "plan");
    plan.style.left = `${placeOf(view.planned_end)}%`;
    plan.hidden = view.over <= 0;
    bar.replaceChildren(...pieces, plan, hand);
  }
  setText("begin", view.begin_text);
  setText("end", view.over > 0 ? `${view.end_text} (plan ${view.planned_end_text})` : view.end_text);
  const words = `The session from ${view.begin_text} to ${view.end_text}: block ${view.block.number} of ${view.block.of}. ${view.over_text}.`;
  if (bar.getAttribute("aria-label") !== words) bar.setAttribute("aria-label", words);
}

function place(piece, from, to) {
  const left = placeOf(from);
  piece.style.left = `${left}%`;
  piece.style.width = `${Math.max(0, placeOf(to) - left)}%`;
}

// --- What is announced, once each ---------------------------------------------------------------
let announced = null;

export function announce() {
  const cue = view.cue ? view.cue.id : "";
  const now = { block: view.block.id, phase: view.phase, cue, notice: view.notice, over: view.over_text };
  const before = announced;
  announced = now;
  if (!before) return;
  const parts = [];
  if (now.block !== before.block || now.phase !== before.phase) {
    parts.push([view.phase_text, view.block.title, view.block.minutes].filter(Boolean).join(", "));
  }
  if (cue && cue !== before.cue) parts.push(view.cue.say);
  if (now.notice && now.notice !== before.notice) parts.push(now.notice);
  if (now.over !== before.over && view.phase !== "ready") parts.push(now.over);
  if (parts.length) setText("live", parts.join(". "));
}

// --- Light and dark ------------------------------------------------------------------------------
export function wireTheme() {
  const stored = remembered("theme");
  if (stored) document.documentElement.dataset.theme = stored;
  $("theme").addEventListener("click", (event) => {
    switchTheme();
    dropFocus(event);
  });
}

export function switchTheme() {
  const root = document.documentElement;
  const dark = root.dataset.theme
    ? root.dataset.theme === "dark"
    : matchMedia("(prefers-color-scheme: dark)").matches;
  root.dataset.theme = dark ? "light" : "dark";
  remember("theme", root.dataset.theme);
}

export function remembered(name) {
  try {
    return localStorage.getItem(`session-${name}`);
  } catch {
    return null;
  }
}

export function remember(name, value) {
  try {
    localStorage.setItem(`session-${name}`, value);
  } catch {
    // A browser that stores nothing shows the page all the same.
  }
}
