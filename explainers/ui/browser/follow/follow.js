// A lecture that is followed: this tab leads one, follows one, or neither yet; by a handover it changes
// from one to the other. What listens to the server outlives the pages: it is made once, and told where the page is each time that one has run.

/** @import { Component, Tell } from "../common/component.js" */
/** @import { FollowData, Led } from "./data.js" */

import { loadStyle, unpack, wear } from "../common/component.js";
import { speak } from "../common/words.js";
import { Follower } from "./follower.js";
import { Leader } from "./leader.js";
import { findLecture, ROOM } from "./place.js";
import "../common/address.js"; // what only those need is asked for at once, and not after them
import "../common/elements.js";
import "../lecture/keys.js";
import "../lecture/share.js";
import "../lecture/tools.js";
import "./handover.js";
import "./stream.js";
import "./votes.js";

const FOLLOWED = "attention room"; // what the browser calls it, for this tab alone
const style = loadStyle(new URL("style.css", import.meta.url));
/** @typedef {{ data: FollowData, tell: Tell, follower: Follower | null, leader: Leader | null }} Roles */
const holder = /** @type {{ attentionFollow?: Roles }} */ (globalThis);

/** The page has run. @param {Component<FollowData>} component */
export default async function ({ data: sent, setTriggerValue }) {
  wear(document, await style);
  const data = unpack(sent);
  if (!data) return;
  speak(data.words);
  const me = holder.attentionFollow ??= { data, tell: setTriggerValue, follower: null, leader: null };
  Object.assign(me, { data, tell: setTriggerValue });
  const lecture = findLecture();
  if (lecture) lecture.isShort = data.isShort;
  const code = new URLSearchParams(location.search).get(ROOM) ?? sessionStorage.getItem(FOLLOWED);
  if (me.follower) me.follower.draw(data);
  else if (code && !me.leader?.room) follow(me, code);
  else if (me.leader) me.leader.draw(data);
  else lead(me);
}

/** @param {Roles} me @param {string} code of a room */
function follow(me, code) {
  me.leader?.retire();
  me.leader = null;
  sessionStorage.setItem(FOLLOWED, code);
  me.follower = new Follower(code, me.data, () => me.tell("rest", Date.now()), (led) => {
    sessionStorage.removeItem(FOLLOWED);
    me.follower = null;
    if (led) lead(me, led);
  });
}

/** @param {Roles} me @param {Led} [led] what was handed over to this device */
function lead(me, led) {
  me.leader = new Leader(me.data, (room) => follow(me, room), led);
}
