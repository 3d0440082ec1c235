// The candidates of one token under a temperature, a top-k and a top-p: models/written_tokens.py does the same.

import { softmax } from "../../common/numbers.js";

/** @typedef {{ temperature: number, topK: number, topP: number }} Settings a temperature of 0 takes the best; a top-k of 0 means all */
/**
 * @typedef {object} Step one written token
 * @property {string} token
 * @property {number} probability as the model has it
 * @property {[string, number][]} candidates the most probable tokens with their logits, the largest of them 0
 * @property {number} place how many tokens are more probable
 * @property {number} logit
 * @property {[number, number][][]} kept by temperature, by top-p: how many may be drawn, and ln of the sum of their powers
 * @property {[number, number, string, number[]][]} looks words that were looked at, with what weight, by which head, its row
 * @property {number} first the first token's share of all weight
 * @property {number} bytes of the cache
 */
/** @typedef {{ chances: number[], own: number, count: number }} Chances of the candidates, of the written token, and how many tokens may be drawn */

/**
 * What each candidate's probability becomes.
 * @param {Step} step @param {Settings} settings @param {number[]} heats the temperatures above 0 of `kept` @param {number[]} shares its top-p
 * @returns {Chances}
 */
export function computeChances(step, { temperature, topK, topP }, heats, shares) {
  const logits = step.candidates.map(([, logit]) => logit), { place, logit } = step;
  if (!temperature) return told(logits.map((_logit, at) => (at ? 0 : 1)), step, 1, 0);
  if (topK) {
    const allowed = logits.map((_logit, at) => at < topK), chances = softmax(logits, temperature, allowed);
    let sum = 0, count = 0;
    for (const chance of chances.slice(0, topK)) { // those stay that are needed to come to the share
      if (count && topP < 1 && sum >= topP) break; // a sum may be rounded to 1 before its last tokens
      sum += chance;
      count += 1;
    }
    return told(chances.map((chance, at) => (at < count ? chance / sum : 0)), step, count, 0);
  }
  const [count, total] = step.kept[heats.indexOf(temperature)][shares.indexOf(topP)];
  const chances = logits.map((one, at) => (at < count ? Math.exp(one / temperature - total) : 0));
  return told(chances, step, count, place < count ? Math.exp(logit / temperature - total) : 0);
}

/** @param {number[]} chances @param {Step} step @param {number} count @param {number} beyond of a token that is no candidate */
function told(chances, { place }, count, beyond) {
  return { chances, own: chances[place] ?? beyond, count };
}
