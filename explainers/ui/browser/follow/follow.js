// @ts-check
// A lecture that is followed: this tab leads one, follows one, or neither yet. What listens to the
// server outlives the pages: it is made once, and told where the page is each time that one has run.

/** @import { Component } from "../common/component.js" */
/** @import { FollowData } from "./data.js" */

import { loadStyle, wear } from "../common/component.js";
import { Follower } from "./follower.js";
import { Leader } from "./leader.js";
import { ROOM } from "./place.js";
import "../common/elements.js"; // what only those need is asked for at once, and not after them
import "../lecture/keys.js";
import "./stream.js";
import "./votes.js";

const FOLLOWED = "attention room"; // what the browser calls it, for this tab alone
const style = loadStyle(new URL("style.css", import.meta.url));
const holder = /** @type {{ attentionFollow?: { follower: Follower | null, leader: Leader | null } }} */ (globalThis);

/**
 * The page has run.
 * @param {Component<FollowData>} component
 */
export default async function ({ data: sent }) {
  wear(document, await style);
  const data = sent?.[0], me = holder.attentionFollow ??= { follower: null, leader: null };
  if (!data) return;
  const code = new URLSearchParams(location.search).get(ROOM) ?? sessionStorage.getItem(FOLLOWED);
  if (me.follower) return me.follower.draw(data);
  if (code && !me.leader?.room) {
    sessionStorage.setItem(FOLLOWED, code);
    me.follower = new Follower(code, data, () => {
      sessionStorage.removeItem(FOLLOWED);
      me.follower = null;
    });
  } else if (me.leader) me.leader.draw(data);
  else me.leader = new Leader(data);
}
