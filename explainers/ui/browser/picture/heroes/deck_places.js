// @ts-check
// Where the cards of a deck lie: lines of each kind, the open card wider than the others.

/** @typedef {import("../stage.js").Box & { line: number }} Place */
/**
 * @typedef {object} Form how a deck is laid out in some room
 * @property {string} name
 * @property {number} left room for the names of the rows; above the rows where there is none
 * @property {number} head height of such a name
 * @property {number} most cards in a line
 * @property {number} gap
 * @property {number} high
 * @property {number} open how many times as wide as another card
 * @property {number} between rows
 */

/** @param {number} room @returns {Form} */
function formFor(room) {
  if (room < 560) return { name: "small", left: 0, head: 24, most: 8, gap: 4, high: 38, open: 4, between: 6 };
  if (room < 880) return { name: "tight", left: 0, head: 24, most: 9, gap: 5, high: 68, open: 1.5, between: 4 };
  return { name: "wide", left: 104, head: 0, most: 9, gap: 5, high: 60, open: 1.65, between: 6 };
}

/**
 * @param {number} room @param {string[]} rows kinds of which there are cards
 * @param {string[]} kinds of all cards, row by row @param {number} open
 */
export function placeCards(room, rows, kinds, open) {
  const form = formFor(room), { left, head, most, gap, high, between } = form;
  /** @type {Place[]} */
  const places = [];
  /** @type {import("../stage.js").Box[]} */
  const names = [];
  let y = 2, line = 0;
  for (const row of rows) {
    const own = kinds.flatMap((kind, at) => (kind === row ? [at] : []));
    const lines = form.name === "small" ? fillLines(own, most, open, form.open) : shareLines(own, most);
    const tall = lines.length * (high + gap) - gap;
    names.push(left ? { x: 0, y, width: left - 10, height: high } : { x: 0, y, width: room, height: head - 2 });
    y += head;
    for (const [at, some] of lines.entries()) {
      placeLine(form, room, some, open, y + at * (high + gap), line).forEach((place, n) => { places[some[n]] = place; });
      line += 1;
    }
    y += tall + gap + between;
  }
  return { places, rows: names, height: y - between, form: form.name };
}

/** Lines that are about equally long. @param {number[]} own @param {number} most */
function shareLines(own, most) {
  const count = Math.ceil(own.length / most), long = Math.ceil(own.length / count);
  return Array.from({ length: count }, (_one, at) => own.slice(at * long, (at + 1) * long));
}

/** Lines of small cards, among which the open one takes the place of several. @param {number[]} own @param {number} most @param {number} open @param {number} wide */
function fillLines(own, most, open, wide) {
  /** @type {number[][]} */
  const lines = [[]];
  let room = most;
  for (const at of own) {
    const takes = at === open ? wide : 1;
    if (takes > room) {
      lines.push([]);
      room = most;
    }
    lines[lines.length - 1].push(at);
    room -= takes;
  }
  return lines;
}

/** @param {Form} form @param {number} room @param {number[]} some @param {number} open @param {number} y @param {number} line @returns {Place[]} */
function placeLine(form, room, some, open, y, line) {
  const { left, most, gap, high } = form, isSmall = form.name === "small", hasOpen = some.includes(open);
  const free = room - left - 4 - gap * (most - 1);
  const unit = free / (hasOpen && !isSmall ? most - 1 + form.open : most);
  const wide = isSmall ? form.open * unit + (form.open - 1) * gap : form.open * unit;
  let x = left + 2;
  return some.map((at) => {
    const place = { x, y, width: at === open ? wide : unit, height: high, line };
    x += place.width + gap;
    return place;
  });
}
