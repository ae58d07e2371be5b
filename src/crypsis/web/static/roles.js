// The columns: their roles, one by one or many at once, found again by name, role or doubt.
import { api, ask, attempt, discarding, dropping, listed, save, upload } from "./ask.js";
import { start } from "./jobs.js";

const list = document.querySelector("[data-roles]");
const table = list?.dataset.roles;
const rows = list ? [...list.querySelectorAll(".column")] : [];
const record = document.querySelector("[data-record]");
const person = () => {
  const choice = record.querySelector("[name=record]:checked")?.value ?? "";
  return choice === "column" ? record.querySelector("[data-person]").value : choice;
};
const fieldOf = (row) => row.querySelector("fieldset.roles");
const CONFIDENT = 0.8;

function mark(row, role, guessed) {
  fieldOf(row).querySelector(`[value="${role}"]`).checked = true;
  row.dataset.role = role;
  row.classList.toggle("guessed", guessed);
  fields(row);
  const sign = row.querySelector(".mark");
  if (guessed) return;
  sign.textContent = role === "undecided" ? "undecided" : "decided";
  sign.classList.toggle("sure", role !== "undecided");
  sign.classList.toggle("doubt", role === "undecided");
}

// What can be written about a column depends on its role.
function fields(row) {
  const { role } = row.dataset;
  for (const one of row.querySelectorAll("[data-for]")) one.hidden = one.dataset.for !== role;
  const reason = row.querySelector("[data-override]");
  const { override } = reason.dataset;
  const against = override === "always" || (!row.classList.contains("guessed") && ![role, "undecided"].includes(override));
  reason.hidden = (!against || ["identifier", "excluded", "undecided"].includes(role)) && !reason.querySelector("input").value;
}

function shown(state) {
  state.columns.forEach((one, place) => mark(rows[place], one.role, one.guessed));
  document.getElementById("guesses").textContent = state.guesses ? `${state.guesses} of ${state.columns.length} roles ${state.guesses === 1 ? "is a guess or undecided" : "are guesses or undecided"}. Nothing is called safe on a guess.` : "All roles are decided.";
  filter();
}

// What is refused is taken back: the page shows what the server knows.
async function decide(roles) {
  try {
    const state = await discarding("PUT", `/tables/${table}/roles`, { roles });
    if (state) shown(state);
    else back(Object.keys(roles));
  } catch (error) {
    back(Object.keys(roles));
    throw error;
  }
}

// What is written besides roles; where that is not wanted after all, the page shows what was there.
async function written(body) {
  if (!(await discarding("PUT", `/tables/${table}/roles`, body))) location.reload();
}

async function typed(field, column) {
  const job = await discarding("PUT", `/tables/${table}/reading`, { types: { [column]: field.value } });
  if (job) await start(job);
  else location.reload();
}

// A field whose change is refused shows again what it had.
async function kept(field, part, before, work) {
  try {
    await work();
  } catch (error) {
    field[part] = before;
    throw error;
  }
}

function back(names) {
  for (const row of rows) if (names.includes(fieldOf(row).dataset.column)) fieldOf(row).querySelector(`[value="${row.dataset.role}"]`).checked = true;
}

const chosen = () => rows.filter((row) => !row.hidden && row.querySelector("[data-pick]").checked);

function filter() {
  const words = document.getElementById("find").value.trim().toLowerCase();
  const which = document.getElementById("which").value;
  for (const row of rows) {
    const doubt = row.classList.contains("guessed") && (Number(row.dataset.confidence) < CONFIDENT || row.dataset.role === "undecided");
    const fits = which === "" || (which === "doubtful" ? doubt || row.dataset.role === "undecided" : which === "guessed" ? row.classList.contains("guessed") || row.dataset.role === "undecided" : row.dataset.role === which);
    row.hidden = !(fits && row.textContent.toLowerCase().includes(words));
  }
  // Where the row that was decided is no longer shown, the next one is gone on with.
  const gone = document.activeElement.closest(".column[hidden]");
  if (gone) {
    let next = gone;
    while (next?.hidden) next = next.nextElementSibling;
    (next?.querySelector(".roles :checked") ?? document.querySelector("[data-assess-now]")).focus();
  }
  const left = rows.filter((row) => !row.hidden).length;
  document.getElementById("found").textContent = left === rows.length ? "" : `${left} of ${rows.length} columns`;
  picked();
}

function picked() {
  const count = chosen().length;
  document.getElementById("many").hidden = !count;
  document.getElementById("many-count").textContent = count === 1 ? "1 column chosen" : `${count} columns chosen`;
}

function order(by) {
  const key = { doubt: (row) => (row.classList.contains("guessed") ? Number(row.dataset.confidence) : 2), file: (row) => Number(row.dataset.place), name: (row) => row.dataset.name };
  const of = key[by];
  list.append(...[...rows].sort((a, b) => (of(a) < of(b) ? -1 : of(a) > of(b) ? 1 : Number(a.dataset.place) - Number(b.dataset.place))));
}

function wire() {
  list.addEventListener("change", (event) => {
    if (event.target.matches("[data-pick]")) { picked(); return; }
    attempt(async () => {
      const { note, of, unit, type } = event.target.dataset;
      if (note) await written({ notes: { [of]: { [note]: note === "harmless" ? listed(event.target.value) ?? [] : event.target.value } } });
      else if (unit) await kept(event.target, "checked", !event.target.checked, () => written({ units: { [unit]: event.target.checked ? event.target.value : "" } }));
      else if (type) await kept(event.target, "value", event.target.querySelector("[selected]").value, () => typed(event.target, type));
      else await decide({ [event.target.closest("fieldset").dataset.column]: event.target.value });
    });
  });
  // A guess is confirmed by a click on it, or a key: where the role is checked already, nothing changes.
  const confirm = (event) => {
    const row = event.target.closest(".column.guessed");
    if (!event.target.matches(".roles input") || event.target.value !== row?.dataset.role || event.target.value === "undecided") return;
    attempt(() => decide({ [fieldOf(row).dataset.column]: event.target.value }));
  };
  list.addEventListener("click", confirm);
  list.addEventListener("keydown", (event) => { if (["Enter", " "].includes(event.key)) confirm(event); });
  record.addEventListener("change", (event) => attempt(async () => {
    if (event.target.matches("[data-person-reason]")) { await written({ units: { person_reason: event.target.value.trim() } }); return; }
    const column = record.querySelector("[data-person]");
    if (event.target === column && column.value) record.querySelector("[value=column]").checked = true;
    const choice = record.querySelector("[name=record]:checked")?.value;
    if (choice && choice !== "column") column.value = "";
    await written({ units: { person: person() } });
  }));
  document.getElementById("find").oninput = filter;
  document.getElementById("which").onchange = filter;
  document.getElementById("order").onchange = (event) => order(event.target.value);
  document.getElementById("all").onchange = (event) => {
    for (const row of rows) if (!row.hidden) row.querySelector("[data-pick]").checked = event.target.checked;
    picked();
  };
  const set = document.querySelector("[data-set-many]");
  set.onclick = () => attempt(async () => {
    const role = document.getElementById("many-role").value;
    await decide(Object.fromEntries(chosen().map((row) => [fieldOf(row).dataset.column, role])));
    for (const row of rows) row.querySelector("[data-pick]").checked = false;
    document.getElementById("all").checked = false;
    picked();
  }, set);
  const assess = document.querySelector("[data-assess-now]");
  assess.onclick = () => attempt(async () => {
    if (!record.querySelector("[name=record]").reportValidity()) return;
    await api("PUT", `/tables/${table}/roles`, { accept: true, discard: true, units: { person: person() } });
    await start(await api("POST", `/tables/${table}/assess`, JSON.parse(assess.dataset.assessNow)));
  }, assess);
  const file = document.querySelector("[data-roles-file]");
  dropping(file, (given) => attempt(async () => {
    await upload(`/tables/${table}/files/roles/upload`, given);
    const state = await discarding("PUT", `/tables/${table}/roles`, { file: true });
    if (state) location.reload();
  }));
  const get = document.querySelector("[data-roles-save]");
  get.onclick = () => attempt(async () => save(await ask("GET", `/api/v1/tables/${table}/roles.toml`), "roles.toml"), get);
}

if (list) {
  rows.forEach(fields);
  wire();
  const asked = new URLSearchParams(location.search).get("show");
  if (asked) document.getElementById("which").value = asked;
  order(document.getElementById("order").value);
  filter();
}
