// Long work: its progress is shown, it can be cancelled, and in the end the page says where the result is.
import { api, attempt, here, later, root, say } from "./ask.js";

const LOST = 6; // so often in a row the server may not answer, before that is said

// Follows a job until it ends; gives its last state.
export async function follow(job, hear) {
  let lost = 0;
  for (let wait = 120; ; wait = Math.min(1000, wait * 1.3)) {
    try {
      const now = await api("GET", `/jobs/${job}`);
      lost = 0;
      hear?.(now);
      if (!["waiting", "running"].includes(now.state)) return now;
    } catch (error) {
      if (error.status || ++lost === LOST) throw error;
    }
    await later(wait);
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
  let stopping = false;
  let step = "";
  section.querySelector("[data-cancel]").onclick = (event) => attempt(async () => {
    await api("POST", `/jobs/${job}/cancel`);
    stopping = true;
  }, event.target);
  try {
    const end = await follow(job, (now) => {
      step = now.steps.at(-1)?.what ?? step;
      if (now.share !== null) bar.value = Math.max(now.share, bar.hasAttribute("value") ? bar.value : 0);
      const what = stopping ? "stopping; what is known by then is shown" : step || "started";
      message.textContent = now.state === "waiting" ? "waiting for other work" : `${what}, ${Math.round(now.seconds)} s`;
    });
    section.remove();
    if (end.state === "done") await (then ?? go)(end);
    else if (end.state !== "cancelled" || stopping) say(end.error ?? "It was stopped.");
    else if (!document.querySelector("main > .progress")) say("This was stopped, because something else was asked of the table. Reload the page to begin again.");
    return end;
  } catch (error) {
    section.remove();
    throw error;
  }
}

export const go = (end) => {
  if (here() === end.page) location.reload();
  else location.assign(root + end.page);
};

// A job that this page did not start: what is typed here stays, a line says that it is done.
export function announce(end) {
  if (here() === end.page) {
    location.reload();
    return;
  }
  const line = document.createElement("p");
  line.className = "notice ok";
  line.setAttribute("role", "status");
  line.textContent = `${end.what}: done. `;
  const link = line.appendChild(document.createElement("a"));
  link.href = root + end.page;
  link.textContent = "See the result";
  (document.querySelector(".steps") ?? document.querySelector("h1")).after(line);
  document.dispatchEvent(new CustomEvent("idle"));
}

export const start = (job, then) => show(panel(job), job.id, then);

export function watch() {
  for (const section of document.querySelectorAll(".progress[data-job]")) {
    attempt(async () => {
      const whole = section.hasAttribute("data-whole");
      const end = await show(section, section.dataset.job, whole ? () => go({ page: here() }) : announce);
      if (end.state !== "done" && whole) location.reload(); // it says why
      else if (end.state !== "done") document.dispatchEvent(new CustomEvent("idle"));
    });
  }
}
