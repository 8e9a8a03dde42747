// The first page: a new table, and the tables that there are.
import { ask, byId, make, name, secrets, showRules } from "./api.js";

const chosen = { game: null, options: {}, seats: [] };
let games = [];

function say(text) { byId("say").textContent = text; }

async function start() {
  games = await ask("GET", "/api/games");
  byId("name").value = name.get();
  byId("games").replaceChildren(...games.map((game, k) => make("label", {},
    make("input", { type: "radio", name: "game", value: game.name, checked: k === 0, onchange: () => choose(game) }),
    make("img", { src: `/api/games/${encodeURIComponent(game.name)}/picture.svg`, alt: "" }),
    make("b", {}, game.title))));
  await choose(games[0]);
  refresh();
  setInterval(refresh, 3000);
}

async function choose(game) {
  chosen.game = game;
  chosen.options = {};
  chosen.seats = [];
  byId("options").replaceChildren(...game.options.map((option) => make("label", { title: option.about },
    make("span", {}, option.name.replaceAll("_", " ")),
    make("select", { "data-option": option.name, onchange: (event) => set(option, event.target.selectedIndex) },
      ...option.choices.map((value) => make("option", { selected: value === option.default }, shown(value)))))));
  await settle();
}

function shown(value) {
  if (value === null) return "as usual";
  if (value === true) return "yes";
  return value === false ? "no" : String(value).replaceAll("_", " ");
}

async function set(option, index) {
  chosen.options[option.name] = option.choices[index];
  await settle();
}

let asked = 0;

/** How many seats there are depends on the options. Until the answer is there, nothing can be chosen or started. */
async function settle() {
  const mine = ++asked;
  byId("start").disabled = true;
  for (const select of byId("seats").querySelectorAll("select")) select.disabled = true;
  try {
    const { players } = await ask("POST", "/api/settle", { body: { game: chosen.game.name, options: chosen.options } });
    if (mine !== asked) return; // another choice was made meanwhile, and its answer comes
    say("");
    const choices = [["you", "you"], ["open", "somebody in another tab"], ...chosen.game.agents.map((agent) => [agent, `agent: ${agent}`])];
    const strongest = chosen.game.agents.at(-1);
    byId("seats").replaceChildren(...Array.from({ length: players }, (_, seat) => {
      chosen.seats[seat] ??= seat === 0 ? "you" : strongest;
      return make("label", {}, make("span", {}, `seat ${seat}`),
        make("select", { "data-seat": seat, onchange: (event) => { chosen.seats[seat] = choices[event.target.selectedIndex][0]; } },
          ...choices.map(([value, text]) => make("option", { selected: value === chosen.seats[seat] }, text))));
    }));
    chosen.seats.length = players;
    byId("start").disabled = false;
  } catch (error) {
    if (mine !== asked) return;
    say(error.message);
    byId("seats").replaceChildren();
  }
}

byId("form").addEventListener("submit", async (event) => {
  event.preventDefault();
  name.set(byId("name").value);
  try {
    const made = await ask("POST", "/api/tables", {
      body: { game: chosen.game.name, options: chosen.options, seats: chosen.seats, name: byId("name").value },
    });
    secrets.keep(made.id, { owner: made.owner, seats: made.seats });
    const [seat] = Object.keys(made.seats);
    location.href = `/table/${made.id}${seat === undefined ? "" : `#${seat}`}`;
  } catch (error) {
    say(error.message);
  }
});
byId("rules").addEventListener("click", () => showRules(chosen.game.name));

async function refresh() {
  if (document.hidden) return;
  let tables;
  try { tables = await ask("GET", "/api/tables"); } catch { return; }
  byId("none").hidden = tables.length > 0;
  byId("tables").replaceChildren(...tables.map((table) => {
    const mine = Object.keys(secrets.of(table.id).seats);
    const who = table.seats.map((seat) => (seat.free ? "?" : seat.name)).join(" - ");
    const what = mine.length ? "Go on" : table.seats.some((seat) => seat.free) && !table.over ? "Join" : "Watch";
    const at = table.over ? "over" : table.plies === 0 ? "not begun" : `${table.plies} actions`;
    return make("li", {}, make("b", {}, table.title),
      make("div", { class: "row" }, make("a", { class: "button", href: `/table/${table.id}${mine.length ? `#${mine[0]}` : ""}` }, table.over ? "Look" : what)),
      make("span", { class: "muted who" }, `${who} · ${at}`));
  }));
}

start().catch((error) => say(error.message));
