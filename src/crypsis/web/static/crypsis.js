// What every page shares: opening files, reading and assessing them, tabs, findings, the key. No library.
import { api, ask, attempt, confirmed, discarding, dropping, fileBox, here, listed, number, part, root, save, upload } from "./ask.js";
import { draw, redraw } from "./charts.js";
import { start, watch } from "./jobs.js";

function theme() {
  const root = document.documentElement;
  const kept = localStorage.getItem("theme");
  if (kept) root.dataset.theme = kept;
  document.getElementById("theme").onclick = () => {
    const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
    root.dataset.theme = dark ? "light" : "dark";
    localStorage.setItem("theme", root.dataset.theme);
    redraw();
  };
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
}

function opening() {
  const box = document.getElementById("open");
  if (!box) return;
  const enter = (job) => location.assign(`${root}/t/${job.table}`);
  const bar = box.querySelector("progress");
  dropping(box, (file) => attempt(async () => {
    bar.hidden = false;
    try { enter(await upload("/tables/upload", file, (share) => { bar.value = share; })); } finally { bar.hidden = true; }
  }));
  for (const button of document.querySelectorAll("[data-open-given]")) {
    button.onclick = () => attempt(async () => enter(await api("POST", "/tables/given", { place: Number(button.dataset.openGiven) })), button);
  }
  const sample = document.querySelector("[data-open-sample]");
  sample.onclick = () => attempt(async () => enter(await api("POST", "/tables/sample")), sample);
}

function forms() {
  for (const form of document.querySelectorAll("form[data-assess]")) {
    const address = `/tables/${form.dataset.assess}`;
    for (const box of form.querySelectorAll(".drop")) fileBox(box, () => address);
    form.onsubmit = (event) => {
      event.preventDefault();
      const given = Object.fromEntries(new FormData(form));
      attempt(async () => {
        const body = { policy: given.policy, population: number(given.population), accept_guesses: "accept_guesses" in given, synthetic: "synthetic" in given, exact: "exact" in given };
        body.answers = Object.fromEntries([...form.querySelectorAll("[data-answer]")].map((one) => [one.dataset.answer, one.value.trim()]));
        for (const name of ["context", "person", "household", "weight", "stratum", "cluster", "on", "original_person"]) body[name] = given[name] || null;
        await start(await api("POST", `${address}/assess`, body));
      }, event.submitter);
    };
  }
  for (const form of document.querySelectorAll("form[data-reading]")) {
    form.onsubmit = (event) => {
      event.preventDefault();
      const body = Object.fromEntries([...new FormData(form)].map(([name, value]) => [name, value.trim() || null]));
      if (body.delimiter === "\\t") body.delimiter = "\t";
      for (const name of ["names", "missing_markers"]) if (body[name]) body[name] = listed(body[name]);
      attempt(async () => {
        const job = await discarding("PUT", `/tables/${form.dataset.reading}/reading`, body);
        if (job) await start(job);
      }, event.submitter);
    };
  }
  for (const form of document.querySelectorAll("form[data-package]")) {
    form.onsubmit = (event) => {
      event.preventDefault();
      const body = Object.fromEntries(new FormData(form));
      body.conditions = body.conditions.split("\n").map((line) => line.trim()).filter(Boolean);
      attempt(async () => start(await api("POST", `/tables/${form.dataset.package}/package`, body)), event.submitter);
    };
  }
  for (const button of document.querySelectorAll("[data-rewrite]")) {
    button.onclick = () => attempt(async () => start(await api("POST", `/tables/${button.dataset.rewrite}/rewrite`)), button);
  }
  for (const button of document.querySelectorAll("[data-close]")) {
    button.onclick = () => attempt(async () => {
      const made = button.hasAttribute("data-made");
      if (made && !(await confirmed("The release and its re-identification key are deleted with the table. Downloads that you saved stay.", "Close"))) return;
      await api("DELETE", `/tables/${button.dataset.close}`);
      if (here() === "/") location.reload();
      else location.assign(`${root}/`);
    }, button);
  }
}

function tabs() {
  for (const list of document.querySelectorAll("[role=tablist]")) {
    const every = [...list.querySelectorAll("[role=tab]")];
    const choose = (tab) => {
      for (const one of every) {
        one.setAttribute("aria-selected", String(one === tab));
        one.tabIndex = one === tab ? 0 : -1;
        document.getElementById(one.getAttribute("aria-controls")).hidden = one !== tab;
      }
      tab.focus();
      draw();
    };
    for (const tab of every) {
      tab.onclick = () => choose(tab);
      tab.onkeydown = (event) => {
        const place = every.indexOf(tab);
        const to = { ArrowRight: place + 1, ArrowLeft: place - 1, Home: 0, End: every.length - 1 }[event.key];
        if (to === undefined) return;
        event.preventDefault();
        choose(every[(to + every.length) % every.length]);
      };
    }
  }
}

function findings() {
  const table = here().split("/")[2];
  for (const one of document.querySelectorAll("[data-finding]")) {
    const place = one.querySelector("[data-causes]");
    if (!place) continue;
    const behind = (reveal) => attempt(async () => {
      const body = { question: one.dataset.question, columns: JSON.parse(one.dataset.columns), class_size: Number(one.dataset.classSize), reveal };
      place.innerHTML = await part(`/t/${table}/causes`, body);
      place.querySelector("[data-reveal]")?.addEventListener("click", () => behind(true));
    });
    one.addEventListener("toggle", () => { if (one.open && !place.childElementCount) behind(false); });
  }
}

// The record that is easiest to single out, as an example: on request, on this machine, in no report.
function example() {
  const place = document.querySelector("[data-example]");
  if (!place) return;
  const button = place.querySelector("button");
  button.onclick = () => attempt(async () => {
    const found = await api("POST", `/tables/${here().split("/")[2]}/rows`, { order: "risk", limit: 1, reveal: true });
    const [record] = found.rows;
    const alike = record.size === 1 ? "No other record is" : record.size === 2 ? "1 other record is" : `${(record.size - 1).toLocaleString("en")} other records are`;
    const list = (roles) => found.columns.flatMap((one, i) => (roles.includes(one.role) ? [[one.name, record.before[i] ?? "(missing)"]] : []));
    const box = document.createElement("dl");
    for (const [name, value] of [...list(["quasi-identifier"]), ...list(["sensitive"])]) {
      const [term, text] = [document.createElement("dt"), document.createElement("dd")];
      term.textContent = name;
      text.textContent = value;
      box.append(term, text);
    }
    const [words, note] = [document.createElement("p"), document.createElement("p")];
    const learned = list(["sensitive"]).length ? " and learns the sensitive attributes below" : "";
    words.textContent = `Record ${record.row.toLocaleString("en")}: ${alike} alike in the quasi-identifiers. ${record.size === 1 ? `Whoever knows them of this person finds the record${learned}.` : `Whoever knows them of this person is right with probability 1/${record.size}.`}`;
    note.className = "soft";
    note.textContent = "These are values of your data. No report and no dossier contains them.";
    place.replaceChildren(words, box, note);
  }, button);
}

function key() {
  const confirm = document.getElementById("key-confirm");
  if (!confirm) return;
  const button = document.querySelector("[data-key]");
  confirm.onchange = () => { button.disabled = !confirm.checked; };
  button.onclick = () => attempt(async () => save(await ask("POST", `/api/v1/tables/${button.dataset.key}/key`, { confirm: true }), "reidentification.key.json"));
}

// On paper all tabs and findings are shown, with their charts.
function printing() {
  addEventListener("beforeprint", () => {
    document.documentElement.classList.add("printed");
    for (const one of document.querySelectorAll("main details:not([open])")) { one.open = true; one.dataset.printed = ""; }
  });
  addEventListener("afterprint", () => {
    document.documentElement.classList.remove("printed");
    for (const one of document.querySelectorAll("details[data-printed]")) { one.open = false; delete one.dataset.printed; }
  });
}

theme();
key();
opening();
forms();
tabs();
findings();
example();
printing();
watch();
draw();
