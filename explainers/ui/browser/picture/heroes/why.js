// @ts-check
// Why a head looks at one token: what earlier parts wrote for it, and its weight without some of them.

/** @import { HeroData, Sentence } from "../hero.js" */

import { digits } from "../../common/numbers.js";
import { _ } from "../../common/words.js";
import { Hero } from "../hero.js";
import { percent } from "../sentence.js";

/** @typedef {[string, number, string]} Bar a source, its part, and the name of its removal */
/** @typedef {{ bars: Bar[], rest: [number, number, number, number] }} Side the first sources; of all others how many add, how much, how many take away, how much */
/** @typedef {{ sides: [Side, Side], sum: number }} Parts */
/** @typedef {{ side: number, removed: string[], weights: number[], said: Record<string, string> }} Removal weights as it is, predicted, measured, without others */
/**
 * @typedef {object} Cell
 * @property {string[]} tokens
 * @property {number} query
 * @property {number} key
 * @property {number[]} row
 * @property {number} weight of the key; in the row its whole word may have more
 * @property {Record<string, Parts>} parts by the kind of the bars
 * @property {Record<string, Removal>} removals
 * @property {Record<string, number[]>} looked the weights of each head that has a bar
 * @property {Record<string, string>} said
 * @property {number[]} [places] the position of each word, where words can be chosen
 * @property {boolean} isBefore is the key the token before the query?
 */
/** @typedef {{ button: HTMLButtonElement, name: HTMLElement, bar: HTMLElement, part: HTMLElement }} Row */

const BARS = 6, PHONE_BARS = 4, RESTS = 2, ARC = 54, PART = 62, STEP = 21, RESULTS = 4;
const NOTHING = "nothing", THREE = ["query_three", "three"], ROLES = ["query", "key"];

/** @extends {Hero<HeroData & { cells: Record<string, Cell>, raw: string }>} */
export class Why extends Hero {
  /** @param {HTMLElement} root */
  constructor(root) {
    super(root);
    root.classList.add("why");
    const { stage } = this;
    /** @type {{ token: HTMLElement, share: HTMLElement, arc: Element, read: Element }[]} */
    this.words = [];
    this.note = stage.add("div", "text why-note");
    this.titles = ROLES.map((role) => stage.add("div", `text why-title ${role}`));
    /** @type {Row[][]} */
    this.sides = ROLES.map((role, side) => Array.from({ length: BARS + RESTS }, (_row, at) => ({
      name: stage.add("div", "text why-name"), bar: stage.add("div", `why-bar ${role}`), part: stage.add("div", "text"), button: this.addRow(side, at),
    })));
    this.sums = ROLES.map(() => stage.add("div", "text why-sum"));
    this.threes = THREE.map((name) => {
      const button = stage.add("button", "why-three", _("remove the first 3"));
      button.addEventListener("click", () => this.remove(name));
      return button;
    });
    this.results = [_("as it is"), _("predicted"), _("measured"), _("others, at random")].map((label, at) => ({
      label: stage.add("div", "text", label), bar: stage.add("div", `why-weight result${at}`), share: stage.add("div", "text"),
    }));
    this.invitation = stage.add("div", "text why-invitation", _("Click a bar: its source is removed, and the model runs again."));
    this.worded = "";
  }

  get cell() { return this.data.cells[String(this.choices.why_cell)] ?? Object.values(this.data.cells)[0]; }
  get parts() { return this.cell.parts[String(this.choices.why_parts)]; }
  /** @returns {Removal | undefined} */
  get removal() { return this.cell.removals[String(this.choices.why_removed)]; }
  get isRaw() { return this.choices.why_parts === this.data.raw; }

  /** A row that can be clicked. @param {number} side @param {number} at */
  addRow(side, at) {
    const button = this.stage.add("button", "why-row");
    button.addEventListener("click", () => this.remove(this.parts.sides[side].bars[at]?.[2] ?? NOTHING));
    return button;
  }

  /** Remove it; what is removed already comes back. @param {string} name */
  remove(name) { this.choose({ why_removed: this.choices.why_removed === name ? NOTHING : name }); }

  /** The source that is opened, and its side: what is removed, else the key's first one. */
  get opened() {
    const { removal } = this, side = removal ? removal.side : 1, { bars } = this.parts.sides[side];
    const name = removal ? removal.removed[0] : bars[0][2];
    return { side, name, called: bars.find((bar) => bar[2] === name)?.[0] ?? removal?.said.what ?? "", looked: this.cell.looked[name], isGone: Boolean(removal) };
  }

  /** A token; in a text of the reader's own it can be chosen. @param {string} text @param {number} at @returns {HTMLElement} */
  addWord(text, at) {
    const { places } = this.cell;
    if (!places) return this.stage.add("div", "text why-token", text);
    const button = this.stage.add("button", "text why-token", text);
    button.addEventListener("click", () => this.look(at));
    return button;
  }

  /** Another key, or another query with its largest key. @param {number} at */
  look(at) {
    const { places = [], query } = this.cell, place = places[at];
    this.choose(at < query ? { why_key: place, why_removed: NOTHING } : { why_query: Math.max(2, place), why_key: -1, why_removed: NOTHING });
  }

  /** Nodes for the tokens of this text. */
  word() {
    const shown = JSON.stringify([this.cell.tokens, Boolean(this.cell.places)]);
    if (shown === this.worded) return;
    this.worded = shown;
    for (const { token, share, arc, read } of this.words) for (const node of [token, share, arc, read]) node.remove();
    this.words = this.cell.tokens.map((text, at) => ({
      token: this.addWord(text.trim() || "␣", at), share: this.stage.add("div", "text why-share"),
      arc: this.stage.draw("path", "why-arc"), read: this.stage.draw("path", "why-read"),
    }));
  }

  /** @override */
  get leastInClass() { return 14.4; }

  /** @override */
  place() {
    this.word();
    const { stage } = this, isPhone = stage.room < 560, top = this.placeWords(isPhone) + 14, wide = isPhone ? stage.room : stage.room / 2 - 16;
    const first = this.placeSide(0, 0, top, wide, isPhone), second = this.placeSide(1, isPhone ? 0 : wide + 32, isPhone ? first + 4 : top, wide, isPhone);
    stage.resize(stage.room, this.placeResults(Math.max(first, second) + 6, isPhone));
  }

  /** The text, where the head looks, and below it where the opened source had looked. @param {boolean} isPhone */
  placeWords(isPhone) {
    const { stage, cell, opened } = this, most = isPhone ? 16 : 24;
    const texts = this.words.map(({ token }) => token.textContent ?? ""), read = texts.slice(0, isPhone ? cell.query + 1 : texts.length);
    const long = stage.widths(read, most, 600), all = long.reduce((sum, one) => sum + one + most * 0.5, 0); // a phone has no room for what the head cannot see
    const shrunk = Math.min(1, stage.room / all), size = Math.max(9, most * shrunk);
    let x = (stage.room - all * shrunk) / 2;
    const middles = long.map((one) => { const at = x + (one * shrunk) / 2; x += (one + most * 0.5) * shrunk; return at; });
    const from = opened.side ? cell.key : cell.query, line = ARC + 22 + most * 0.6, below = line + most * 0.75;
    this.words.forEach(({ token, share, arc, read: back }, at) => {
      const weight = cell.row[at] ?? 0, isSeen = weight >= 0.005 && at <= cell.query, x = middles[at] ?? 0;
      token.classList.toggle("query", at === cell.query);
      token.classList.toggle("key", at === cell.key && at !== cell.query);
      stage.write(token, x, line, size, at <= cell.query ? 1 : at < middles.length ? 0.45 : 0);
      share.textContent = percent(weight);
      share.classList.toggle("key", at === cell.key);
      stage.write(share, x, ARC + 12, at === cell.key ? 17 : 13, isSeen ? 1 : 0);
      bend(arc, middles[cell.query], x, ARC, -1, weight, isSeen && at !== cell.query);
      const before = opened.looked?.[at] ?? 0;
      bend(back, middles[from], x, below, 1, before, before >= 0.05 && at !== from);
      back.setAttribute("class", `why-read ${ROLES[opened.side]}${opened.isGone ? " gone" : ""}`);
    });
    return this.placeNote(middles, below);
  }

  /** In words, where the opened source looked. @param {number[]} middles @param {number} below */
  placeNote(middles, below) {
    const { stage, cell, opened } = this, from = opened.side ? cell.key : cell.query, { looked } = opened;
    const best = looked ? looked.indexOf(Math.max(...looked)) : from, here = { name: opened.called, token: word(cell, from), other: word(cell, best) };
    this.note.className = `text why-note moves ${ROLES[opened.side]}`;
    if (!looked) this.note.textContent = _("{name} wrote at “{token}”", here);
    else if (best === from) this.note.textContent = _("{name}, at “{token}”, looked at itself", here);
    else this.note.textContent = _("{name}, at “{token}”, looked at “{other}”: {share}", { ...here, share: percent(looked[best]) });
    const long = stage.widths([this.note.textContent ?? ""], 15, 600)[0] * 1.04 + 4, middle = (middles[from] + middles[best]) / 2;
    stage.write(this.note, Math.max(long / 2, Math.min(stage.room - long / 2, middle)), below + (best === from ? 16 : 46), 15);
    return below + 56;
  }

  /** The bars of one side: the first sources, all others together, and the sum. @param {number} side @param {number} left @param {number} top @param {number} wide @param {boolean} isPhone */
  placeSide(side, left, top, wide, isPhone) {
    const { stage, cell, removal } = this, { bars, rest } = this.parts.sides[side], shown = fold(bars, rest, isPhone ? PHONE_BARS : BARS);
    const token = word(cell, side ? cell.key : cell.query), size = isPhone || wide < 400 ? 15 : 17;
    this.titles[side].textContent = side ? _("What “{token}” offers: its key", { token }) : _("What “{token}” looks for: its query", { token });
    stage.write(this.titles[side], left, top + 10, size, 1, 0, "left");
    this.placeThree(side, left + wide, top + 10);
    const sides = this.parts.sides.map((one) => fold(one.bars, one.rest, isPhone ? PHONE_BARS : BARS)), all = sides.flatMap((one) => one.map(([, part]) => part));
    const names = Math.max(...stage.widths(sides.flatMap((one) => one.slice(0, -1).map(([name]) => name)), 15, 600)) + 10;
    const most = Math.max(...all, 0.01), least = Math.min(...all, 0), room = wide - PART, against = wide - PART - 22 - Math.max(...stage.widths(sides.map((one) => one[one.length - 1][0]), 15, 600));
    const scale = Math.max(0.5, Math.min(room / (most - least), (room - names) / most, least < 0 ? against / -least : Infinity));
    const zero = left + Math.max(names, -least * scale);
    this.sides[side].forEach((row, at) => {
      const one = shown[at], [name, part, removed] = one ?? ["", 0, ""], y = top + 24 + at * STEP, length = Math.max(1.5, scale * Math.abs(part));
      const isGone = Boolean(removed && removal?.side === side && removal.removed.includes(removed)), isLess = part < 0;
      row.name.textContent = name;
      row.part.textContent = one ? signed(part) : "";
      for (const node of [row.bar, row.name, row.part]) node.classList.toggle("gone", isGone);
      row.bar.classList.toggle("rest", !removed);
      row.name.classList.toggle("rest", !removed);
      const seen = one ? 1 : 0, [long] = stage.widths([row.part.textContent], 15, 600);
      stage.write(row.name, isLess ? zero + long + 18 : zero - 8, y + STEP / 2, 15, seen, 0, isLess ? "left" : "right");
      stage.put(row.bar, { x: isLess ? zero - length : zero, y: y + 3, width: length, height: STEP - 5 }, seen);
      stage.write(row.part, zero + (isLess ? 0 : length) + 8, y + STEP / 2, 15, seen, 0, "left");
      row.button.setAttribute("aria-label", `${name} ${signed(part)}`);
      row.button.setAttribute("aria-pressed", String(isGone));
      row.button.title = isGone ? _("Put {name} back", { name }) : _("Remove {name}", { name });
      stage.put(row.button, { x: left, y, width: wide, height: STEP }, removed ? 1 : 0);
    });
    const end = top + 24 + shown.length * STEP + STEP / 2, sum = { sum: signed(this.parts.sum) };
    this.sums[side].textContent = this.isRaw ? _("all together {sum}: the score", sum) : _("all together {sum}, compared with the other keys", sum);
    stage.write(this.sums[side], left, end, wide < 400 ? 14 : 15, 1, 0, "left");
    return end + 14;
  }

  /** The button that removes three at once. @param {number} side @param {number} right @param {number} y */
  placeThree(side, right, y) {
    const button = this.threes[side], isGone = this.choices.why_removed === THREE[side], [long] = this.stage.widths([button.textContent ?? ""], this.isLecture ? 15.2 : 13, 600), width = long + 20;
    button.setAttribute("aria-pressed", String(isGone));
    this.stage.put(button, { x: right - width, y: y - 12, width, height: 24 }, this.cell.removals[THREE[side]] ? 1 : 0);
  }

  /** The weight without what is removed: predicted, measured, and without as many others. @param {number} top @param {boolean} isPhone */
  placeResults(top, isPhone) {
    const { stage, cell, removal } = this, left = isPhone ? 130 : 200, room = stage.room - left - 60, step = 21;
    const weights = removal ? removal.weights : [cell.weight];
    this.results.forEach(({ label, bar, share }, at) => {
      const isSeen = at < weights.length ? 1 : 0, y = top + at * step, weight = weights[at] ?? 0;
      stage.write(label, left - 8, y + step / 2, isPhone ? 13 : 15, isSeen, 0, "right");
      stage.put(bar, { x: left, y: y + 3, width: Math.max(2, room * weight), height: step - 6 }, isSeen);
      share.textContent = percent(weight);
      stage.write(share, left + Math.max(2, room * weight) + 6, y + step / 2, 15, isSeen, 0, "left");
    });
    stage.write(this.invitation, left, top + 2 * step, isPhone ? 13 : 15, removal ? 0 : 1, 0, "left");
    this.invitation.style.maxWidth = `${stage.room - left}px`;
    return top + RESULTS * step;
  }

  /** @override @returns {Sentence} */
  sentence() {
    const { cell, parts, removal, isRaw } = this, key = { [ROLES[0]]: "query", [ROLES[1]]: "key" };
    if (removal) return { name: removal.removed.length > 1 ? "hero_removed_three" : "hero_removed", values: { ...cell.said, ...removal.said }, classes: key };
    const [source, part, name] = parts.sides[1].bars[0], looked = cell.looked[name], best = looked ? looked.indexOf(Math.max(...looked)) : cell.key;
    const values = { ...cell.said, source, part: signed(part), sum: isRaw ? digits(parts.sum) : signed(parts.sum), other: word(cell, best) };
    const hasLooked = !isRaw && !cell.isBefore && best !== cell.key;
    return { name: hasLooked ? "hero_content_looked" : `hero_${cell.isBefore ? "position" : "content"}${isRaw ? "" : "_compared"}`, values, classes: key };
  }

  /** @override */
  describe() {
    const { parts, cell, removal } = this;
    const sides = parts.sides.map(({ bars, rest }) => fold(bars, rest, bars.length).map(([name, part]) => `${name} ${signed(part)}`).join(", "));
    return `${sides.join("; ")}. ${this.note.textContent}. ${(removal?.weights ?? [cell.weight]).map(percent).join(", ")}`;
  }
}

/** The first bars, and all others in two: those that add and those that take away. @param {Bar[]} bars @param {Side["rest"]} rest @param {number} most @returns {Bar[]} */
function fold(bars, [added, more, taken, less], most) {
  const folded = bars.slice(most).map(([, part]) => part), up = folded.filter((part) => part > 0), down = folded.filter((part) => part <= 0);
  const sum = (/** @type {number[]} */ parts) => parts.reduce((all, part) => all + part, 0), first = bars.slice(0, most);
  return [
    ...first,
    [_("{count} other parts", { count: added + up.length }), more + sum(up), ""],
    [_("{count} other parts", { count: taken + down.length }), less + sum(down), ""],
  ];
}

/** An arc between two tokens, as thick as its weight. @param {Element} arc @param {number} from @param {number} to @param {number} y @param {1 | -1} way down or up @param {number} weight @param {boolean} isSeen */
function bend(arc, from, to, y, way, weight, isSeen) {
  const high = way * Math.min(way > 0 ? 30 : ARC - 8, 14 + Math.abs(from - to) * 0.3) * 1.3;
  arc.setAttribute("d", `M${from} ${y} C${from} ${y + high} ${to} ${y + high} ${to} ${y}`);
  arc.setAttribute("stroke-width", String(1 + 11 * weight));
  arc.setAttribute("opacity", isSeen ? "1" : "0");
}

/** @param {Cell} cell @param {number} at */
function word(cell, at) { return cell.tokens[at]?.trim() || "␣"; }

/** @param {number} part */
function signed(part) { return `${part < 0 ? "−" : "+"}${digits(Math.abs(part))}`; }
