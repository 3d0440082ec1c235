// What a picture computes itself while its reader drags: torch's softmax, and the mean by its weights.

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
