// Make it safe: sliders, what they come to at once, the plan a moment later, and the trade-off.
import { api, attempt, part, say, upload } from "./ask.js";
import { start } from "./jobs.js";
import { draw } from "./charts.js";

const form = document.getElementById("protect");
const table = form?.dataset.table;
const kept = `protect-${table}`;
const number = (text) => (text && text.trim() ? Number(text.replace(/[ ,_]/g, "")) : null);
const count = (value) => Math.round(value).toLocaleString("en");
const percent = (share) => `${+(100 * share).toPrecision(3)} %`;
const field = (name) => form.elements[name];
const mode = () => field("requirement").value;
const people = () => Math.round(10 ** Number(field("population").value));
const choices = () => [...form.querySelectorAll("[data-choice]")];

function gathered(pick) {
  const found = {};
  for (const one of choices()) {
    const value = pick(one);
    if (value !== null && value !== undefined && value !== "") found[one.dataset.choice] = value;
  }
  return found;
}

const levels = () => (mode() === "release" ? gathered((one) => Number(one.querySelector("[data-level]").value) || null) : {});
const weights = () => gathered((one) => { const power = Number(one.querySelector("[data-weight]").value); return power ? 2 ** power : null; });

function options() {
  const asked = {
    k: Number(field("k").value), suppression: Number(field("suppression").value),
    methods: gathered((one) => one.querySelector("[data-method]").value),
    top_code: gathered((one) => number(one.querySelector("[data-top]")?.value)),
    person: field("person").value || null, weight: field("weight").value || null, journalist_risk: number(field("journalist_risk").value), diversity: number(field("diversity").value), closeness: number(field("closeness").value), best_guess: number(field("best_guess").value), excess: number(field("excess").value),
  };
  if (mode() === "population") Object.assign(asked, { population: people(), beta: Number(field("beta").value), weights: weights() });
  return asked;
}

function masks() {
  const found = {};
  for (const one of form.querySelectorAll("[data-mask]")) {
    const method = one.querySelector("select").value;
    if (method) found[one.dataset.mask] = { method, amount: number(one.querySelector("input").value) };
  }
  return found;
}

function show() {
  document.getElementById("k-value").textContent = field("k").value;
  document.getElementById("population-value").textContent = count(people());
  document.getElementById("beta-value").textContent = field("beta").value;
  document.getElementById("suppression-value").textContent = percent(Number(field("suppression").value));
  for (const one of form.querySelectorAll("[data-only]")) one.hidden = one.dataset.only !== mode();
  for (const one of choices()) {
    const range = one.querySelector("[data-level]");
    const level = JSON.parse(one.dataset.levels)[Number(range.value)];
    const text = `${level.description}, ${count(level.values)} values`;
    document.getElementById(`${range.id}-value`).textContent = text;
    range.setAttribute("aria-valuetext", text);
    const weight = one.querySelector("[data-weight]");
    document.getElementById(`${weight.id}-value`).textContent = `weight ${+(2 ** Number(weight.value)).toPrecision(3)}`;
  }
}

// Only the latest question counts: an older one that is still under way is dropped.
function latest(delay, work) {
  let timer;
  let under = null;
  return () => {
    clearTimeout(timer);
    timer = setTimeout(async () => {
      under?.abort();
      under = new AbortController();
      await attempt(() => work({ signal: under.signal }));
    }, delay);
  };
}

const whatIf = latest(40, async (how) => {
  const asked = { k: Number(field("k").value), levels: levels() };
  if (mode() === "population") Object.assign(asked, { population: people(), beta: Number(field("beta").value), weights: weights() });
  document.getElementById("what-if").innerHTML = await part(`/t/${table}/what-if`, asked, how);
});

const plan = latest(350, async (how) => {
  document.getElementById("plan").innerHTML = await part(`/t/${table}/plan`, { options: options(), levels: levels() }, how);
});

const curve = latest(500, async (how) => {
  if (mode() !== "release") return;
  const found = await api("POST", `/tables/${table}/curve`, { k: Number(field("k").value) }, how);
  const place = document.getElementById("curve");
  place.innerHTML = '<figure class="chart"><div class="live" role="img"></div><script type="application/json"></script></figure><div class="slider"><label for="along"><span>Along the curve</span><output for="along"></output></label><input type="range" id="along" min="0" step="1" value="0"></div>';
  place.querySelector(".live").setAttribute("aria-label", found.figure.description);
  place.querySelector("script").textContent = found.figure.specification;
  const along = place.querySelector("input");
  along.max = found.points.length - 1;
  const text = () => {
    const point = found.points[Number(along.value)];
    const words = `${percent(point.loss)} information loss, ${percent(point.share_below)} of the records in classes smaller than ${field("k").value}`;
    place.querySelector("output").textContent = words;
    along.setAttribute("aria-valuetext", words);
    return point;
  };
  text();
  along.addEventListener("input", (event) => {
    event.stopPropagation();
    const point = text();
    for (const one of choices()) one.querySelector("[data-level]").value = point.levels[one.dataset.choice] ?? 0;
    changed();
  });
  await draw(place);
});

function remember() {
  const values = [...form.querySelectorAll("input:not([type=file]), select")].map((one) => (["checkbox", "radio"].includes(one.type) ? one.checked : one.value));
  sessionStorage.setItem(kept, JSON.stringify(values));
}

function recall() {
  const values = JSON.parse(sessionStorage.getItem(kept) ?? "[]");
  const fields = [...form.querySelectorAll("input:not([type=file]), select")];
  if (values.length !== fields.length) return;
  fields.forEach((one, i) => {
    if (one.hasAttribute("data-build")) return;
    if (["checkbox", "radio"].includes(one.type)) one.checked = values[i];
    else one.value = values[i];
  });
}

function changed() {
  show();
  remember();
  whatIf();
  plan();
}

const sketch = async () => {
  remember();
  const { methods, top_code } = options();
  await start(await api("POST", `/tables/${table}/preview`, { options: { methods, top_code } }));
};

async function useHierarchy(one) {
  const column = one.dataset.choice;
  const build = one.querySelector("[data-build]").value;
  if (build === "file") {
    const file = one.querySelector("[data-file] input").files[0];
    if (!file) throw new Error("Choose the file with the hierarchy first.");
    await upload(`/tables/${table}/files/hierarchy/upload`, file);
  }
  const steps = (one.querySelector("[data-steps] input").value || "").split(",").map(Number).filter((step) => step > 0);
  await api("POST", `/tables/${table}/hierarchy`, { column, build, steps });
  await sketch();
}

function wire() {
  form.addEventListener("input", (event) => {
    if (event.target.closest("[data-mask]") || event.target.matches("[data-method], [data-top], [data-build], [data-steps] input, [type=file]")) return;
    changed();
    if (["k", "requirement"].includes(event.target.name)) curve();
  });
  form.addEventListener("change", (event) => {
    if (event.target.matches("[data-method], [data-top]")) attempt(sketch);
    if (event.target.matches("[data-build]")) {
      const one = event.target.closest("[data-choice]");
      one.querySelector("[data-steps]").hidden = !["intervals", "prefixes"].includes(event.target.value);
      one.querySelector("[data-file]").hidden = event.target.value !== "file";
      one.querySelector("[data-use]").hidden = !event.target.value;
    }
  });
  for (const one of choices()) {
    const button = one.querySelector("[data-use] button");
    button.onclick = () => attempt(() => useHierarchy(one), button);
  }
  form.onsubmit = (event) => {
    event.preventDefault();
    const body = { options: options(), levels: levels(), masks: masks(), recoding: field("recoding").value, form: field("form").value, neutralize_formulas: field("neutralize_formulas").checked && field("form").value === "csv", policy: field("policy").value };
    attempt(async () => start(await api("POST", `/tables/${table}/anonymize`, body)), event.submitter);
  };
}

if (form) {
  recall();
  wire();
  show();
  if (form.dataset.busy === "yes") say("");
  else if (form.dataset.preview === "no") attempt(sketch);
  else {
    changed();
    curve();
  }
}
