// Keys that go from one thing to the next.

export const ALONG = { ArrowLeft: -1, ArrowRight: 1 };
export const AROUND = { ...ALONG, ArrowUp: -1, ArrowDown: 1 };
/** @type {Record<string, [across: number, down: number]>} */
export const ACROSS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

/**
 * What a key that is pressed alone means; nothing else hears of one that means something.
 * @template Meaning @param {KeyboardEvent} event @param {Record<string, Meaning>} meanings @returns {Meaning | undefined}
 */
export function take(event, meanings) {
  const found = event.altKey || event.ctrlKey || event.metaKey ? undefined : meanings[event.key];
  if (found === undefined) return undefined;
  event.preventDefault();
  event.stopPropagation();
  return found;
}
