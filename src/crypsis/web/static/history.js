// The history of choices: undo, redo, and a list of the steps, each of which can be gone back to.
import { api, attempt } from "./ask.js";

// What a step changed, in the words of its fields.
function words(form, name, value) {
  const one = [...form.querySelectorAll("[name]")].find((found) => found.name === name && (found.type !== "radio" || found.value === value));
  const own = one?.labels?.[0];
  const label = (own?.querySelector("span")?.textContent ?? own?.firstChild?.textContent ?? name).trim();
  const [, kind, column] = /^(\w+):(.*)$/s.exec(name) ?? [];
  const what = column === undefined || kind === "advanced" ? label : kind === "aim" ? column : `${column}, ${label}`;
  if (one?.type === "radio") return what;
  const option = one?.tagName === "SELECT" ? [...one.options].find((found) => found.value === value)?.textContent : undefined;
  const number = name === "population" ? Math.round(10 ** Number(value)).toLocaleString("en") : undefined;
  return `${what}: ${{ true: "yes", false: "no" }[value] ?? (option || number || value || "none")}`;
}

// Gives a function that shows what the server says of the choices; `restore` puts them in the form, and
// `settle` keeps what the form has before a move.
export function historyOf(form, table, restore, settle) {
  const [undo, redo] = ["undo", "redo"].map((way) => form.querySelector(`[data-${way}]`));
  const place = form.querySelector("[data-history]");

  async function move(way, steps = 1) {
    await settle();
    const kept = await api("POST", `/tables/${table}/${way}?steps=${steps}`);
    restore(kept.choices);
    setTimeout(() => show(kept));
  }

  function line(changed, apart) {
    const item = document.createElement("li");
    const button = document.createElement("button");
    button.type = "button";
    button.className = "plain";
    button.textContent = Object.entries(changed).map(([name, value]) => words(form, name, value)).join("; ");
    if (apart > 0) item.className = "undone";
    if (apart === 0) button.setAttribute("aria-current", "step");
    button.onclick = () => attempt(async () => { if (apart) await move(apart > 0 ? "redo" : "undo", Math.abs(apart)); }, button);
    item.append(button);
    return item;
  }

  function show(kept) {
    undo.disabled = !kept.steps;
    redo.disabled = !kept.undone;
    place.hidden = !kept.history.length;
    place.querySelector("ol").replaceChildren(...kept.history.map((changed, step) => line(changed, step + 1 - kept.steps)));
  }

  undo.onclick = () => attempt(() => move("undo"), undo);
  redo.onclick = () => attempt(() => move("redo"), redo);
  return show;
}
