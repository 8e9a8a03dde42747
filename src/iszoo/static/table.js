// A table: the board, who sits there, and whatever may be done from this tab's seat.
import { ask, byId, make, name, Refused, secrets, showRules } from "./api.js";
import { Board } from "./board.js";

const id = location.pathname.split("/").at(-1);
const path = `/api/tables/${id}`;
let state = null;
let gone = false;
const board = new Board(byId("board"), play, say);

/** The secrets for requests from this tab: of the seat after # in its address, and of the owner. */
function mine() {
  const kept = secrets.of(id);
  return { token: kept.seats[location.hash.slice(1)], owner: kept.owner };
}

function say(text, bad = false) {
  byId("say").textContent = text;
  byId("say").classList.toggle("bad", bad);
}

/** Does something and shows why it can't be done. */
async function attempt(action) {
  try {
    return await action();
  } catch (error) {
    say(error instanceof Refused ? error.message : "The server can't be reached.", true);
    return null;
  }
}

// --- News ---

let following = 0;
let waiting = new AbortController();

/** Waits for news for ever; a call ends the one before. */
async function follow() {
  const turn = ++following;
  waiting.abort();
  waiting = new AbortController();
  const { signal } = waiting;
  let version = null;
  let pause = 500;
  while (turn === following && !gone) {
    try {
      const query = version === null ? "" : `?version=${encodeURIComponent(version)}`;
      const found = await ask("GET", path + query, { ...mine(), signal });
      if (turn !== following) return;
      pause = 500;
      if (found.version !== version) show(found);
      version = found.version;
    } catch (error) {
      if (error instanceof Refused && error.status === 404) {
        disappear(error.message);
        return;
      }
      if (turn !== following || signal.aborted) return;
      byId("status").textContent = "The server can't be reached; trying again...";
      version = null;
      await new Promise((done) => { setTimeout(done, pause); });
      pause = Math.min(5000, 2 * pause);
    }
  }
}

function disappear(why) {
  gone = true;
  secrets.forget(id);
  byId("board").replaceChildren();
  byId("status").textContent = why;
  for (const part of ["entry", "invitation", "speed"]) byId(part).hidden = true;
}

// --- Showing ---

function show(found) {
  const moved = !state || state.plies !== found.plies || state.you !== found.you;
  state = found;
  document.title = `${yours() ? "● " : ""}${found.title} - iszoo`;
  byId("title").textContent = found.title;
  byId("options").textContent = Object.entries(found.options).filter(([, value]) => value !== null)
    .map(([option, value]) => `${option.replaceAll("_", " ")}: ${value}`).join(" · ");
  if (moved || !board.svg) {
    board.show(found.picture, found.targets, found.legal);
    say("");
  }
  showStatus();
  showSeats();
  showMoves();
  byId("entry").hidden = !yours();
  byId("legal").replaceChildren(...Object.values(found.legal).slice(0, 700).map((value) => make("option", { value })));
  byId("invitation").hidden = found.over || !found.seats.some((seat) => seat.free);
  byId("address").textContent = location.origin + location.pathname;
  byId("speed").hidden = !found.owner || found.over || !found.seats.some((seat) => seat.agent);
  byId("pause").textContent = found.paused ? "Go on" : "Pause";
  byId("pace").value = String(found.pace);
  byId("leave").hidden = found.you === null || found.over;
  byId("remove").hidden = !found.owner;
}

function yours() { return state.you !== null && state.player === state.you && !state.over && !state.failed; }

function called(seat) {
  const { free, name: known } = state.seats[seat];
  if (free) return "a free seat";
  return state.seats.filter((each) => each.name === known).length > 1 ? `${known} (seat ${seat})` : known;
}

function showStatus() {
  const status = byId("status");
  status.classList.toggle("yours", yours());
  if (state.failed) status.textContent = state.failed;
  else if (state.over) status.textContent = result();
  else if (yours()) status.textContent = "It is your turn.";
  else if (state.seats[state.player].free) status.textContent = `Waiting for somebody to take seat ${state.player}.`;
  else status.textContent = `${called(state.player)} to move${state.paused && state.seats[state.player].agent ? " (paused)" : ""}.`;
}

/** The seats that have won; empty where nobody has lost. */
function winners() {
  const best = Math.max(...state.returns ?? []);
  const won = (state.returns ?? []).flatMap((value, seat) => (value === best ? [seat] : []));
  return won.length < state.seats.length ? won : [];
}

function result() {
  const won = winners();
  if (!won.length) return `The game is over. Points: ${state.scores.join(" - ")}.`;
  if (won.length === 1 && won[0] === state.you) return "You have won!";
  return `${won.map(called).join(" and ")} won.`;
}

function showSeats() {
  byId("seats").replaceChildren(...state.seats.map((seat, k) => make("li", { class: state.player === k ? "moves" : "" },
    make("span", { class: `badge seat-${k}`, "aria-hidden": "true" }, String(k)),
    make("span", { class: "name" }, seat.free ? "a free seat" : seat.name, ...(k === state.you ? [make("span", { class: "muted" }, " (you)")] : [])),
    ...(seat.free && state.you === null && !state.over
      ? [make("button", { type: "button", class: "main", "data-sit": k, onclick: () => sit(k) }, "Sit down")] : []),
    ...(winners().includes(k) ? [make("span", { class: "won" }, "won")] : []),
    make("span", { class: "points" }, state.scores === null ? "" : String(state.scores[k])))));
  const hint = make("button", { type: "button", id: "hint", onclick: askHint }, "Hint");
  const links = [
    make("a", { class: "button main", href: `/replay?table=${id}` }, "Go through it"),
    make("a", { class: "button", href: `${path}/record`, download: "" }, "Save the record"),
    make("a", { class: "button", href: "/" }, "New table"),
  ];
  byId("actions").replaceChildren(...(state.over ? links : yours() && state.hints ? [hint] : []));
}

function showMoves() {
  byId("nothing").hidden = state.moves.length > 0;
  const list = byId("moves");
  list.replaceChildren(...state.moves.map(([seat, move], k) => make("li", {},
    make("span", { class: k === state.moves.length - 1 ? "now" : "" },
      make("span", { class: `dot seat-${seat}`, "aria-hidden": "true" }), `${k + 1}. ${move}`))));
  list.scrollTop = list.scrollHeight;
}

// --- Doing ---

async function play(action) {
  byId("board").classList.add("waits");
  const { plies } = state;
  const done = await attempt(() => ask("POST", `${path}/actions`, { ...mine(), body: { action, ply: plies } }));
  byId("board").classList.remove("waits");
  if (done) say("");
  else board.show(state.picture, state.targets, state.legal);
}

byId("entry").addEventListener("submit", (event) => {
  event.preventDefault();
  const text = byId("move").value.trim();
  const begun = Object.entries(state.legal).filter(([, move]) => move.startsWith(text));
  const exact = begun.find(([, move]) => move === text);
  if (!text || !begun.length) say(`${text || "Nothing"} is no legal move here.`, true);
  else if (!exact && begun.length > 1) say(`${begun.length} moves begin so: ${begun.slice(0, 8).map(([, move]) => move).join(", ")} ...`);
  else {
    byId("move").value = "";
    play(Number((exact ?? begun[0])[0]));
  }
});
byId("cancel").addEventListener("click", () => { byId("move").value = ""; board.cancel(); });

async function askHint() {
  const found = await attempt(() => ask("POST", `${path}/hint`, mine()));
  if (!found) return;
  board.hint(found.action);
  say(`An agent would play ${found.move}.`);
}

async function sit(seat) {
  const found = await attempt(() => ask("POST", `${path}/seats/${seat}`, { body: { name: name.get() } }));
  if (!found) return;
  secrets.keep(id, { seats: { [seat]: found.token } });
  history.replaceState(null, "", `#${seat}`);
  follow();
}

byId("leave").addEventListener("click", async () => {
  if (!await attempt(() => ask("DELETE", `${path}/seat`, mine()))) return;
  secrets.drop(id, location.hash.slice(1));
  history.replaceState(null, "", location.pathname);
  follow();
});
byId("remove").addEventListener("click", async () => {
  if (!confirm("Remove this table, and with it the game?")) return;
  waiting.abort();
  if (await attempt(() => ask("DELETE", path, mine()))) {
    secrets.forget(id);
    location.href = "/";
  } else follow();
});
const setPace = (change) => attempt(() => ask("POST", `${path}/pace`, {
  ...mine(), body: { pace: state.pace, paused: state.paused, ...change },
}));
byId("pause").addEventListener("click", () => setPace({ paused: !state.paused }));
byId("pace").addEventListener("change", () => setPace({ pace: Number(byId("pace").value) }));
byId("rules").addEventListener("click", () => showRules(state.game));
byId("copy").addEventListener("click", async () => {
  try {
    await navigator.clipboard.writeText(byId("address").textContent);
    say("Copied.");
  } catch {
    getSelection().selectAllChildren(byId("address"));
  }
});
addEventListener("hashchange", follow);
document.addEventListener("keydown", (event) => { if (event.key === "Escape") board.cancel(); });

follow();
