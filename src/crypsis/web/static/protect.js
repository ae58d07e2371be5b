// Make it safe: what is required, what matters of each column, and at once what recipients would get.
import { api, ask, attempt, discarding, dropping, number, part, save, upload } from "./ask.js";
import { draw } from "./charts.js";
import { groupsEditor } from "./groups.js";
import { historyOf } from "./history.js";
import { follow, start } from "./jobs.js";

const form = document.getElementById("protect");
const table = form?.dataset.table;
const count = (value) => Math.round(value).toLocaleString("en");
const percent = (share) => `${+(100 * share).toPrecision(3)} %`;
const field = (name) => form.elements[name];
const mode = () => field("requirement").value;
const people = () => Math.round(10 ** Number(field("population").value));
const choices = () => [...form.querySelectorAll("[data-choice]")];
const named = () => [...form.querySelectorAll("[name]")].filter((one) => one.type !== "file");
const valued = (kind) => Object.fromEntries(named().filter((one) => one.name.startsWith(`${kind}:`) && one.value.trim()).map((one) => [one.name.slice(kind.length + 1), one]));
const read = (kind, of) => Object.fromEntries(Object.entries(valued(kind)).map(([name, one]) => [name, of(one.value, one)]).filter(([, value]) => value !== null));

// The choices by the names of their fields: as they are kept, undone, saved and opened again. Those of
// columns that are not on the page now, because their cells are still to be counted, stay.
let last = {};
function state() {
  const found = { ...last };
  for (const one of named()) {
    if (one.type === "radio") { if (one.checked) found[one.name] = one.value; }
    else if (one.type === "checkbox") found[one.name] = one.checked;
    else found[one.name] = one.value;
  }
  return found;
}

function restore(kept) {
  last = kept;
  for (const one of named()) {
    if (!(one.name in kept)) continue;
    if (one.type === "radio") one.checked = kept[one.name] === one.value;
    else if (one.type === "checkbox") one.checked = kept[one.name] === true;
    else if (one.tagName !== "SELECT" || [...one.options].some((option) => option.value === kept[one.name])) one.value = kept[one.name];
  }
}

const levels = () => (mode() === "release" ? read("level", (text) => Number(text) || null) : {});

function weights() {
  const own = mode() === "population" ? read("weight", (text) => (Number(text) ? 2 ** Number(text) : null)) : {};
  return { ...own, ...read("aim", (text) => ({ prefer: 4, "may go": 0 })[text] ?? null) };
}

const aimed = (aim) => Object.keys(read("aim", (text) => (text === aim ? true : null)));

function options() {
  const asked = {
    k: Number(field("k").value), suppression: Number(field("suppression").value), each_column: field("each_column").checked,
    methods: read("method", (text) => text), top_code: read("top", number), weights: weights(),
    keep: read("aim", (text) => (text.startsWith("keep:") ? Number(text.slice(5)) : null)),
    may_change: aimed("may change"), apart: aimed("apart"), exclude: aimed("exclude"),
    preserve: field("preserve").value.split(",").map((one) => one.split("+").map((name) => name.trim()).filter(Boolean)).filter((one) => one.length),
    person: field("person").value || null, household: field("household").value || null, weight: field("weight").value || null,
    ...read("advanced", (text, one) => (one.hasAttribute("data-number") ? number(text) : text)),
  };
  const pair = field("recursive_diversity").value;
  const two = pair.split(pair.includes(";") ? ";" : /[,\s]+/).filter((one) => one.trim());
  asked.recursive_diversity = two.length ? [number(two[0]), number(two[1] ?? "")] : null;
  for (const name of ["journalist_risk", "k_map", "presence", "diversity", "closeness", "best_guess", "excess"]) asked[name] = number(field(name).value);
  if (mode() === "population") Object.assign(asked, { population: people(), beta: Number(field("beta").value) });
  return asked;
}

function masks() {
  const amounts = read("amount", number);
  return read("mask", (method, one) => ({ method, amount: amounts[one.name.slice(5)] ?? null }));
}

const body = () => ({ options: options(), levels: levels(), masks: masks(), recoding: field("recoding").value, form: field("form").value, neutralize_formulas: field("neutralize_formulas").checked && field("form").value === "csv", policy: field("policy").value });

function show() {
  document.getElementById("k-value").textContent = field("k").value;
  document.getElementById("population-value").textContent = count(people());
  document.getElementById("beta-value").textContent = field("beta").value;
  document.getElementById("suppression-value").textContent = percent(Number(field("suppression").value));
  for (const one of form.querySelectorAll("[data-only]")) one.hidden = one.dataset.only !== mode();
  for (const one of choices()) {
    const range = one.querySelector("[data-level]");
    const level = JSON.parse(one.dataset.levels)[Number(range.value)];
    const text = `${level.description}, ${count(level.values)} ${level.values === 1 ? "value" : "values"}`;
    document.getElementById(`${range.id}-value`).textContent = text;
    range.setAttribute("aria-valuetext", text);
    const weight = one.querySelector("[data-weight]");
    document.getElementById(`${weight.id}-value`).textContent = `weight ${+(2 ** Number(weight.value)).toPrecision(3)}`;
  }
}

// Only the latest question counts: an older one is dropped, and so are all when the release is made.
const under = new Set();
let busy = false;
function latest(delay, work, mine = { timer: 0, stop: null }) {
  under.add(mine);
  return () => {
    clearTimeout(mine.timer);
    if (busy) return;
    mine.timer = setTimeout(async () => {
      mine.stop?.abort();
      mine.stop = new AbortController();
      const { signal } = mine.stop;
      try {
        await work({ signal }, () => signal.aborted);
      } catch (error) {
        if (!signal.aborted && error.status !== 409) await attempt(() => { throw error; });
      }
    }, delay);
  };
}

function drop() {
  busy = true;
  for (const one of under) { clearTimeout(one.timer); one.stop?.abort(); }
}

// Work for which everything else is dropped; if it does not lead to another page, one goes on here.
async function alone(work) {
  drop();
  try {
    await work();
  } finally {
    busy = false;
  }
}

const keeping = { timer: 0, stop: null };
const put = (how) => api("PUT", `/tables/${table}/choices`, { choices: state() }, how);
// What was chosen a moment ago is kept before a step is taken back; kept after that it would be a new step.
const settle = async () => { clearTimeout(keeping.timer); keeping.stop?.abort(); await put(); };
const history = form && historyOf(form, table, (kept) => { form.reset(); restore(kept); changed(); }, settle);

const keep = latest(250, async (how) => { history(await put(how)); }, keeping);

const tried = latest(700, async (how, over) => {
  const place = document.getElementById("tried");
  place.classList.add("old");
  const job = await api("POST", `/tables/${table}/try`, body(), how);
  const end = await follow(job.id, (now) => { if (over()) throw new DOMException("", "AbortError"); if (!place.querySelector("ul")) place.innerHTML = `<p class="soft">trying the release, ${Math.round(now.seconds)} s</p>`; });
  if (over()) return;
  if (end.state === "cancelled") { place.textContent = "This was stopped, because something else was asked of the table. Change a setting to try again."; return; }
  if (end.state === "failed") { place.textContent = end.error; return; }
  place.innerHTML = await part(`/t/${table}/tried`, undefined, how);
  place.classList.remove("old");
  for (const left of form.querySelectorAll("[data-left]")) {
    const { choice, sensitive } = left.parentElement.dataset;
    const line = [...place.querySelectorAll("[data-of]")].find((found) => found.dataset.of === (choice ?? sensitive));
    left.textContent = line ? line.querySelector("span").textContent : "";
    left.classList.toggle("lost", Boolean(line?.classList.contains("lost")));
  }
});

const byHand = () => document.getElementById("by-hand").open;

const whatIf = latest(40, async (how) => {
  if (!byHand()) return;
  const asked = { k: Number(field("k").value), levels: levels() };
  if (mode() === "population") Object.assign(asked, { population: people(), beta: Number(field("beta").value), weights: weights() });
  document.getElementById("what-if").innerHTML = await part(`/t/${table}/what-if`, asked, how);
});

const plan = latest(350, async (how) => {
  if (byHand()) document.getElementById("plan").innerHTML = await part(`/t/${table}/plan`, { options: options(), levels: levels() }, how);
});

const curve = latest(500, async (how) => {
  if (mode() !== "release" || !byHand()) return;
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

function changed() {
  show();
  keep();
  tried();
  whatIf();
  plan();
}

const sketch = () => alone(async () => {
  document.getElementById("tried").textContent = "";
  await put();
  const { k, methods, top_code, exclude } = options();
  await start(await api("POST", `/tables/${table}/preview`, { options: { k, methods, top_code, exclude } }));
});

async function useHierarchy(one) {
  const column = one.dataset.choice;
  const build = one.querySelector("[data-build]").value;
  if (build === "file") {
    const file = one.querySelector("[data-file] input").files[0];
    if (!file) throw new Error("Choose the file with the hierarchy first.");
    await upload(`/tables/${table}/files/hierarchy/upload`, file);
  }
  const steps = (one.querySelector("[data-steps] input").value || "").split(",").map(Number).filter((step) => step > 0);
  await api("POST", `/tables/${table}/hierarchy`, { column, build, steps, groups: one.groups?.() ?? {} });
  await sketch();
}

async function explore() {
  const place = document.getElementById("explored");
  const job = await api("POST", `/tables/${table}/explore`, { options: options() });
  const end = await follow(job.id, (now) => { place.innerHTML = `<p class="soft">${now.share ? percent(now.share) : "started"}, ${Math.round(now.seconds)} s</p>`; });
  if (end.state !== "done") { place.textContent = end.state === "cancelled" ? "" : end.error; return; }
  place.innerHTML = await part(`/t/${table}/explored`);
  const use = (event) => {
    if (event.key && !["Enter", " "].includes(event.key)) return;
    const chosen = event.target.closest("[data-k]");
    if (!chosen) return;
    event.preventDefault();
    field("k").value = chosen.dataset.k;
    field("recoding").value = chosen.dataset.recoding;
    changed();
  };
  place.onclick = use;
  place.onkeydown = (event) => event.target.matches("circle") && use(event);
}

function projects() {
  const everyone = form.querySelector("[data-population] input");
  everyone.onchange = () => attempt(async () => {
    if (!everyone.files.length) return;
    await upload(`/tables/${table}/files/population/upload`, everyone.files[0]);
    form.querySelector("[data-population] [data-taken]").textContent = everyone.files[0].name;
    changed();
  });
  const store = form.querySelector("[data-project-save]");
  store.onclick = () => attempt(async () => {
    await put();
    const more = document.getElementById("with-hierarchies")?.checked ? "?hierarchies=true" : "";
    await save(await ask("GET", `/api/v1/tables/${table}/project${more}`), "project.crypsis.json");
  }, store);
  dropping(form.querySelector("[data-project-open]"), (file) => attempt(() => alone(async () => {
    await upload(`/tables/${table}/files/project/upload`, file);
    const job = await discarding("PUT", `/tables/${table}/project`, {});
    if (job) await start(job);
  })));
}

function wire() {
  form.addEventListener("input", (event) => {
    if (event.target.matches("[data-method], [data-top], [data-build], [data-steps] input, [type=file]") || event.target.closest("[data-groups], .tools")) return;
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
      one.querySelector("[data-groups]").replaceChildren();
      if (event.target.value === "groups") attempt(async () => { one.groups = await groupsEditor(one.querySelector("[data-groups]"), table, one.dataset.choice); });
    }
  });
  for (const one of choices()) {
    const button = one.querySelector("[data-use] button");
    button.onclick = () => attempt(() => useHierarchy(one), button);
  }
  document.getElementById("by-hand").addEventListener("toggle", () => { whatIf(); plan(); curve(); });
  const all = form.querySelector("[data-explore]");
  all.onclick = () => attempt(explore, all);
  form.onsubmit = (event) => {
    event.preventDefault();
    attempt(() => alone(async () => {
      await put();
      await start(await api("POST", `/tables/${table}/anonymize`, body()));
    }), event.submitter);
  };
}

function begin() {
  if (form.dataset.preview === "no") attempt(sketch);
  else {
    changed();
    curve();
  }
}

if (form) {
  restore(JSON.parse(document.getElementById("choices").textContent));
  wire();
  projects();
  show();
  if (form.dataset.busy === "yes") document.addEventListener("idle", begin);
  else begin();
}
