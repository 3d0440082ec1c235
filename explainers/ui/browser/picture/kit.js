// The kit that heroes are made of: what a picture is, what several of them draw alike, and what is common to all scripts.

export * from "../common/colours.js";
export * from "../common/elements.js";
export * from "../common/keys.js";
export * from "../common/numbers.js";
export * from "../common/words.js";
export * from "./arcs.js";
export * from "./chips.js";
export * from "./hero.js";
export * from "./lanes.js";
export * from "./motion.js";
export * from "./palette.js";
export * from "./player.js";
export * from "./scene.js";
export * from "./stage.js";
export * from "./strip_marks.js";
export * from "./word_hero.js";
export * from "./words.js";
