// Asking the server: the API, parts of pages, uploads. What goes wrong is said in words.
export const root = document.querySelector("meta[name=root]").content;
export const here = () => location.pathname.slice(root.length);
const csrf = document.querySelector("meta[name=csrf]").content;
const trouble = document.getElementById("trouble");
const GONE = "The server does not answer. If it has ended, start it again (crypsis serve) and open the address it prints.";

export function say(message) {
  trouble.textContent = message;
  trouble.hidden = !message;
  if (message) trouble.scrollIntoView({ block: "nearest" });
}

// An answer that refuses has its status, so that a page can ask a person and try again.
class Refused extends Error {
  constructor(message, status) { super(message); this.status = status; }
}

export async function ask(method, address, body, options = {}) {
  const headers = { "X-CSRF-Token": csrf, ...options.headers };
  if (body !== undefined) headers["Content-Type"] = "application/json";
  let answer;
  try {
    answer = await fetch(root + address, { method, headers, body: body === undefined ? undefined : JSON.stringify(body), signal: options.signal, keepalive: options.keepalive });
  } catch (error) {
    throw error.name === "AbortError" ? error : new Refused(GONE, 0);
  }
  if (answer.ok) return answer;
  const json = (answer.headers.get("content-type") ?? "").includes("json");
  const message = json ? (await answer.json()).error : new DOMParser().parseFromString(await answer.text(), "text/html").querySelector("main p")?.textContent;
  throw new Refused(message || `That did not work (${answer.status}).`, answer.status);
}

export async function api(method, path, body, options) {
  const answer = await ask(method, `/api/v1${path}`, body, options);
  return answer.status === 204 ? null : answer.json();
}

export async function part(address, body, options) {
  return (await ask(body === undefined ? "GET" : "POST", address, body, options)).text();
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
    request.onerror = () => reject(new Error(`The upload was refused. ${GONE}`));
    request.send(file);
  });
}

export const later = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));

// A file that was made here, saved as if it were a download.
export async function save(answer, name) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(await answer.blob());
  link.download = /filename="([^"]+)"/.exec(answer.headers.get("content-disposition"))?.[1] ?? name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

// Asks a person yes or no.
export function confirmed(question, yes) {
  const dialog = document.createElement("dialog");
  dialog.innerHTML = '<p></p><form method="dialog" class="row"><button value="no">Cancel</button><button value="yes" class="main"></button></form>';
  dialog.querySelector("p").textContent = question;
  dialog.querySelector("[value=yes]").textContent = yes;
  document.body.append(dialog);
  dialog.showModal();
  return new Promise((resolve) => {
    dialog.onclose = () => { dialog.remove(); resolve(dialog.returnValue === "yes"); };
  });
}

// Where results would be lost the server refuses (409, "discard"); a person decides.
export async function discarding(method, path, body) {
  try {
    return await api(method, path, body);
  } catch (error) {
    if (error.status !== 409 || !error.message.includes("discard")) throw error;
    if (!(await confirmed(error.message, "Discard and go on"))) return null;
    return api(method, path, { ...body, discard: true });
  }
}

export function dropping(box, take) {
  const input = box.querySelector("input[type=file]");
  const chosen = () => input.files[0] && take(input.files[0]);
  input.onchange = chosen;
  box.ondragover = (event) => { event.preventDefault(); box.classList.add("over"); };
  box.ondragleave = () => box.classList.remove("over");
  box.ondrop = (event) => {
    event.preventDefault();
    box.classList.remove("over");
    if (event.dataTransfer.files[0]) take(event.dataTransfer.files[0]);
  };
  chosen(); // a file may be chosen before this script runs; the browser restores none
}

// A file of a table, dropped, chosen, or from the command line; `where` gives the address of its table.
export function fileBox(box, where, took) {
  const taken = async (title) => {
    box.classList.add("done");
    box.querySelector("[data-taken]").textContent = `✓ ${title}`;
    await took?.(box);
  };
  const address = async () => `${await where()}/files/${box.dataset.slot}`;
  dropping(box, (file) => attempt(async () => { await upload(`${await address()}/upload`, file); await taken(file.name); }));
  for (const button of box.querySelectorAll("[data-given]")) {
    button.onclick = () => attempt(async () => { await api("POST", `${await address()}/given`, { place: Number(button.dataset.given) }); await taken(button.textContent.trim()); }, button);
  }
}

// A number as people write it: 1,000,000 or 1.000.000, 0.05 or 0,05. One comma before three digits
// divides thousands, as it does on this page.
export function number(text) {
  const plain = (text ?? "").replace(/[\s_]/g, "");
  if (!plain) return null;
  const marks = plain.match(/[.,]/g) ?? [];
  const one = new Set(marks).size === 1;
  const thousands = one && (marks.length > 1 || /^[+-]?[1-9]\d{0,2},\d{3}$/.test(plain));
  const whole = thousands ? plain.replace(/[.,]/g, "") : plain.replace(/[.,](?=.*[.,])/g, "").replace(",", ".");
  const found = Number(whole || NaN);
  if (Number.isNaN(found)) throw new Error(`“${text.trim()}” is not a number.`);
  return found;
}

export const listed = (text) => (text && text.trim() ? text.split(",").map((one) => one.trim()).filter(Boolean) : null);
