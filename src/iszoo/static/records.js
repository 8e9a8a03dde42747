// Records: a finished table (?table=...), or a file from this machine.
import { ask, byId, make } from "./api.js";
import { showReplay } from "./replay.js";

const table = new URLSearchParams(location.search).get("table");
let shown = null;
let text = null;

async function load(number, overlay) {
  byId("say").textContent = "";
  const query = new URLSearchParams({ game: number, ...(overlay ? { overlay } : {}) });
  try {
    byId("form").setAttribute("aria-busy", "true");
    const data = table && text === null
      ? await ask("GET", `/api/tables/${encodeURIComponent(table)}/replay?${query}`)
      : await ask("POST", `/api/replay?${query}`, { text });
    shown?.stop();
    shown = showReplay(byId("replay"), data);
    document.title = `${data.title}: ${data.agents.join(" - ")} - iszoo`;
    fill("numbers", "number", Array.from({ length: data.games }, (_, k) => [String(k + 1), String(k + 1)]), String(number), data.games > 1);
    fill("overlays", "overlay", [["", "nobody"], ...data.policies.map((agent) => [agent, agent])], overlay, true);
  } catch (error) {
    byId("say").textContent = error.message;
  }
  byId("form").removeAttribute("aria-busy");
}

function fill(label, select, choices, value, visible) {
  byId(label).hidden = !visible;
  byId(select).replaceChildren(...choices.map(([key, told]) => make("option", { value: key, selected: key === value }, told)));
}

byId("file").addEventListener("change", async () => {
  const [file] = byId("file").files;
  if (!file) return;
  text = await file.text();
  history.replaceState(null, "", location.pathname);
  load(1, "");
});
byId("number").addEventListener("change", () => { history.replaceState(null, "", "#0"); load(byId("number").value, byId("overlay").value); });
byId("overlay").addEventListener("change", () => load(byId("number").value || 1, byId("overlay").value));
byId("form").addEventListener("submit", (event) => event.preventDefault());

if (table) load(1, "");
