// A recorded game to step through. Stands alone: the page of `iszoo replay` has this file within it.

const SVG = "http://www.w3.org/2000/svg";

/** An element with attributes (on...: listeners) and children. */
export function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value === true) element.setAttribute(name, "");
    else if (value !== false && value != null) element.setAttribute(name, value);
  }
  element.append(...children);
  return element;
}

function makeSvg(tag, attributes, ...children) {
  const element = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

const ICONS = {  // 24 by 24
  first: "M5 5h3v14H5zM20 5v14L9 12z", back: "M17 5v14L6 12z", play: "M6 4v16l14-8z", pause: "M6 5h4v14H6zM14 5h4v14h-4z",
  on: "M7 5v14l11-7z", last: "M16 5h3v14h-3zM4 5v14l11-7z",
};

function makeIcon(name) {
  return makeSvg("svg", { viewBox: "0 0 24 24", width: 20, height: 20, fill: "currentColor", "aria-hidden": "true" },
    makeSvg("path", { d: ICONS[name] }));
}

/**
 * Shows a game, as `iszoo.replay.data_of` gives it, in an element.
 * Returns {go, stop}: to jump to a ply, and to let go of keys and clock.
 */
export function showReplay(root, data) {
  const plies = data.plies;
  const last = plies.length - 1;
  const overlays = plies.some((ply) => ply.overlaid);
  const best = Math.max(...data.returns);
  const winners = data.over && data.returns.some((value) => value !== best)
    ? data.returns.flatMap((value, seat) => (value === best ? [seat] : [])) : [];
  let now = 0;
  let clock = null;
  let overlaid = overlays;

  const board = make("div", { class: "board" });
  const told = make("p", { class: "muted", "aria-live": "polite" });
  const slider = make("input", {
    type: "range", min: 0, max: last, value: 0, "aria-label": "ply", oninput: () => go(Number(slider.value)),
  });
  const where = make("output", { class: "where" });
  const button = (icon, label, action) =>
    make("button", { type: "button", "aria-label": label, title: label, onclick: action }, makeIcon(icon));
  const playButton = button("play", "play (space)", () => (clock ? stop() : play()));
  const speed = make("select", { "aria-label": "speed", onchange: () => clock && play() },
    ...[["0.5", "½×"], ["1", "1×"], ["2", "2×"], ["5", "5×"]].map(([value, text]) =>
      make("option", { value, selected: value === "1" }, text)));
  const overlayBox = make("input", { type: "checkbox", onchange: () => { overlaid = overlayBox.checked; draw(); } });
  overlayBox.checked = overlaid;

  const points = data.agents.map(() => make("span", { class: "points" }));
  const won = data.agents.map(() => make("span", { class: "won" }, "won"));
  const seats = data.agents.map((name, seat) => make("li", {},
    make("span", { class: `badge seat-${seat}`, "aria-hidden": "true" }, String(seat)),
    make("span", { class: "name" }, name),
    won[seat],
    ...(data.offender === seat ? [make("span", { class: "bad" }, "illegal action")] : []),
    points[seat]));
  const moves = plies.slice(0, last).map((ply, k) => make("li", {},
    make("button", { type: "button", onclick: () => go(k + 1) },
      make("span", { class: `dot seat-${ply.player}`, "aria-hidden": "true" }), `${k + 1}. ${ply.move}`)));
  const list = make("ol", { class: "moves-list" }, ...moves);
  const policy = make("tbody");
  const policyCard = make("section", { class: "card", hidden: !overlays },
    make("h2", {}, `What ${data.policy_of} plays here`), make("table", { class: "policy" }, policy));
  const { chart, cursor } = makeChart(plies, data.agents.length, go);

  const options = Object.entries(data.options).filter(([, value]) => value !== null);
  root.replaceChildren(
    make("header", { class: "top" },
      make("h1", {}, data.title),
      make("span", { class: "muted" }, options.map(([name, value]) => `${name.replaceAll("_", " ")}: ${value}`).join(" · "))),
    make("div", { class: "columns" },
      make("section", { class: "stage" }, board,
        make("div", { class: "card controls sticky" }, slider,
          make("div", { class: "buttons" },
            button("first", "to the start (Home)", () => go(0)), button("back", "back (←)", () => go(now - 1)), playButton,
            button("on", "on (→)", () => go(now + 1)), button("last", "to the end (End)", () => go(last)), speed,
            ...(overlays ? [make("label", { class: "check" }, overlayBox, "policy")] : []), where))),
      make("aside", { class: "side" },
        make("section", { class: "card" }, make("ul", { class: "seats" }, ...seats), told),
        make("section", { class: "card" }, make("h2", {}, "Points"), chart),
        policyCard,
        make("section", { class: "card" }, make("h2", {}, "Moves"), list),
        make("p", { class: "muted" }, make("kbd", {}, "←"), " ", make("kbd", {}, "→"), " step  ",
          make("kbd", {}, "Home"), " ", make("kbd", {}, "End"), " jump  ", make("kbd", {}, "space"), " play  ",
          ...(overlays ? [make("kbd", {}, "O"), " policy"] : []),
          make("br"), `seed ${data.seed}, iszoo ${data.version}`))));

  function picture(ply) {
    const numbers = overlaid && ply.overlaid ? ply.overlaid : ply.picture;
    const text = numbers.map((number) => data.pieces[number]).join("");
    return document.importNode(new DOMParser().parseFromString(text, "image/svg+xml").documentElement, true);
  }

  function draw() {
    const ply = plies[now];
    board.replaceChildren(picture(ply));
    slider.value = now;
    slider.setAttribute("aria-valuetext", `ply ${now} of ${last}`);
    where.textContent = `${now} / ${last}`;
    points.forEach((element, seat) => { element.textContent = ply.scores[seat]; });
    won.forEach((element, seat) => { element.hidden = now !== last || !winners.includes(seat); });
    seats.forEach((element, seat) => element.classList.toggle("moves", ply.player === seat));
    moves.forEach((element, k) => {
      element.firstChild.classList.toggle("now", k === now - 1);
      if (k === now - 1) element.firstChild.setAttribute("aria-current", "step");
      else element.firstChild.removeAttribute("aria-current");
    });
    if (now > 0) {
      const at = moves[now - 1];
      list.scrollTop += at.getBoundingClientRect().top - list.getBoundingClientRect().top - list.clientHeight / 2;
    } else list.scrollTop = 0;
    cursor(now);
    const before = now > 0 ? `${data.agents[plies[now - 1].player]}: ${plies[now - 1].move}. ` : "";
    const after = ply.player >= 0 ? `${data.agents[ply.player]} to move.` : "The game is over.";
    told.textContent = before + (now === last && !data.over ? "The record ends here." : after);
    policy.replaceChildren(...(ply.policy ?? []).map(([move, share]) => make("tr", { class: move === ply.move ? "played" : "" },
      make("td", {}, move), make("td", { class: "length" }, bar(share)),
      make("td", { class: "share" }, `${Math.round(100 * share)} %`))));
    policyCard.hidden = !overlaid || !ply.policy;
  }

  function bar(share) {
    const element = make("span");
    element.style.width = `${100 * share}%`;
    return element;
  }

  function go(ply) {
    now = Math.min(last, Math.max(0, ply));
    if (now === last) stop();
    draw();
    try { history.replaceState(null, "", `#${now}`); } catch { /* a page in a frame without an address */ }
  }

  function play() {
    stop();
    if (now === last) go(0);
    playButton.replaceChildren(makeIcon("pause"));
    clock = setInterval(() => go(now + 1), 900 / Number(speed.value));
  }

  function stop() {
    clearInterval(clock);
    clock = null;
    playButton.replaceChildren(makeIcon("play"));
  }

  const keys = {
    ArrowLeft: () => go(now - 1), ArrowRight: () => go(now + 1), Home: () => go(0), End: () => go(last),
    PageUp: () => go(now - 10), PageDown: () => go(now + 10), " ": () => (clock ? stop() : play()),
    o: () => { if (overlays) { overlaid = overlayBox.checked = !overlaid; draw(); } },
  };
  function onKey(event) {
    const key = keys[event.key] ?? keys[event.key.toLowerCase()];
    const within = event.target.closest("select, input:not([type=range]):not([type=checkbox]), dialog");
    if (!key || within || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === " " && event.target.closest("button, input")) return;  // it presses that
    event.preventDefault();
    key();
  }
  document.addEventListener("keydown", onKey);

  const asked = /^#(\d+)$/.exec(location.hash);
  go(asked ? Number(asked[1]) : 0);
  return { go, stop: () => { stop(); document.removeEventListener("keydown", onKey); } };
}

/** The points of each seat over the plies: a chart that is clicked to jump, and its cursor. */
function makeChart(plies, seats, go) {
  const [width, height, left, bottom] = [320, 120, 26, 14];
  const values = plies.flatMap((ply) => ply.scores);
  const low = Math.min(0, ...values);
  const high = Math.max(1, ...values);
  const x = (ply) => left + ((width - left - 6) * ply) / Math.max(1, plies.length - 1);
  const y = (value) => 6 + ((height - bottom - 6) * (high - value)) / (high - low);
  const line = makeSvg("line", { y1: 0, y2: height - bottom, stroke: "currentColor", "stroke-opacity": 0.6 });
  const chart = makeSvg("svg", { viewBox: `0 0 ${width} ${height}`, class: "chart", role: "img", "aria-label": "points" });
  for (const value of new Set([low, 0, high])) {
    chart.append(makeSvg("line", { x1: left, x2: width, y1: y(value), y2: y(value), stroke: "currentColor", "stroke-opacity": 0.15 }),
      makeSvg("text", { x: left - 4, y: y(value) + 3, "text-anchor": "end" }, String(value)));
  }
  for (let seat = 0; seat < seats; seat += 1) {
    const path = plies.map((ply, k) => `${k ? "L" : "M"}${x(k).toFixed(1)} ${y(ply.scores[seat]).toFixed(1)}`).join("");
    const drawn = makeSvg("path", { d: path, fill: "none", "stroke-width": 2.2, "stroke-dasharray": ["", "7 3", "2 3", "9 3 2 3"][seat % 4] });
    drawn.style.stroke = `var(--seat-${seat})`;
    chart.append(drawn);
  }
  chart.append(line, makeSvg("text", { x: left, y: height - 2 }, "0"),
    makeSvg("text", { x: width - 4, y: height - 2, "text-anchor": "end" }, String(plies.length - 1)));
  chart.addEventListener("click", (event) => {
    const box = chart.getBoundingClientRect();
    const at = ((event.clientX - box.left) / box.width) * width;
    go(Math.round(((at - left) / (width - left - 6)) * (plies.length - 1)));
  });
  const cursor = (ply) => { line.setAttribute("x1", x(ply)); line.setAttribute("x2", x(ply)); };
  return { chart, cursor };
}
