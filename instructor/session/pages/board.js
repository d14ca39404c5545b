// The board: pairs down, blocks across. Whatever a pair wrote is put in place as text, never as HTML.

import { $, dropFocus, make, setText } from "./core.js";

const WIDTH_OF_A_TABLE = 290;
const MOST_TABLES = 4;
const FEW_ROWS = 12;
const PARTS = { check: "Check", found: "Found", expected: "Expected", next: "Next" };

let drawn = new Map();
let layout = "";
let board = null;

export function showBoard(told) {
  board = told;
  $("board-key").textContent = told.columns
    .map((column, place) => `${place + 1} ${column.title} ${column.reached}/${told.rows.length}`)
    .join("  ·  ");
  const width = $("board-tables").clientWidth || window.innerWidth;
  const fit = Math.max(1, Math.min(MOST_TABLES, Math.floor(width / WIDTH_OF_A_TABLE)));
  const number = Math.min(fit, Math.ceil(told.rows.length / FEW_ROWS)) || 1;
  const wanted = JSON.stringify([number, told.columns.length, told.rows.map((row) => row.number)]);
  if (wanted !== layout) {
    layout = wanted;
    drawn = new Map();
    const each = Math.ceil(told.rows.length / number);
    const chunks = Array.from({ length: number }, (_, place) => told.rows.slice(place * each, (place + 1) * each));
    $("board-tables").replaceChildren(...chunks.map((rows) => table(told.columns, rows)));
  }
  for (const row of told.rows) update(row);
}

export function wireBoard() {
  window.addEventListener("resize", () => board && !$("board").hidden && showBoard(board));
  $("latest-close").addEventListener("click", () => $("latest").close());
}

export function redraw() {
  if (board) showBoard(board);
}

function table(columns, rows) {
  const element = make("table");
  const head = make("tr");
  const corner = make("th", "Pair");
  corner.scope = "col";
  head.append(corner);
  columns.forEach((column, place) => {
    const cell = make("th", String(place + 1), "mark");
    cell.scope = "col";
    cell.title = column.title;
    cell.append(make("span", ` ${column.title}`, "unseen"));
    head.append(cell);
  });
  const top = make("thead");
  top.append(head);
  const body = make("tbody");
  body.append(...rows.map((row) => line(columns, row)));
  element.append(top, body);
  return element;
}

function line(columns, row) {
  const element = make("tr");
  const name = make("th", "", "name");
  name.scope = "row";
  const cells = columns.map(() => make("td", "", "mark"));
  element.append(name, ...cells);
  drawn.set(row.number, { name, cells, shown: "" });
  return element;
}

function update(row) {
  const known = drawn.get(row.number);
  const shown = JSON.stringify(row);
  if (known.shown === shown) return;
  known.shown = shown;
  known.name.title = row.name;
  if (row.latest) {
    const button = make("button", row.name, "open");
    button.type = "button";
    button.addEventListener("click", (event) => {
      showLatest(row);
      dropFocus(event);
    });
    known.name.replaceChildren(button);
  } else {
    known.name.replaceChildren(make("span", row.name));
  }
  row.cells.forEach((cell, place) => {
    const element = known.cells[place];
    element.className = `mark ${cell.outcome}`;
    const mark = make("span", cell.mark);
    mark.setAttribute("aria-hidden", "true");
    element.replaceChildren(mark, make("span", cell.word, "unseen"));
  });
}

function showLatest(row) {
  setText("latest-name", row.name);
  const parts = Object.entries(PARTS)
    .filter(([name]) => row.latest[name])
    .flatMap(([name, label]) => [make("dt", label), make("dd", String(row.latest[name]))]);
  $("latest-parts").replaceChildren(...parts);
  $("latest").showModal();
}
