// Why a head looks at one token: what earlier parts wrote for it, and its weight without some of them.

/** @import { HeroData, Mark, Sentence } from "../kit.js" */

import { _, digits, Hero, percent, sum } from "../kit.js";

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
const BARS = 6, PHONE_BARS = 4, ARC = 54, PART = 62, STEP = 21, RESULTS = 4;
const NOTHING = "nothing", THREE = ["query_three", "three"], ROLES = ["query", "key"];

/** @extends {Hero<HeroData & { cells: Record<string, Cell>, raw: string }>} */
export class Why extends Hero {
  get cell() { return this.data.cells[String(this.choices.why_cell)] ?? Object.values(this.data.cells)[0]; }
  get parts() { return this.cell.parts[String(this.choices.why_parts)]; }
  /** @returns {Removal | undefined} */
  get removal() { return this.cell.removals[String(this.choices.why_removed)]; }
  get isRaw() { return this.choices.why_parts === this.data.raw; }
  get isPhone() { return this.stage.room < 560; }

  /** Remove it; what is removed already comes back. @param {string} name */
  remove(name) { this.choose({ why_removed: this.choices.why_removed === name ? NOTHING : name }); }

  /** The source that is opened, and its side: what is removed, else the key's first one. */
  get opened() {
    const { removal } = this, side = removal ? removal.side : 1, { bars } = this.parts.sides[side];
    const name = removal ? removal.removed[0] : bars[0][2];
    return { side, name, called: bars.find((bar) => bar[2] === name)?.[0] ?? removal?.said.what ?? "", looked: this.cell.looked[name], isGone: Boolean(removal) };
  }

  /** Another key, or another query with its largest key. @param {number} at */
  look(at) {
    const { places = [], query } = this.cell, place = places[at];
    this.choose(at < query ? { why_key: place, why_removed: NOTHING } : { why_query: Math.max(2, place), why_key: -1, why_removed: NOTHING });
  }

  /** @override */
  get leastInClass() { return 15.2; }

  /** @override */
  marks() {
    const { stage } = this, text = this.placeText(), sides = this.placeSides(text.foot), top = Math.max(...sides.map(({ foot }) => foot)) + 6;
    stage.resize(stage.room, top + RESULTS * STEP);
    return [...sides.flatMap((side) => this.markSide(side)), ...sides.map((side) => this.markThree(side)), ...this.markResults(top), ...this.markText(text)];
  }

  /** Where the tokens stand: where arcs begin above them, and below them. */
  placeText() {
    const { stage, cell, isPhone } = this, most = isPhone ? 16 : 24, line = ARC + 22 + most * 0.6, below = line + most * 0.75;
    const read = cell.tokens.slice(0, isPhone ? cell.query + 1 : Infinity).map((_token, at) => word(cell, at)); // a phone has no room for what the head cannot see
    const long = stage.widths(read, most, 600), all = long.reduce((sum, one) => sum + one + most * 0.5, 0), shrunk = Math.min(1, stage.room / all);
    let x = (stage.room - all * shrunk) / 2;
    const middles = long.map((one) => { const at = x + (one * shrunk) / 2; x += (one + most * 0.5) * shrunk; return at; });
    return { middles, line, below, size: Math.max(9, most * shrunk), foot: below + 70 };
  }

  /** The text, where the head looks, and below it where the opened source had looked. @param {ReturnType<typeof this.placeText>} text @returns {Mark[]} */
  markText({ middles, line, below, size }) {
    const { stage, cell, opened: { side, looked, isGone }, note: { note, from, best } } = this, { places, query } = cell;
    const half = (stage.width(note, 15, 600) * 1.04 + 4) / 2, middle = Math.max(half, Math.min(stage.room - half, (middles[from] + middles[best]) / 2));
    return [{ key: "note", class: `text why-note ${ROLES[side]}`, text: note, at: [middle, below + (best === from ? 16 : 46), 15] }, ...middles.flatMap(/** @returns {Mark[]} */ (x, at) => {
      const key = `${at} ${places ? "offered" : ""} ${cell.tokens[at]}`, weight = cell.row[at] ?? 0, isSeen = weight >= 0.005 && at <= query, before = looked?.[at] ?? 0;
      const read = bend(middles[from], x, below, 1, before, before >= 0.05 && at !== from);
      return [
        {
          key: `token ${key}`, tag: places ? "button" : "div", class: "text why-token", is: { query: at === query, key: at === cell.key && at !== query },
          text: word(cell, at), at: [x, line, size], opacity: at <= query ? 1 : 0.45, click: places && (() => this.look(at)), // of a reader's own text
        },
        { key: `share ${key}`, class: "text why-share", is: { key: at === cell.key }, text: percent(weight), at: [x, ARC + 12, at === cell.key ? 17 : 13], opacity: isSeen ? 1 : 0 },
        { key: `arc ${key}`, tag: "svg:path", class: "why-arc", attributes: bend(middles[query], x, ARC, -1, weight, isSeen && at !== query) },
        { key: `read ${key}`, tag: "svg:path", class: `why-read ${ROLES[side]}`, is: { gone: isGone }, attributes: read },
      ];
    })];
  }

  /** In words, where the opened source looked most. */
  get note() {
    const { cell, opened: { side, called, looked } } = this, from = side ? cell.key : cell.query, best = looked ? looked.indexOf(Math.max(...looked)) : from;
    const here = { name: called, token: word(cell, from), other: word(cell, best), share: percent(looked?.[best] ?? 0) };
    if (!looked) return { from, best, note: _("{name} wrote at “{token}”", here) };
    return { from, best, note: best === from ? _("{name}, at “{token}”, looked at itself", here) : _("{name}, at “{token}”, looked at “{other}”: {share}", here) };
  }

  /** Both sides on one scale: their bars, where they begin behind the names, and where each side ends. @param {number} top */
  placeSides(top) {
    const { stage, isPhone } = this, wide = isPhone ? stage.room : stage.room / 2 - 16;
    const longest = (/** @type {Bar[]} */ shown) => Math.max(...stage.widths(shown.map(([name]) => name), 15, 600));
    const bars = this.parts.sides.map((one) => fold(one.bars, one.rest, isPhone ? PHONE_BARS : BARS)), high = bars.map(({ length }) => 38 + (length + 0.5) * STEP);
    const all = bars.flat().map(([, part]) => part), most = Math.max(...all, 0.01), least = Math.min(...all, 0), names = longest(bars.flatMap((one) => one.slice(0, -1))) + 10;
    const room = wide - PART, against = room - 22 - longest(bars.map((one) => one[one.length - 1]));
    const scale = Math.max(0.5, Math.min(room / (most - least), (room - names) / most, least < 0 ? against / -least : Infinity));
    return bars.map((shown, side) => {
      const left = side && !isPhone ? wide + 32 : 0, y = side && isPhone ? top + high[0] + 4 : top;
      return { side, shown, left, top: y, wide, scale, zero: left + Math.max(names, -least * scale), foot: y + high[side] };
    });
  }

  /** The bars of one side: the first sources, all others together, and the sum. @param {ReturnType<typeof this.placeSides>[number]} place @returns {Mark[]} */
  markSide({ side, shown, left, top, wide, scale, zero, foot }) {
    const { cell, removal } = this, token = word(cell, side ? cell.key : cell.query), sum = { sum: signed(this.parts.sum) }, isSmall = wide < 400;
    const title = side ? _("What “{token}” offers: its key", { token }) : _("What “{token}” looks for: its query", { token });
    const told = this.isRaw ? _("all together {sum}: the score", sum) : _("all together {sum}, compared with the other keys", sum);
    return [
      { key: `title ${side}`, class: `text why-title ${ROLES[side]}`, text: title, at: [left, top + 10, this.isPhone || isSmall ? 15 : 17], hold: "left" },
      ...shown.flatMap(/** @returns {Mark[]} */ ([name, part, removed], at) => {
        const key = `${side} ${at}`, y = top + 24 + at * STEP, length = Math.max(1.5, scale * Math.abs(part)), isLess = part < 0, text = signed(part);
        const [long] = this.stage.widths([text], 15, 600), gone = Boolean(removed && removal?.side === side && removal.removed.includes(removed)), is = { gone, rest: !removed };
        return [
          { key: `name ${key}`, class: "text why-name", is, text: name, at: [isLess ? zero + long + 18 : zero - 8, y + STEP / 2, 15], hold: isLess ? "left" : "right" },
          { key: `bar ${key}`, class: `why-bar ${ROLES[side]}`, is, box: [isLess ? zero - length : zero, y + 3, length, STEP - 5] },
          { key: `part ${key}`, class: "text", is: { gone }, text, at: [zero + (isLess ? 0 : length) + 8, y + STEP / 2, 15], hold: "left" },
          {
            key: `row ${key}`, tag: "button", class: "why-row", box: [left, y, wide, STEP], opacity: removed ? 1 : 0, click: () => this.remove(removed),
            attributes: { "aria-label": `${name} ${text}`, "aria-pressed": String(gone), title: gone ? _("Put {name} back", { name }) : _("Remove {name}", { name }) },
          },
        ];
      }),
      { key: `sum ${side}`, class: "text why-sum", text: told, at: [left, foot - 14, isSmall ? 14 : 15], hold: "left" },
    ];
  }

  /** The button that removes three at once. @param {ReturnType<typeof this.placeSides>[number]} place @returns {Mark} */
  markThree({ side, left, top, wide }) {
    const text = _("remove the first 3"), name = THREE[side], width = this.stage.width(text, this.isLecture ? 15.2 : 13, 600) + 20;
    return {
      key: `three ${side}`, tag: "button", class: "why-three", text, attributes: { "aria-pressed": String(this.choices.why_removed === name) },
      box: [left + wide - width, top - 2, width, 24], opacity: this.cell.removals[name] ? 1 : 0, click: () => this.remove(name),
    };
  }

  /** The weight without what is removed: predicted, measured, and without as many others. @param {number} top @returns {Mark[]} */
  markResults(top) {
    const { stage, cell, removal, isPhone } = this, left = isPhone ? 130 : 200, room = stage.room - left - 60, size = isPhone ? 13 : 15, { weights } = removal ?? { weights: [cell.weight] };
    return [
      ...[_("as it is"), _("predicted"), _("measured"), _("others, at random")].flatMap(/** @returns {Mark[]} */ (text, at) => {
        const opacity = at < weights.length ? 1 : 0, y = top + at * STEP, weight = weights[at] ?? 0, length = Math.max(2, room * weight);
        return [
          { key: `label ${at}`, class: "text", text, at: [left - 8, y + STEP / 2, size], opacity, hold: "right" },
          { key: `weight ${at}`, class: `why-weight result${at}`, box: [left, y + 3, length, STEP - 6], opacity },
          { key: `result ${at}`, class: "text", text: percent(weight), at: [left + length + 6, y + STEP / 2, 15], opacity, hold: "left" },
        ];
      }),
      {
        key: "invitation", class: "text why-invitation", text: _("Click a bar: its source is removed, and the model runs again."), style: { "max-width": `${stage.room - left}px` },
        at: [left, top + 2 * STEP, size], opacity: removal ? 0 : 1, hold: "left",
      },
    ];
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
    return `${sides.join("; ")}. ${this.note.note}. ${(removal?.weights ?? [cell.weight]).map(percent).join(", ")}`;
  }
}

/** The first bars, and all others in two: those that add and those that take away. @param {Bar[]} bars @param {Side["rest"]} rest @param {number} most @returns {Bar[]} */
function fold(bars, [added, more, taken, less], most) {
  const folded = bars.slice(most).map(([, part]) => part), up = folded.filter((part) => part > 0), down = folded.filter((part) => part <= 0);
  return [
    ...bars.slice(0, most),
    [_("{count} other parts", { count: added + up.length }), more + sum(up), ""],
    [_("{count} other parts", { count: taken + down.length }), less + sum(down), ""],
  ];
}

/** An arc, as thick as its weight. @param {number} from @param {number} to @param {number} y @param {1 | -1} way down or up @param {number} weight @param {boolean} isSeen */
function bend(from, to, y, way, weight, isSeen) {
  const high = way * Math.min(way > 0 ? 30 : ARC - 8, 14 + Math.abs(from - to) * 0.3) * 1.3;
  return { d: `M${from} ${y} C${from} ${y + high} ${to} ${y + high} ${to} ${y}`, "stroke-width": 1 + 11 * weight, opacity: isSeen ? 1 : 0 };
}

/** @param {Cell} cell @param {number} at */
function word(cell, at) { return cell.tokens[at]?.trim() || "␣"; }

/** @param {number} part */
function signed(part) { return `${part < 0 ? "−" : "+"}${digits(Math.abs(part))}`; }
