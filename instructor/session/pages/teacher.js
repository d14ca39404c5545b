import { $, announce, listen, make, press, setText, showClock, wireButtons, wireTheme } from "./core.js";
import { showBoard, wireBoard } from "./board.js";

const PRESS = "/teacher/press";
const STATUS = {
  proposed: "proposed now",
  possible: "",
  declined: "not now, you said",
  taken: "taken",
  gone: "no longer possible",
};

let notes = null;
let shown = { block: "", cues: "", cuts: "" };

function onState(view) {
  showClock();
  $("finish").disabled = !["running", "paused"].includes(view.phase);
  $("board").hidden = !view.watched;
  $("names").checked = view.names;
  setText("board-note", view.note || "");
  showCues(view.cues);
  showCuts(view.cuts);
  showNotes(view.block);
  showPace(`${view.block.id} ${view.phase}`);
  announce();
}

function showCues(cues) {
  if (shown.cues === JSON.stringify(cues)) return;
  shown.cues = JSON.stringify(cues);
  const rows = cues.map((cue) => {
    const row = make("li", "", cue.due ? "due" : "");
    row.append(make("b", cue.due ? "✓ said " : `${cue.at} `), cue.say);
    return row;
  });
  $("cues").replaceChildren(...(rows.length ? rows : [make("li", "Nothing to announce in this block.")]));
}

function showCuts(cuts) {
  if (shown.cuts === JSON.stringify(cuts)) return;
  shown.cuts = JSON.stringify(cuts);
  $("cuts").replaceChildren(...cuts.map(cutRow));
}

function cutRow(cut) {
  const row = make("li", "", cut.status);
  const frees = cut.frees ? ` ${cut.frees}, end ${cut.end_text}.` : "";
  const status = STATUS[cut.status] ? ` (${STATUS[cut.status]})` : "";
  row.append(make("b", `${cut.title}: `), `${cut.what}${frees}${status} `);
  for (const [name, label] of actions(cut.status)) {
    const button = make("button", label);
    button.type = "button";
    button.setAttribute("aria-label", `${label}: ${cut.title}`);
    button.addEventListener("click", () => press(PRESS, name, { cut: cut.cut }));
    row.append(button, " ");
  }
  return row;
}

function actions(status) {
  if (status === "taken") return [["restore", "Take back"]];
  if (status === "proposed") return [["cut", "Accept"], ["decline", "Not now"]];
  return status === "gone" ? [] : [["cut", "Cut"]];
}

function showNotes(block) {
  if (!notes || shown.block === block.id) return;
  shown.block = block.id;
  const own = notes.blocks[block.id];
  setText("notes-label", own ? `Notes: ${own.heading}` : "Notes");
  $("notes").replaceChildren(...items(own ? own.items : []));
  const rest = Object.entries(notes.blocks).filter(([id]) => id !== block.id).map(([, section]) => section);
  const sections = [...notes.others, ...rest];
  $("other-notes").replaceChildren(...sections.flatMap((section) => [make("h3", section.heading), ...items(section.items)]));
}

// The picture changes when a block ends; it is fetched only while somebody looks.
function showPace(when) {
  if (!$("pace").open || shown.pace === when) return;
  shown.pace = when;
  $("pace-picture").src = `/teacher/pace.svg?${encodeURIComponent(when)}-${Date.now()}`;
}

function items(rows) {
  return rows.map((row) => {
    const element = make("p", "", row.point ? "point" : "");
    const tags = { strong: "strong", code: "code" };
    element.append(...row.parts.map((part) => (tags[part.kind] ? make(tags[part.kind], part.text) : part.text)));
    return element;
  });
}

async function fetchNotes() {
  const answer = await fetch("/teacher/notes");
  notes = await answer.json();
}

async function wire() {
  wireTheme();
  wireButtons(PRESS);
  wireBoard();
  $("pace").addEventListener("toggle", () => showPace(`opened ${Date.now()}`));
  $("names").addEventListener("change", () => press(PRESS, "names", { shown: $("names").checked }));
  await fetchNotes().catch(() => {});
  listen("/teacher/events", onState, showBoard);
}

wire();
