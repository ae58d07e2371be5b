// Make it safe: what is required, what matters of each column, and at once what recipients would get.
import { api, ask, attempt, discarding, dropping, part, save, upload } from "./ask.js";
import { draw } from "./charts.js";
import { choicesOf } from "./choices.js";
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
const counted = () => [...form.querySelectorAll("[data-choice]")].filter((one) => one.querySelector("[data-level]"));
const text = (value) => ({ value, numeric: false });
const trouble = (error) => attempt(() => { throw error; });

function show() {
  document.getElementById("k-value").textContent = field("k").value;
  document.getElementById("population-value").textContent = count(people());
  document.getElementById("beta-value").textContent = field("beta").value;
  document.getElementById("suppression-value").textContent = percent(Number(field("suppression").value));
  for (const one of form.querySelectorAll("[data-only]")) one.hidden = one.dataset.only !== mode();
  for (const one of counted()) {
    const range = one.querySelector("[data-level]");
    const level = JSON.parse(one.dataset.levels)[Number(range.value)];
    const words = level ? `${level.description}, ${count(level.values)} ${level.values === 1 ? "value" : "values"}` : `level ${range.value}`;
    document.getElementById(`${range.id}-value`).textContent = words;
    range.setAttribute("aria-valuetext", words);
    const weight = one.querySelector("[data-weight]");
    document.getElementById(`${weight.id}-value`).textContent = `weight ${+(2 ** Number(weight.value)).toPrecision(3)}`;
  }
}

// Only the latest question counts: an older one is dropped, and so are all when the release is made.
const under = new Set();
let busy = false;
function latest(delay, work) {
  const mine = { timer: 0, stop: null };
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

// Work that gives way to whatever is asked next; what it comes to is shown, unless it was dropped.
async function background(what, words, how, over) {
  const place = document.getElementById("tried");
  const job = await api("POST", `/tables/${table}/${what}`, {}, how);
  const end = await follow(job.id, (now) => { if (over()) throw new DOMException("", "AbortError"); if (!place.querySelector("ul")) place.innerHTML = `<p class="soft">${words}, ${Math.round(now.seconds)} s</p>`; });
  if (over()) return false;
  if (end.state === "done") return true;
  const line = document.createElement("p");
  line.className = "notice bad";
  line.textContent = end.state === "failed" ? end.error : "This was stopped, because something else was asked of the table. Change a setting to try again.";
  place.replaceChildren(line);
  place.classList.remove("old");
  return false;
}

// What recipients get is that of an older list from now on.
const old = () => document.getElementById("tried").classList.add("old");

const tried = latest(450, async (how, over) => {
  const place = document.getElementById("tried");
  old();
  if (!choices.list.previewed) {
    if (!(await background("preview", "counting combinations", how, over))) return;
    choices.list.previewed = true;
    await rows();
    levelsByHand();
    curve();
  }
  if (!(await background("try", "trying the release", how, over))) return;
  place.innerHTML = await part(`/t/${table}/tried`, undefined, how);
  place.classList.remove("old");
  for (const left of form.querySelectorAll("[data-left]")) {
    const { choice, sensitive } = left.parentElement.dataset;
    const line = [...place.querySelectorAll("[data-of]")].find((found) => found.dataset.of === (choice ?? sensitive));
    left.textContent = line ? line.querySelector("span").textContent : "";
    left.classList.toggle("lost", Boolean(line?.classList.contains("lost")));
  }
});

// The columns as the server has them now: other levels, where cells were counted again.
async function rows() {
  const place = form.querySelector("[data-columns]");
  const open = [...place.querySelectorAll("details[open]")].map((one) => one.parentElement.dataset.choice);
  const focused = place.contains(document.activeElement) ? document.activeElement.name : "";
  const left = [...place.querySelectorAll("[data-left]")].map((one) => one.textContent);
  const page = new DOMParser().parseFromString(await part(`/t/${table}/protect`), "text/html");
  const now = page.querySelector("[data-columns]");
  if (!now) { location.reload(); return; } // no column is a quasi-identifier any more
  place.replaceChildren(...now.childNodes);
  for (const one of place.querySelectorAll("details")) one.open = open.includes(one.parentElement.dataset.choice);
  place.querySelectorAll("[data-left]").forEach((one, i) => { one.textContent = left[i] ?? ""; });
  choices.fill();
  show();
  if (focused) [...place.querySelectorAll("[name]")].find((one) => one.name === focused)?.focus();
}

const byHand = () => document.getElementById("by-hand").open;

const whatIf = latest(40, async (how) => {
  if (!byHand()) return;
  document.getElementById("what-if").innerHTML = await part(`/t/${table}/what-if`, {}, how);
});

const plan = latest(350, async (how) => {
  if (byHand()) document.getElementById("plan").innerHTML = await part(`/t/${table}/plan`, {}, how);
});

const curve = latest(500, async (how) => {
  if (mode() !== "release" || !byHand()) return;
  const found = await api("POST", `/tables/${table}/curve`, {}, how);
  const place = document.getElementById("curve");
  place.innerHTML = '<figure class="chart"><div class="live" role="img"></div><script type="application/json"></script></figure><div class="slider"><label for="along"><span>Along the curve</span><output for="along"></output></label><input type="range" id="along" min="0" step="1" value="0"></div>';
  place.querySelector(".live").setAttribute("aria-label", found.figure.description);
  place.querySelector("script").textContent = found.figure.specification;
  const along = place.querySelector("input");
  along.max = found.points.length - 1;
  const spoken = () => {
    const point = found.points[Number(along.value)];
    const words = `${percent(point.loss)} information loss, ${percent(point.share_below)} of the records in classes smaller than ${field("k").value}`;
    place.querySelector("output").textContent = words;
    along.setAttribute("aria-valuetext", words);
    return point;
  };
  spoken();
  along.addEventListener("input", (event) => {
    event.stopPropagation();
    const { levels } = spoken();
    choose(Object.fromEntries(counted().map((one) => [`level:${one.dataset.choice}`, text(String(levels[one.dataset.choice] ?? 0))])));
    choices.fill();
    show();
  });
  await draw(place);
});

function levelsByHand() {
  whatIf();
  plan();
}

function choose(changes) {
  old();
  choices.change(changes, trouble);
}

const choices = form && choicesOf(form, table, {
  showed: (list) => { show(); history(list); },
  changed: () => { old(); tried(); levelsByHand(); },
  lost: rows,
});
const history = form && historyOf(form, choices.move, async (name) => { choose({ [name]: text(null) }); await choices.settle(); });

async function useHierarchy(one) {
  await choices.settle();
  const column = one.dataset.choice;
  const build = one.querySelector("[data-build]").value;
  if (build === "file") {
    const file = one.querySelector("[data-file] input").files[0];
    if (!file) throw new Error("Choose the file with the hierarchy first.");
    await upload(`/tables/${table}/files/hierarchy/upload`, file);
  }
  const steps = (one.querySelector("[data-steps] input").value || "").split(",").map(Number).filter((step) => step > 0);
  await api("POST", `/tables/${table}/hierarchy`, { column, build, steps, groups: one.groups?.() ?? {} });
  await choices.look();
  tried();
}

async function explore() {
  const place = document.getElementById("explored");
  await choices.settle();
  const job = await api("POST", `/tables/${table}/explore`, {});
  const end = await follow(job.id, (now) => { place.innerHTML = `<p class="soft">${now.share ? percent(now.share) : "started"}, ${Math.round(now.seconds)} s</p>`; });
  if (end.state !== "done") { place.textContent = end.state === "cancelled" ? "" : end.error; return; }
  place.innerHTML = await part(`/t/${table}/explored`);
  const use = (event) => {
    if (event.key && !["Enter", " "].includes(event.key)) return;
    const chosen = event.target.closest("[data-k]");
    if (!chosen) return;
    event.preventDefault();
    choose({ k: text(chosen.dataset.k), recoding: text(chosen.dataset.recoding) });
    choices.fill();
    show();
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
    await choices.look();
  });
  const store = form.querySelector("[data-project-save]");
  store.onclick = () => attempt(async () => {
    await choices.settle();
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
    if (!event.target.name || event.target.type === "file") return;
    choose(choices.of(event.target));
    show();
    if (["k", "requirement"].includes(event.target.name)) curve();
  });
  form.addEventListener("change", (event) => {
    if (!event.target.matches("[data-build]")) return;
    const one = event.target.closest("[data-choice]");
    one.querySelector("[data-steps]").hidden = !["intervals", "prefixes"].includes(event.target.value);
    one.querySelector("[data-file]").hidden = event.target.value !== "file";
    one.querySelector("[data-use]").hidden = !event.target.value;
    one.querySelector("[data-groups]").replaceChildren();
    if (event.target.value === "groups") attempt(async () => { one.groups = await groupsEditor(one.querySelector("[data-groups]"), table, one.dataset.choice); });
  });
  form.addEventListener("click", (event) => {
    const button = event.target.closest("[data-use] button");
    if (button) attempt(() => useHierarchy(button.closest("[data-choice]")), button);
  });
  document.getElementById("by-hand").addEventListener("toggle", () => { levelsByHand(); curve(); });
  const all = form.querySelector("[data-explore]");
  all.onclick = () => attempt(explore, all);
  form.onsubmit = (event) => {
    event.preventDefault();
    attempt(() => alone(async () => {
      await choices.settle();
      await start(await choices.versioned("POST", `/tables/${table}/anonymize`, {}));
    }), event.submitter);
  };
}

const begin = () => attempt(choices.look);

if (form) {
  wire();
  projects();
  show();
  // A page that comes back from the browser's memory shows what it had; the list may be another now.
  addEventListener("pageshow", (event) => { if (event.persisted) begin(); });
  if (form.dataset.busy === "yes") document.addEventListener("idle", begin);
  else begin().then(curve);
}
