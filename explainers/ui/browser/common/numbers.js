// Numbers: as they are written, and as they are packed on their way from the server.

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
