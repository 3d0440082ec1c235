// @ts-check
// Two bars of 100 %: where one letter's weight goes, and that of all letters that need nothing.

import { element } from "../../common/elements.js";
import { _ } from "../../common/words.js";
import { percent } from "../sentence.js";

/** @typedef {import("../stage.js").Stage} Stage */
/** @typedef {ReturnType<typeof import("./idle_places.js").placeIdle>} Plan */
/** @typedef {"useful" | "first" | "itself" | "nowhere" | "elsewhere"} Kind */

/** @type {Kind[]} */
export const KINDS = ["useful", "first", "itself", "nowhere", "elsewhere"];
const AIR = 10, SMALLEST = 0.02; // a smaller share has no number in its part

export class IdleBars {
  /** @param {Stage} stage */
  constructor(stage) {
    this.stage = stage;
    this.first = "";
    this.rows = Array.from({ length: 2 }, () => ({
      name: stage.add("div", "text idle-name"),
      parts: KINDS.map((kind) => stage.add("div", `idle-part ${kind}`)),
      gate: stage.add("div", "text idle-gate"),
    }));
    this.legend = KINDS.map((kind) => {
      const node = stage.add("div", "text quiet idle-key");
      node.append(element("span", `idle-part ${kind}`), element("span", "name"));
      return node;
    });
  }

  /** @param {Kind} kind */
  nameKind(kind) {
    return { useful: _("useful"), first: this.first, itself: _("itself"), nowhere: _("nowhere"), elsewhere: _("elsewhere") }[kind];
  }

  /**
   * @param {Plan} plan @param {string[]} names of the rows
   * @param {Record<Kind, number>[] | null} shares of each row @param {string} first what the first place is called
   * @param {number[] | null} gates of each row @param {boolean} hasSink only then can weight fall nowhere
   */
  place(plan, names, shares, first, gates, hasSink) {
    const { stage } = this, isShown = shares ? 1 : 0;
    this.first = first;
    this.rows.forEach(({ name, parts, gate }, row) => {
      const { left, y, height } = plan.bars[row], width = plan.barsEnd - left - (gates && !plan.isPhone ? plan.gate : 0);
      let at = left;
      name.textContent = names[row];
      name.classList.toggle("asks", row === 0);
      stage.write(name, ...plan.bars[row].name, row === 0 ? 18 : 15, isShown, 0, "left");
      parts.forEach((part, kind) => {
        const share = shares ? shares[row][KINDS[kind]] : 0, long = width * share, text = percent(share);
        const full = `${this.nameKind(KINDS[kind])} ${text}`, [fullWidth, width_] = stage.widths([full, text], 14);
        part.textContent = share < SMALLEST ? "" : fullWidth + AIR <= long ? full : width_ + AIR <= long ? text : "";
        stage.put(part, { x: at, y, width: long, height }, isShown);
        at += long;
      });
      gate.textContent = gates ? _("gate {share} open", { share: percent(gates[row]) }) : "";
      stage.write(gate, ...(plan.isPhone ? plan.bars[row].gate : /** @type {[number, number]} */ ([plan.barsEnd, y + height / 2])), 14, gates ? isShown : 0, 0, "right");
    });
    this.placeLegend(plan, isShown, hasSink);
  }

  /** @param {Plan} plan @param {number} isShown @param {boolean} hasSink */
  placeLegend(plan, isShown, hasSink) {
    const { stage } = this, names = KINDS.map((kind) => this.nameKind(kind)), widths = stage.widths(names, 14, 400);
    let { x, y } = plan.legend;
    this.legend.forEach((node, at) => {
      /** @type {HTMLElement} */ (node.lastElementChild).textContent = names[at];
      node.hidden = KINDS[at] === "nowhere" && !hasSink;
      if (node.hidden) return;
      if (x + widths[at] + 20 > stage.room) { x = plan.legend.x; y += 22; }
      stage.write(node, x, y, 14, isShown, 0, "left");
      x += widths[at] + 44;
    });
  }
}
