// What every page shares: asking the API, uploads, progress, roles, tabs. No library.
import { draw, redraw } from "./charts.js";

export const root = document.querySelector("meta[name=root]").content;
const here = () => location.pathname.slice(root.length);
const csrf = document.querySelector("meta[name=csrf]").content;
const trouble = document.getElementById("trouble");

export function say(message) {
  trouble.textContent = message;
  trouble.hidden = !message;
  if (message) trouble.scrollIntoView({ block: "nearest" });
}

async function ask(method, address, body, options = {}) {
  const headers = { "X-CSRF-Token": csrf };
  if (body !== undefined) headers["Content-Type"] = "application/json";
  const answer = await fetch(address, { method, headers, body: body === undefined ? undefined : JSON.stringify(body), signal: options.signal });
  if (answer.ok) return answer;
  const message = (answer.headers.get("content-type") ?? "").includes("json") ? (await answer.json()).error : new DOMParser().parseFromString(await answer.text(), "text/html").querySelector("main p")?.textContent;
  throw new Error(message || `That did not work (${answer.status}).`);
}

export async function api(method, path, body, options) {
  const answer = await ask(method, `${root}/api/v1${path}`, body, options);
  return answer.status === 204 ? null : answer.json();
}

export async function part(address, body, options) {
  return (await ask(body === undefined ? "GET" : "POST", `${root}${address}`, body, options)).text();
}

// Runs something a person asked for; an error is shown.
export async function attempt(work, button) {
  say("");
  if (button) button.disabled = true;
  try {
    return await work();
  } catch (error) {
    if (error.name !== "AbortError") say(error.message);
  } finally {
    if (button) button.disabled = false;
  }
  return undefined;
}

export function upload(path, file, hear) {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open("POST", `${root}/api/v1${path}?name=${encodeURIComponent(file.name)}`);
    request.setRequestHeader("X-CSRF-Token", csrf);
    request.setRequestHeader("Content-Type", "application/octet-stream");
    request.responseType = "json";
    request.upload.onprogress = (event) => event.lengthComputable && hear?.(event.loaded / event.total);
    request.onload = () => (request.status < 300 ? resolve(request.response) : reject(new Error(request.response?.error ?? "The upload was refused.")));
    request.onerror = () => reject(new Error("The upload was refused, or the server has ended."));
    request.send(file);
  });
}

// Follows a job until it ends; gives its last state.
export async function follow(job, hear) {
  for (let wait = 120; ; wait = Math.min(1000, wait * 1.3)) {
    const now = await api("GET", `/jobs/${job}`);
    hear?.(now);
    if (!["waiting", "running"].includes(now.state)) return now;
    await new Promise((resolve) => setTimeout(resolve, wait));
  }
}

export function panel(job) {
  const section = document.createElement("section");
  section.className = "progress";
  section.dataset.job = job.id;
  section.setAttribute("aria-label", job.what);
  section.innerHTML = '<h2></h2><progress></progress><p class="soft" data-state aria-live="polite"></p><button type="button" class="plain" data-cancel>Cancel</button>';
  section.querySelector("h2").textContent = job.what;
  section.querySelector("progress").setAttribute("aria-label", job.what);
  const before = document.querySelector(".steps") ?? document.querySelector("h1");
  document.querySelectorAll("main > .progress").forEach((old) => old.remove());
  (before.closest(".heading") ?? before).after(section);
  section.scrollIntoView({ block: "nearest" });
  return section;
}

export async function show(section, job, then) {
  const bar = section.querySelector("progress");
  const message = section.querySelector("[data-state]");
  section.querySelector("[data-cancel]").onclick = (event) => attempt(() => api("POST", `/jobs/${job}/cancel`), event.target);
  const end = await follow(job, (now) => {
    const step = now.steps.at(-1);
    const share = now.steps.filter((one) => one.total).map((one) => one.done / one.total)[0];
    if (share === undefined) bar.removeAttribute("value");
    else bar.value = share;
    message.textContent = now.state === "waiting" ? "waiting for other work" : `${step ? step.what : "working"}, ${Math.round(now.seconds)} s`;
  });
  section.remove();
  if (end.state === "done") await (then ?? go)(end);
  else say(end.error ?? "It was stopped.");
  return end;
}

export const go = (end) => {
  if (here() === end.page) location.reload();
  else location.assign(root + end.page);
};

export const start = (job, then) => show(panel(job), job.id, then);

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

function dropping(box, take) {
  const input = box.querySelector("input[type=file]");
  input.onchange = () => input.files[0] && take(input.files[0]);
  box.ondragover = (event) => { event.preventDefault(); box.classList.add("over"); };
  box.ondragleave = () => box.classList.remove("over");
  box.ondrop = (event) => {
    event.preventDefault();
    box.classList.remove("over");
    if (event.dataTransfer.files[0]) take(event.dataTransfer.files[0]);
  };
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

function deciding() {
  const list = document.querySelector("[data-roles]");
  if (!list) return;
  const table = list.dataset.roles;
  list.addEventListener("change", (event) => attempt(async () => {
    const reason = event.target.dataset.reason;
    if (reason !== undefined) {
      await api("PUT", `/tables/${table}/roles`, { reasons: { [reason]: event.target.value } });
      return;
    }
    const field = event.target.closest("fieldset");
    const message = await api("PUT", `/tables/${table}/roles`, { roles: { [field.dataset.column]: event.target.value } });
    const row = field.closest(".column");
    row.classList.remove("guessed");
    const mark = row.querySelector(".mark");
    mark.textContent = event.target.value === "undecided" ? "undecided" : "decided";
    mark.classList.toggle("sure", event.target.value !== "undecided");
    const left = document.getElementById("guesses");
    left.innerHTML = "";
    left.textContent = message.guesses ? `${message.guesses} of ${message.columns.length} columns are undecided. Nothing is called safe on a guess.` : "All roles are decided.";
  }));
  const button = document.querySelector("[data-assess-now]");
  button.onclick = () => attempt(async () => {
    await api("PUT", `/tables/${table}/roles`, { accept: true });
    await start(await api("POST", `/tables/${table}/assess`, {}));
  }, button);
}

const whole = (text) => (text.trim() ? Number(text.replace(/[ ,_]/g, "")) : null);
const listed = (text) => (text.trim() ? text.split(",").map((one) => one.trim()) : null);

function forms() {
  for (const box of document.querySelectorAll("form[data-assess] .drop")) {
    const address = `/tables/${box.closest("form").dataset.assess}/files/${box.dataset.slot}`;
    const took = (title) => { box.classList.add("done"); box.querySelector("[data-taken]").textContent = `✓ ${title}`; };
    dropping(box, (file) => attempt(async () => { await upload(`${address}/upload`, file); took(file.name); }));
    for (const button of box.querySelectorAll("[data-given]")) {
      button.onclick = () => attempt(async () => { await api("POST", `${address}/given`, { place: Number(button.dataset.given) }); took(button.textContent.trim()); }, button);
    }
  }
  for (const form of document.querySelectorAll("form[data-assess]")) {
    form.onsubmit = (event) => {
      event.preventDefault();
      const given = Object.fromEntries(new FormData(form));
      const body = { policy: given.policy, population: whole(given.population), person: given.person || null, weight: given.weight || null, household: given.household || null, stratum: given.stratum || null, cluster: given.cluster || null, on: given.on || null, accept_guesses: "accept_guesses" in given };
      attempt(async () => start(await api("POST", `/tables/${form.dataset.assess}/assess`, body)), event.submitter);
    };
  }
  for (const form of document.querySelectorAll("form[data-reading]")) {
    form.onsubmit = (event) => {
      event.preventDefault();
      const given = Object.fromEntries([...new FormData(form)].filter(([, value]) => value.trim()));
      const body = { ...given };
      if (given.delimiter === "\\t") body.delimiter = "\t";
      for (const name of ["names", "missing_markers"]) if (given[name]) body[name] = listed(given[name]);
      attempt(async () => start(await api("PUT", `/tables/${form.dataset.reading}/reading`, body)), event.submitter);
    };
  }
  for (const button of document.querySelectorAll("[data-close]")) {
    button.onclick = () => attempt(async () => {
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

function key() {
  const confirm = document.getElementById("key-confirm");
  if (!confirm) return;
  const button = document.querySelector("[data-key]");
  confirm.onchange = () => { button.disabled = !confirm.checked; };
  button.onclick = () => attempt(async () => {
    const answer = await ask("POST", `${root}/api/v1/tables/${button.dataset.key}/key`, { confirm: true });
    const link = document.createElement("a");
    link.href = URL.createObjectURL(await answer.blob());
    link.download = /filename="([^"]+)"/.exec(answer.headers.get("content-disposition"))?.[1] ?? "reidentification.key.json";
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
  });
}

theme();
key();
opening();
deciding();
forms();
tabs();
findings();
for (const section of document.querySelectorAll(".progress[data-job]")) {
  attempt(async () => {
    const end = await show(section, section.dataset.job, () => go({ page: here() }));
    if (end.state !== "done" && section.hasAttribute("data-whole")) location.reload(); // it says why
  });
}
draw();
