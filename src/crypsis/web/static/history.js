// The choices in words: the list of them, and the steps that led to it, each of which can be gone back to.
import { attempt } from "./ask.js";

// A choice in the words of its field.
function words(form, name, value) {
  const one = [...form.querySelectorAll("[name]")].find((found) => found.name === name && (found.type !== "radio" || found.value === value));
  const own = one?.labels?.[0];
  const [, kind, column] = /^(\w+):(.*)$/s.exec(name) ?? [];
  const label = (own?.querySelector("span")?.textContent ?? own?.firstChild?.textContent ?? kind ?? name).trim();
  const what = column === undefined || kind === "advanced" ? label : ["aim", "mask"].includes(kind) ? column : `${column}, ${label}`;
  if (one?.type === "radio") return what;
  const option = one?.tagName === "SELECT" ? [...one.options].find((found) => found.value === value)?.textContent : undefined;
  const number = name === "population" ? Math.round(10 ** Number(value)).toLocaleString("en") : undefined;
  return `${what}: ${{ true: "yes", false: "no" }[value] ?? (option || number || value || "none")}`;
}

function button(text, press) {
  const made = document.createElement("button");
  made.type = "button";
  made.className = "plain";
  made.textContent = text;
  made.onclick = () => attempt(press, made);
  return made;
}

const item = (...parts) => {
  const made = document.createElement("li");
  made.append(...parts);
  return made;
};

// Gives a function that shows what the server says of the choices; `move` goes along the steps, and
// `remove` takes one choice back.
export function historyOf(form, move, remove) {
  const [undo, redo] = ["undo", "redo"].map((way) => form.querySelector(`[data-${way}]`));
  const place = form.querySelector("[data-history]");
  undo.onclick = () => attempt(() => move("undo", 1));
  redo.onclick = () => attempt(() => move("redo", 1));

  function line(changed, apart) {
    const text = Object.entries(changed).map(([name, value]) => words(form, name, value)).join("; ");
    const step = button(text, async () => { if (apart) await move(apart > 0 ? "redo" : "undo", Math.abs(apart)); });
    if (apart === 0) step.setAttribute("aria-current", "step");
    const made = item(step);
    if (apart > 0) made.className = "undone";
    return made;
  }

  function choice([name, value]) {
    const text = words(form, name, value);
    const off = button("Take back", () => remove(name));
    off.setAttribute("aria-label", `Take back: ${text}`);
    const made = item(text, " ", off);
    made.dataset.choiceOf = name;
    return made;
  }

  return (list) => {
    undo.disabled = !list.steps;
    redo.disabled = !list.undone;
    place.hidden = !list.history.length;
    place.querySelector("ol").replaceChildren(...list.history.map((changed, step) => line(changed, step + 1 - list.steps)));
    const chosen = Object.entries(list.choices);
    form.querySelector("[data-chosen]").replaceChildren(...chosen.map(choice));
    form.querySelector("[data-nothing]").hidden = chosen.length > 0;
  };
}
