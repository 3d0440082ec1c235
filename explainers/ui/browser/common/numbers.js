// Numbers: as they are written, what pictures compute of them, and how they are packed on their way from the server.

import { localNumber } from "./words.js";

/** @typedef {number | null} Value  null is a blank */
/** @typedef {Value[][]} Values  rows of numbers */
/** @typedef {{ unit: number, steps: string }} PackedValues  each number so many steps of a unit, 16 bits of base64 */
/** @typedef {{ low: Uint8Array, high: Uint8Array }} Planes  the low and the high byte of every number */

export const BLANK = -32768; // what stands for a blank among packed values: ui/figure/linked_matrices.py

export const WEIGHT_STEPS = 10000; // in how many steps a weight of a plane is told: ui/figure/head_tiles.py
export const BLANK_WEIGHT = 65535; // and what stands for a blank there

/** A number as it is printed, with a minus that is as wide as a plus. @param {number} value */
export function digits(value, places = 2) {
  const text = Math.abs(value) < 99.995 ? value.toFixed(places) : value.toPrecision(3);
  return localNumber(/^-[0.]+$/.test(text) ? text.slice(1) : text.replace("-", "−"));
}

/** @param {number[]} numbers */
export const sum = (numbers) => numbers.reduce((total, one) => total + one, 0);

/** How far from 0 the farthest number is, which has the strongest colour; it is divided by. @param {number[][]} rows */
export const largest = (rows) => Math.max(1e-9, ...rows.flat().map(Math.abs));

/** A weight as readers see it: whole percent, the smallest told apart from nothing. @param {number} weight */
export function percent(weight) {
  if (weight === 0) return "0\u00a0%";
  return weight < 0.005 ? "<\u00a01\u00a0%" : `${Math.round(100 * weight)}\u00a0%`;
}

/** The weight of a word that may be seen: softmax leaves it some, though it is sent as 0. @param {number} weight */
export const seenPercent = (weight) => percent(weight === 0 ? Number.MIN_VALUE : weight);

/**
 * A row of weights: products divided by a temperature, the forbidden ones left out; where all are, nothing has a weight.
 * @param {number[]} products @param {number} temperature @param {boolean[]} [allowed] all of them, if nothing is said
 */
export function softmax(products, temperature, allowed = products.map(() => true)) {
  const scores = products.map((product, place) => (allowed[place] ? product / temperature : -Infinity));
  const largest = Math.max(...scores); // subtracted, so that no power is too large
  if (largest === -Infinity) return scores.map(() => 0);
  const powers = scores.map((score) => Math.exp(score - largest));
  const total = powers.reduce((sum, power) => sum + power, 0);
  return powers.map((power) => power / total);
}

/** Rows added up, each as much as its weight. @param {number[]} weights @param {number[][]} rows */
export function sumWeighted(weights, rows) {
  return rows[0].map((_first, d) => weights.reduce((sum, weight, place) => sum + weight * rows[place][d], 0));
}

/**
 * A matrix of 16 bits a number, the low byte first.
 * @param {PackedValues} packed @param {number} rows @param {number} columns @returns {Values}
 */
export function unpackValues({ unit, steps }, rows, columns) {
  const bytes = new DataView(bytesOf(steps).buffer);
  return Array.from({ length: rows }, (_, row) => Array.from({ length: columns }, (_, column) => {
    const step = bytes.getInt16(2 * (row * columns + column), true);
    return step === BLANK ? null : step * unit;
  }));
}

/** All low bytes, then all high ones: so they are packed better. @param {string} packed @returns {Promise<Planes>} */
export async function unpackPlanes(packed) {
  const bytes = await unpackBytes(packed), half = bytes.length / 2;
  return { low: bytes.subarray(0, half), high: bytes.subarray(half) };
}

/** What zlib packed, from base64. @param {string} packed */
export async function unpackBytes(packed) {
  const stream = new Blob([bytesOf(packed)]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

/** @param {string} text */
function bytesOf(text) {
  const letters = atob(text), bytes = new Uint8Array(letters.length);
  for (let k = 0; k < letters.length; k++) bytes[k] = letters.charCodeAt(k); // `from` takes ten times as long
  return bytes;
}
