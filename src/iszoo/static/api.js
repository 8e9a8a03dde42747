// Talking to the server, and what the pages share.
import { make } from "./replay.js";

export { make };

/** An answer that is no success: `status`, and a sentence as message. */
export class Refused extends Error {
  constructor(status, why) { super(why); this.status = status; }
}

/** Asks the server; the secrets of a seat and of an owner go in headers, never into an address. */
export async function ask(method, path, { body, token, owner, text, signal } = {}) {
  const headers = {};
  if (token) headers.Authorization = `Bearer ${token}`;
  if (owner) headers["X-Owner"] = owner;
  if (text === undefined && method === "POST") headers["Content-Type"] = "application/json";
  const sent = text ?? (method === "POST" ? JSON.stringify(body ?? {}) : undefined);
  const answer = await fetch(path, { method, headers, body: sent, signal, cache: "no-store" });
  const value = await answer.json().catch(() => ({ error: `The server answered ${answer.status}.` }));
  if (!answer.ok) throw new Refused(answer.status, value.error);
  return value;
}

export const byId = (id) => document.getElementById(id);

/**
 * The secrets that this browser holds of a table: {owner, seats: {seat: token}}.
 * A tab sits on one seat: which one stands after # in its address, so that a reload and a second tab know.
 */
export const secrets = {
  of(table) { return JSON.parse(localStorage.getItem(`iszoo:${table}`) ?? '{"seats":{}}'); },
  keep(table, change) {
    const kept = this.of(table);
    localStorage.setItem(`iszoo:${table}`, JSON.stringify({ ...kept, ...change, seats: { ...kept.seats, ...change.seats } }));
  },
  drop(table, seat) {
    const kept = this.of(table);
    delete kept.seats[seat];
    localStorage.setItem(`iszoo:${table}`, JSON.stringify(kept));
  },
  forget(table) { localStorage.removeItem(`iszoo:${table}`); },
};

export const name = {
  get() { return localStorage.getItem("iszoo:name") ?? ""; },
  set(value) { localStorage.setItem("iszoo:name", value); },
};

/** Shows the rules of a game in the page's dialog. */
export async function showRules(game) {
  const dialog = byId("dialog");
  const answer = await fetch(`/api/games/${encodeURIComponent(game)}/rules`);
  const text = new DOMParser().parseFromString(await answer.text(), "text/html");
  const close = make("button", { class: "close", type: "button", onclick: () => dialog.close() }, "Close");
  dialog.replaceChildren(close, ...text.body.childNodes);
  dialog.showModal();
}
