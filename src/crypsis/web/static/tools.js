// Two files together: each form makes a piece of work, gives it its files, and asks.
import { api, attempt, fileBox, listed, number, part } from "./ask.js";
import { start } from "./jobs.js";

for (const form of document.querySelectorAll("form[data-tool]")) {
  const needs = form.dataset.needs.split(" ");
  const taken = new Set();
  let table = null; // pending: two files may come at once and belong together
  const work = () => (table ??= api("POST", "/tables", { kind: form.dataset.tool }).then((made) => made.id));

  async function took(box) {
    taken.add(box.dataset.slot);
    form.querySelector("[type=submit]").disabled = !needs.every((slot) => taken.has(slot));
    const record = form.querySelector("[data-record]");
    if (record) record.innerHTML = await part(`/t/${await table}/record`);
  }
  for (const box of form.querySelectorAll(".drop")) fileBox(box, async () => `/tables/${await work()}`, took);

  const only = () => {
    const kind = new FormData(form).get("kind");
    for (const one of form.querySelectorAll("[data-only]")) one.hidden = kind !== null && one.dataset.only !== kind;
  };
  form.addEventListener("change", only);
  only();

  const bodies = {
    compare: (given) => ({ on: given.on || null, columns: listed(given.columns), acceptable: number(given.acceptable), frequency: "frequency" in given }),
    verify: (given) => ({ record: Object.fromEntries([...form.querySelectorAll("[data-value]")].filter((one) => one.value.trim()).map((one) => [one.dataset.value, one.value])), permutation_only: "permutation_only" in given }),
    attack: (given) => ({
      kind: given.kind, item: given.item || null, pseudonym: given.pseudonym || null, same_rows: "same_rows" in given,
      on: Object.fromEntries((listed(given.on) ?? []).map((one) => { const [name, far] = one.split("="); return [name.trim(), Number(far ?? 0)]; })),
      error: number(given.error), min_degree: number(given.min_degree), max_cracks: number(given.max_cracks),
    }),
  };
  form.onsubmit = (event) => {
    event.preventDefault();
    attempt(async () => {
      const body = bodies[form.dataset.do](Object.fromEntries(new FormData(form)));
      await start(await api("POST", `/tables/${await table}/${form.dataset.do}`, body));
    }, event.submitter);
  };
}
