// The list of choices of a table. The server has it; every control sends one change of it, and what the
// controls show is what the server answers. Nothing is made from the controls themselves.
import { api, number } from "./ask.js";

const DELAY = 250; // milliseconds without a change before what was changed is sent as one step
const STALE = 412; // the list is not the one that was shown here

const numeric = (one) => one.hasAttribute("data-number") || ["numeric", "decimal"].includes(one.inputMode);
const raw = (one) => (one.type === "checkbox" ? one.checked : one.value);

// Whether a field has a value already, perhaps written otherwise: “0,” of a person who goes on typing is 0.
function means(one, value) {
  try {
    return one.value === value || (numeric(one) && String(number(one.value) ?? "") === value);
  } catch {
    return false; // no number
  }
}

// `changed` hears of every list that is another than the one before, `lost` of one that another window changed.
export function choicesOf(form, table, { showed, changed, lost }) {
  const address = `/tables/${table}/choices`;
  const pending = new Map(); // what a person changed here and the server has not taken yet
  let list = { version: null, fields: {}, previewed: false };
  let sending = (async () => {})();
  let timer = 0;
  // Other windows with this table hear of a change; without this they would be refused at the next one.
  const others = new BroadcastChannel(`crypsis choices ${table}`);
  others.onmessage = () => look().catch(() => {});

  function fill() {
    for (const one of form.querySelectorAll("[name]")) {
      if (one.type === "file") continue;
      const value = pending.get(one.name)?.value ?? list.fields[one.name] ?? "";
      if (one.type === "radio") one.checked = value === one.value;
      else if (one.type === "checkbox") one.checked = value === true;
      else if (one.type === "range") {
        if (Number(value) > Number(one.max)) one.max = value; // a level that the column had before
        one.value = value || "0";
      } else {
        const missing = one.tagName === "SELECT" && ![...one.options].some((option) => option.value === value);
        if (missing) one.add(new Option(value.replace("keep:", "must keep level "), value));
        if (!means(one, value)) one.value = value;
      }
    }
  }

  function took(answer) {
    const other = answer.version !== list.version;
    list = answer;
    fill();
    showed(list);
    if (other) changed(list);
  }

  async function look() {
    const before = list.version;
    took(await api("GET", address));
    return before !== list.version;
  }

  async function push() {
    if (!pending.size) return;
    const sent = [...pending];
    const changes = Object.fromEntries(sent.map(([name, one]) => [name, one.numeric ? String(number(one.value) ?? "") : one.value]));
    const answer = await versioned("PATCH", address, { changes });
    for (const [name, one] of sent) if (pending.get(name) === one) pending.delete(name);
    took(answer);
    others.postMessage(list.version);
  }

  // Asks for something that is about the list as it is shown; refused where it is another one by now.
  async function versioned(method, path, body) {
    try {
      return await api(method, path, body, { headers: { "If-Match": `"${list.version}"` }, keepalive: true });
    } catch (error) {
      if (error.status === STALE) {
        pending.clear();
        await look();
        await lost();
      }
      throw error;
    }
  }

  // Sends what was changed, one step after the other: each knows the version that the one before made.
  // What is refused stays here, so that nothing is made while a field shows what the list has not.
  function settle() {
    clearTimeout(timer);
    sending = sending.catch(() => {}).then(push);
    return sending;
  }

  addEventListener("pagehide", () => settle().catch(() => {})); // whoever leaves at once has chosen all the same

  return {
    fill, look, settle, versioned,
    get list() { return list; },
    // Changes of a control, or of several fields at once.
    change(changes, trouble) {
      for (const [name, value] of Object.entries(changes)) pending.set(name, value);
      clearTimeout(timer);
      timer = setTimeout(() => settle().catch(trouble), DELAY);
    },
    of: (one) => ({ [one.name]: { value: raw(one), numeric: numeric(one) && one.type !== "range" } }),
    async move(way, steps) {
      await settle();
      took(await versioned("POST", `/tables/${table}/${way}?steps=${steps}`));
      others.postMessage(list.version);
    },
  };
}
