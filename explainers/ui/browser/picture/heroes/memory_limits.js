// @ts-check
// What limits at a point: how full the memory is, and how long a step reads and computes.

import { element } from "../../common/elements.js";
import { _ } from "../../common/words.js";
import { formatSize, formatThree, formatTime } from "../../common/sizes.js";

/**
 * @typedef {object} Limits bytes of all GPUs together, seconds of one step
 * @property {"memory" | "bandwidth" | "compute" | "none"} name
 * @property {number} held
 * @property {number} usable
 * @property {number} reading
 * @property {number} ofCaches the part of reading that is for caches
 * @property {number} computing
 * @property {number} speed tokens a second of all texts
 * @property {boolean} isWhole are the weights known, and in what is held?
 */

const ROWS = /** @type {const} */ (["memory", "bandwidth", "compute"]);

export class LimitMeters {
  /** @param {HTMLElement} node */
  constructor(node) {
    this.title = node.appendChild(element("div", "memory-limit-title"));
    this.rows = ROWS.map((name) => {
      const root = node.appendChild(element("div", `memory-meter ${name}`));
      const label = root.appendChild(element("span", "what")), number = root.appendChild(element("b"));
      const track = root.appendChild(element("div", "gauge"));
      return { name, root, label, number, fill: track.appendChild(element("i")), part: track.appendChild(element("i", "part")) };
    });
    this.speed = node.appendChild(element("div", "memory-speed"));
  }

  /** @param {Limits} limits */
  show({ name, held, usable, reading, ofCaches, computing, speed, isWhole }) {
    const titles = { memory: _("Memory limits here"), bandwidth: _("Bandwidth limits here"), compute: _("Computing limits here"), none: "" };
    const isKnown = reading > 0 && name !== "memory", longest = Math.max(reading, computing) || 1;
    const labels = { memory: isWhole ? _("filled of what is usable") : _("filled of what is usable, without weights"), bandwidth: _("reading memory, each step"), compute: _("computing with weights") };
    const shares = { memory: held / usable, bandwidth: reading / longest, compute: computing / longest };
    const numbers = {
      memory: held > usable ? _("{size} too much", { size: formatSize(held - usable) }) : `${Math.round((100 * held) / usable)}\u00a0%`,
      bandwidth: isKnown ? formatTime(reading) : "–", compute: isKnown ? formatTime(computing) : "–",
    };
    write(this.title, titles[name]);
    this.title.dataset.limit = name;
    for (const row of this.rows) {
      const isLive = row.name === "memory" || isKnown;
      row.root.classList.toggle("chosen", row.name === name);
      row.root.hidden = row.name !== "memory" && name === "none";
      write(row.label, labels[row.name]);
      write(row.number, numbers[row.name]);
      row.fill.style.width = `${isLive ? Math.min(100, 100 * shares[row.name]) : 0}%`;
      row.part.style.width = row.name === "bandwidth" && isKnown ? `${(100 * ofCaches) / longest}%` : "0";
    }
    write(this.speed, isKnown && name !== "none" ? _("at most {speed} tokens a second", { speed: formatThree(speed) }) : "");
  }
}

/** @param {HTMLElement} node @param {string} text */
function write(node, text) { if (node.textContent !== text) node.textContent = text; }
