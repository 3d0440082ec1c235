// @ts-check
// The hands of a dial and what lies between them, also between two neighbouring frames.

const TURN = 2 * Math.PI;

/** Numbers between two neighbouring frames. @param {number[][]} frames @param {number} at */
export function between(frames, at) {
  const lower = Math.floor(at), share = at - lower, one = frames[lower], next = frames[Math.min(frames.length - 1, lower + 1)];
  return share ? one.map((value, n) => value + share * (next[n] - value)) : one;
}

/** Directions between two neighbouring frames, the short way around. @param {number[][]} frames @param {number} at */
export function turned(frames, at) {
  const lower = Math.floor(at), share = at - lower, one = frames[lower], next = frames[Math.min(frames.length - 1, lower + 1)];
  return one.map((angle, n) => angle + share * shortWay(next[n] - angle));
}

/** @param {number} angle */
const shortWay = (angle) => angle - TURN * Math.round(angle / TURN);

/** An arrow from a middle. @param {number} x @param {number} y @param {number} long @param {number} angle @param {number} thick */
export function hand(x, y, long, angle, thick) {
  const [across, up] = [Math.cos(angle), -Math.sin(angle)], half = thick / 2, head = thick * 1.7;
  const point = (/** @type {number} */ along, /** @type {number} */ aside) => `${(x + along * across - aside * up).toFixed(1)} ${(y + along * up + aside * across).toFixed(1)}`;
  const neck = long - 2 * head;
  return `M${point(0, half)}L${point(neck, half)}L${point(neck, head)}L${point(long, 0)}L${point(neck, -head)}L${point(neck, -half)}L${point(0, -half)}Z`;
}

/** What lies between two hands. @param {number} x @param {number} y @param {number} radius @param {number} from @param {number} to */
export function wedge(x, y, radius, from, to) {
  const [start, end] = [from, to].map((angle) => `${(x + radius * Math.cos(angle)).toFixed(1)} ${(y - radius * Math.sin(angle)).toFixed(1)}`);
  return `M${x} ${y}L${start}A${radius} ${radius} 0 0 ${shortWay(to - from) > 0 ? 0 : 1} ${end}Z`;
}
