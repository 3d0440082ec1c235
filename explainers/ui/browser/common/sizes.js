// Sizes and times as the calculators print them: explainers/memory/cache_formula.py.

import { _, localNumber } from "./words.js";

const TWO_PLACES = new Intl.NumberFormat("en", { minimumFractionDigits: 2, maximumFractionDigits: 2 }); // made once: that takes longer than writing
const SIX_PLACES = new Intl.NumberFormat("en", { maximumFractionDigits: 6 });
const UNITS = ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB", "ZiB", "YiB"];

/** Bytes in their binary unit: 1073741824 is 1.00 GiB. @param {number} count */
export function formatSize(count) {
  if (count < 1024) return count === 1 ? _("{count} byte", { count }) : _("{count} bytes", { count });
  let size = count, place = -1;
  do {
    size /= 1024;
    place++;
  } while (Number(size.toFixed(2)) >= 1024 && place < UNITS.length - 1);
  return `${localNumber(TWO_PLACES.format(size))} ${UNITS[place]}`;
}

/** Three digits that count. @param {number} value */
export function formatThree(value) {
  return localNumber(SIX_PLACES.format(Number(value.toPrecision(3))));
}

/** A time in milliseconds, or in seconds if there are many. @param {number} seconds */
export function formatTime(seconds) {
  return seconds < 10 ? `${formatThree(1000 * seconds)} ms` : `${formatThree(seconds)} s`;
}

/** A power of two as bytes: 2 to the 31st are 2 GiB. @param {number} power */
export function namePower(power) {
  return power < 10 ? `${2 ** power} B` : `${2 ** (power % 10)} ${UNITS[Math.floor(power / 10) - 1]}`;
}

/** A length as it is advertised: a thousand is 1,024 here. @param {number} tokens a power of two */
export function nameLength(tokens) {
  if (tokens < 1024) return String(tokens);
  return tokens < 1024 ** 2 ? `${tokens / 1024}k` : `${tokens / 1024 ** 2}M`;
}
