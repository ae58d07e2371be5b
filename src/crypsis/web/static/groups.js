// Values of a column put in groups: dragged there, or chosen and named.
import { api } from "./ask.js";

export async function groupsEditor(place, table, column) {
  const found = await api("POST", `/tables/${table}/values`, { column, reveal: true });
  const box = document.createElement("div");
  box.className = "groups";
  box.innerHTML = '<p class="soft"></p><div class="chips" data-free></div><div class="tools"><label>Group <input data-name maxlength="60"></label><button type="button" data-put>Put the chosen values in it</button></div><div data-bins></div>';
  const more = found.distinct > found.values.length ? ` The ${found.values.length} most frequent of ${found.distinct} are shown; the others stay as they are.` : "";
  box.querySelector("p").textContent = `Choose values and name their group, or drag them to one.${more}`;
  const free = box.querySelector("[data-free]");
  const bins = new Map();
  let dragged = null;

  function chip({ value, text, count }) {
    const one = document.createElement("label");
    one.className = "chip";
    one.draggable = true;
    one.innerHTML = '<input type="checkbox"><bdi></bdi> <span class="soft"></span>';
    one.dataset.value = value;
    one.querySelector("bdi").textContent = text;
    one.querySelector("span").textContent = count.toLocaleString("en");
    one.ondragstart = () => { dragged = one; };
    return one;
  }

  function target(where) {
    where.ondragover = (event) => { event.preventDefault(); where.classList.add("over"); };
    where.ondragleave = () => where.classList.remove("over");
    where.ondrop = (event) => {
      event.preventDefault();
      where.classList.remove("over");
      if (dragged) where.append(dragged);
    };
  }

  function bin(name) {
    if (!bins.has(name)) {
      const one = document.createElement("div");
      one.className = "bin chips";
      one.setAttribute("role", "group");
      one.setAttribute("aria-label", name);
      one.append(Object.assign(document.createElement("strong"), { textContent: name }));
      target(one);
      bins.set(name, one);
      box.querySelector("[data-bins]").append(one);
    }
    return bins.get(name);
  }

  free.append(...found.values.map(chip));
  target(free);
  box.querySelector("[data-put]").onclick = () => {
    const name = box.querySelector("[data-name]").value.trim();
    if (!name) return;
    for (const one of box.querySelectorAll(".chip")) {
      const tick = one.querySelector("input");
      if (tick.checked) bin(name).append(one);
      tick.checked = false;
    }
  };
  place.replaceChildren(box);
  return () => Object.fromEntries([...bins].map(([name, one]) => [name, [...one.querySelectorAll(".chip")].map((value) => value.dataset.value)]).filter(([, values]) => values.length));
}
