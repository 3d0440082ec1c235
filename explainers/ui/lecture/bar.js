// Where the lecture is, with buttons for whoever has no keyboard, and a voice for who does not see it.
// Text from links is only ever written with textContent.

class Bar {
  constructor(lecture) {
    this.root = document.createElement("nav");
    this.root.className = "lecture-bar";
    const acts = { back: ["‹", () => lecture.turn(-1)], place: null, on: ["›", () => lecture.turn(1)], controls: ["⚙", () => lecture.turnControls()], share: ["▦", () => lecture.share.turn()], leave: ["✕", () => lecture.leave()] };
    this.buttons = {};
    for (const [name, act] of Object.entries(acts)) {
      const part = this.root.appendChild(document.createElement(act ? "button" : "output"));
      if (!act) { this.place = part; continue; }
      [part.textContent, part.onclick] = act;
      part.type = "button";
      part.onmousedown = (event) => event.preventDefault(); // keys go on to the page
      this.buttons[name] = part;
    }
    this.note = this.root.appendChild(document.createElement("p"));
    this.note.setAttribute("role", "status");
    this.voice = this.root.appendChild(document.createElement("p"));
    this.voice.className = "lecture-voice";
    this.voice.setAttribute("aria-live", "polite");
    document.body.append(this.root);
  }

  name(words) {
    this.words = words;
    this.root.setAttribute("aria-label", words.bar);
    for (const [name, button] of Object.entries(this.buttons)) {
      button.title = words[name];
      button.setAttribute("aria-label", words[name]);
    }
    const app = document.querySelector("[data-testid=stApp]");
    if (app) document.documentElement.style.setProperty("--lecture-ink", getComputedStyle(app).color);
    if (app) document.documentElement.style.setProperty("--lecture-paper", getComputedStyle(app).backgroundColor);
  }

  count(at, all, title) {
    const text = at < 0 ? "…" : `${at + 1} / ${all}`;
    if (this.place.textContent !== text) this.place.textContent = text;
    if (title) this.voice.textContent = this.words.place.replace("{at}", at + 1).replace("{all}", all).replace("{title}", title);
  }

  more(isMore) {
    this.root.classList.toggle("more", isMore);
  }

  say(text) {
    if (this.note.textContent !== text) this.note.textContent = text;
  }
}
