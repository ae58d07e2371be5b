// The records: only those in sight are in the page, the others are asked for as one scrolls.
import { api, attempt } from "./ask.js";

const box = document.getElementById("grid");
const HIGH = 30; // pixels of a row
const WINDOW = 100;
const [head, body] = [box.querySelector("thead"), box.querySelector("tbody")];
const field = (name) => document.getElementById(name).value;
let pieces = new Map(); // windows of rows by their number
let shape = null;
let turn = 0;

function cell(kind, text, name) {
  const one = document.createElement(kind);
  if (text === null) one.className = "none";
  one.textContent = text ?? "–";
  if (name) one.className = `${one.className} ${name}`.trim();
  if (text && text.length > 24) one.title = text;
  return one;
}

function header(found) {
  const top = document.createElement("tr");
  top.append(cell("th", "Row", "number"), cell("th", found.compared ? "Class, after" : "Class", "number"));
  for (const one of found.columns) {
    const name = cell("th", one.name, one.role);
    name.scope = "col";
    name.dir = "auto";
    name.title = `${one.name}: ${one.role}`;
    top.append(name);
    if (one.released) top.append(cell("th", "released", "after"));
  }
  head.replaceChildren(top);
}

function record(one, found, place) {
  const row = document.createElement("tr");
  row.setAttribute("aria-rowindex", place + 2);
  const after = one.size_after === null ? "" : `, ${one.size_after || "–"}`;
  row.append(cell("td", one.row.toLocaleString("en"), "number"), cell("td", `${one.size.toLocaleString("en")}${after}`, one.size < Number(field("grid-k")) ? "number small" : "number"));
  let released = 0;
  found.columns.forEach((column, i) => {
    row.append(cell("td", one.before[i]));
    if (!column.released) return;
    const now = one.after === null ? null : one.after[released];
    const changed = one.changed.includes(released);
    row.append(cell("td", now, `after ${one.after === null || (changed && now === null) ? "gone" : changed ? "changed" : ""}`));
    released += 1;
  });
  return row;
}

const spacer = (rows) => {
  const row = document.createElement("tr");
  row.setAttribute("aria-hidden", "true");
  row.className = "spacer";
  row.style.height = `${rows * HIGH}px`;
  return row;
};

function show() {
  const first = Math.max(0, Math.floor(box.scrollTop / HIGH) - 10);
  const last = Math.min(shape.total, first + Math.ceil(box.clientHeight / HIGH) + 20);
  const rows = [];
  let blank = first;
  for (let place = first; place < last; place += 1) {
    const one = pieces.get(Math.floor(place / WINDOW))?.[place % WINDOW];
    if (!one) break;
    rows.push(record(one, shape, place));
    blank = place + 1;
  }
  body.replaceChildren(spacer(first), ...rows, spacer(shape.total - blank));
  for (const window of new Set([Math.floor(first / WINDOW), Math.floor(Math.max(0, last - 1) / WINDOW)])) if (!pieces.has(window)) get(window);
}

function get(window) {
  const mine = turn;
  pieces.set(window, null);
  return attempt(async () => {
    const asked = { offset: window * WINDOW, limit: WINDOW, order: field("grid-order"), show: field("show"), k: Number(field("grid-k")) || 5, reveal: true };
    const found = await api("POST", `/tables/${box.dataset.table}/rows`, asked);
    if (mine !== turn) return;
    pieces.set(window, found.rows);
    if (!shape) header(found);
    shape = { total: found.total, columns: found.columns, compared: found.compared };
    box.querySelector("table").setAttribute("aria-rowcount", found.total + 1);
    document.getElementById("shown").textContent = `${found.total.toLocaleString("en")} of ${found.records.toLocaleString("en")} records`;
    show();
  });
}

function again() {
  turn += 1;
  pieces = new Map();
  shape = null;
  box.scrollTop = 0;
  return get(0);
}

let waiting = false;
box.addEventListener("scroll", () => {
  if (waiting || !shape) return;
  waiting = true;
  requestAnimationFrame(() => { waiting = false; if (shape) show(); });
});
for (const name of ["show", "grid-order", "grid-k"]) document.getElementById(name).addEventListener("change", again);
again();
