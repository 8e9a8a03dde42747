// The board that is played on by clicks and keys. What there is to click, and in which order, says the server.

const SVG = "http://www.w3.org/2000/svg";

/**
 * A board in an element.
 *
 * `show(picture, targets, legal)` draws a position: SVG text; by action the names to click, one after the other; by
 * action its notation. `play(action)` is called when all names of an action were clicked, `told(text)` at each click.
 */
export class Board {
  constructor(element, play, told) {
    this.element = element;
    this.play = play;
    this.told = told;
    this.begun = [];
    element.addEventListener("click", (event) => this.click(event.target.closest("[data-target]")?.dataset.target));
    element.addEventListener("keydown", (event) => this.key(event));
    element.addEventListener("pointerover", (event) => this.hover(event));
    element.addEventListener("pointerleave", () => this.hover(null));
  }

  show(picture, targets, legal) {
    const focused = document.activeElement?.closest?.("[data-target]")?.dataset.target;
    const svg = document.importNode(new DOMParser().parseFromString(picture, "image/svg+xml").documentElement, true);
    this.element.replaceChildren(svg);
    this.svg = svg;
    this.actions = Object.entries(targets).map(([action, names]) => ({ action: Number(action), names, text: legal[action] }));
    this.begun = [];
    this.marks = document.createElementNS(SVG, "g");
    svg.append(this.marks);
    this.light();
    if (focused) this.find(focused)?.focus();
  }

  /** The actions that what was clicked may still become. */
  possible() {
    return this.actions.filter(({ names }) => this.begun.every((name, k) => names[k] === name));
  }

  /** What may be clicked next: name -> the actions that go on with it. */
  next() {
    const found = new Map();
    for (const action of this.possible()) {
      const name = action.names[this.begun.length];
      if (!found.has(name)) found.set(name, []);
      found.get(name).push(action);
    }
    return found;
  }

  find(name) {
    return this.svg.querySelector(`[data-target="${CSS.escape(name)}"]`);
  }

  click(name) {
    if (!name || !this.actions.length) return;
    if (name === this.begun.at(-1)) {  // again: take it back
      this.begun.pop();
      this.light();
      return;
    }
    let after = this.next().get(name);
    if (!after) {  // something else from the beginning, perhaps
      const before = this.begun;
      this.begun = [];
      after = this.next().get(name);
      if (!after) { this.begun = before; return; }
    }
    this.begun.push(name);
    if (after.length === 1 && after[0].names.length === this.begun.length) {
      const { action } = after[0];
      this.begun = [];
      this.actions = [];
      this.light();
      this.play(action);
    } else this.light();
  }

  cancel() {
    this.begun = [];
    this.light();
  }

  hint(action) {
    this.light();
    const names = this.actions.find((each) => each.action === action)?.names ?? [];
    for (const name of names) this.mark(name, "hinted");
  }

  /** Marks what can be clicked next and what was; those elements can be reached by keys too. */
  light() {
    this.marks.replaceChildren();
    this.hovered = null;
    for (const element of this.svg.querySelectorAll(".can")) {
      element.classList.remove("can");
      for (const name of ["tabindex", "role", "aria-label", "aria-pressed"]) element.removeAttribute(name);
    }
    const next = this.next();
    for (const [name, actions] of next) {
      const all = this.svg.querySelectorAll(`[data-target="${CSS.escape(name)}"]`);
      all.forEach((element, k) => {
        element.classList.add("can");
        if (k > 0) return;
        const last = actions.length === 1 && actions[0].names.length === this.begun.length + 1;
        element.setAttribute("tabindex", "0");
        element.setAttribute("role", "button");
        element.setAttribute("aria-label", last ? `play ${actions[0].text}` : `${name.replaceAll("-", " ")}, ${actions.length} moves`);
      });
      this.mark(name, name.startsWith("cell") ? "dot" : "");
    }
    for (const name of this.begun) {
      const element = this.find(name);
      element?.classList.add("can");
      element?.setAttribute("aria-pressed", "true");
      this.mark(name, "chosen");
    }
    if (this.begun.length) this.told(`${next.size} ${next.size === 1 ? "way" : "ways"} to go on; Escape or Cancel takes it back`);
    else this.told("");
  }

  mark(name, kind) {
    for (const element of this.svg.querySelectorAll(`[data-target="${CSS.escape(name)}"]`)) {
      if (element.querySelector(`[data-target="${CSS.escape(name)}"]`)) continue;
      const box = this.boxOf(element);
      if (!box.width) continue;
      const dot = kind === "dot";
      const mark = document.createElementNS(SVG, dot ? "circle" : "rect");
      const numbers = dot
        ? { cx: box.x + box.width / 2, cy: box.y + box.height / 2, r: Math.min(9, Math.min(box.width, box.height) / 5) }
        : { x: box.x - 2, y: box.y - 2, width: box.width + 4, height: box.height + 4, rx: 8 };
      for (const [key, value] of Object.entries(numbers)) mark.setAttribute(key, value);
      mark.setAttribute("class", `mark ${kind}`);
      this.marks.append(mark);
      if (kind === "hover") this.hovered = mark;
    }
  }

  /** Where an element lies, in the units of the picture. */
  boxOf(element) {
    const box = element.getBoundingClientRect();
    const turn = this.svg.getScreenCTM()?.inverse();
    if (!turn) return { width: 0 };
    const from = new DOMPoint(box.left, box.top).matrixTransform(turn);
    const to = new DOMPoint(box.right, box.bottom).matrixTransform(turn);
    return { x: from.x, y: from.y, width: to.x - from.x, height: to.y - from.y };
  }

  hover(event) {
    const name = event?.target.closest(".can")?.dataset.target;
    if (this.hovered?.dataset.name === name) return;
    this.marks?.querySelectorAll(".hover").forEach((mark) => mark.remove());
    this.hovered = null;
    if (name && event.pointerType !== "touch") this.mark(name, "hover");
  }

  key(event) {
    const at = event.target.closest(".can");
    if (event.key === "Escape" && this.begun.length) {
      const first = this.begun[0];
      this.cancel();
      this.find(first)?.focus();
    } else if (at && (event.key === "Enter" || event.key === " ")) {
      event.preventDefault();
      this.click(at.dataset.target);
      if (this.begun.length) this.nearest(this.find(this.begun.at(-1)), () => true)?.focus();
    } else if (at && event.key.startsWith("Arrow")) {
      event.preventDefault();
      const way = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key];
      this.nearest(at, (x, y) => {
        const along = x * way[0] + y * way[1];
        const beside = Math.abs(x * way[1]) + Math.abs(y * way[0]);
        return along > 1 && along >= beside * 0.5;
      }, way)?.focus();
    }
  }

  /** The element that can be clicked, lies in some direction, and is nearest. */
  nearest(from, fits, way = [0, 0]) {
    const centre = (element) => {
      const box = element.getBoundingClientRect();
      return [box.left + box.width / 2, box.top + box.height / 2];
    };
    const [x, y] = centre(from);
    let best = null;
    let least = Infinity;
    for (const element of this.svg.querySelectorAll('.can[tabindex="0"]')) {
      if (element === from || element.getAttribute("aria-pressed")) continue;
      const [dx, dy] = centre(element).map((value, k) => value - [x, y][k]);
      if (!fits(dx, dy)) continue;
      const far = Math.hypot(dx, dy) + Math.abs(dx * way[1]) + Math.abs(dy * way[0]);
      if (far < least) [best, least] = [element, far];
    }
    return best;
  }
}
