// Elements, digits and colours; charts/colours.py does the same for files, and a test compares them.

const INK_TURNS = 0.179; // the luminance at which black and white stand out equally

function element(tag, name, text) {
  const made = document.createElement(tag);
  if (name) made.className = name;
  if (text !== undefined) made.textContent = text;
  return made;
}

// What stands here in English is said in the visitor's words; none are sent if these are English.
let spoken = {};
function say(text, slots = {}) {
  return (spoken[text] ?? text).replace(/\{(\w+)\}/g, (_, name) => slots[name]);
}

function digits(value, places = 2) {
  const text = Math.abs(value) < 99.995 ? value.toFixed(places) : value.toPrecision(3);
  return text === "-0.00" ? "0.00" : text.replace("-", "−");
}

function mix(ramp, share) {
  const place = Math.min(1, Math.max(0, share)) * (ramp.length - 1);
  const step = Math.min(ramp.length - 2, Math.floor(place));
  return ramp[step].map((low, channel) => Math.round(low + (ramp[step + 1][channel] - low) * (place - step)));
}

function luminance(rgb) {
  const [r, g, b] = rgb.map((c) => c <= 10 ? c / 255 / 12.92 : ((c / 255 + 0.055) / 1.055) ** 2.4);
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

// What the colours of the drawn kinds mean; every panel of scores and vectors has its own largest number.
function legend(data) {
  const isBelow = ({ kind, values, frames }) => kind === "signed" && [values, ...frames].flat(2).some((value) => value < 0);
  const signed = data.panels.some(isBelow) ? [say("negative"), "0", say("positive")] : ["0", say("largest")]; // counts, differences
  const ends = { signed, weights: ["0", "1"] };
  const kinds = new Set(data.panels.map((panel) => panel.kind).filter((kind) => kind in ends));
  return [...kinds].map((kind) => {
    const line = element("span", "key");
    const bar = element("span", "bar");
    const ramp = data.ramps[kind].slice(-ends[kind].length);
    bar.style.background = `linear-gradient(to right, ${ramp.map((rgb) => `rgb(${rgb})`).join(", ")})`;
    const [low, ...rest] = ends[kind];
    line.append(element("span", "", low), bar, element("span", "", rest.at(-1)));
    return line;
  });
}
