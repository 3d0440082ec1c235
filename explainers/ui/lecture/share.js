// The link to what is on screen, for the audience: as a picture to photograph, and to type.
// The server is asked only when it is wanted.

class Share {
  constructor(lecture) {
    this.lecture = lecture;
    this.root = document.createElement("div");
    this.root.className = "lecture-share";
    this.root.hidden = true;
    this.root.setAttribute("role", "dialog");
    this.root.onclick = () => this.close();
    document.body.append(this.root);
  }

  isOpen() {
    return !this.root.hidden;
  }

  close() {
    this.root.hidden = true;
  }

  turn() {
    if (this.isOpen()) return this.close();
    this.link = location.href;
    // What is the same as the last time does not come again.
    this.draw(this.shared?.asked === this.link ? this.shared : {});
    this.root.hidden = false;
    this.lecture.tell("share", this.link);
  }

  show(shared) {
    this.shared = shared;
    if (shared?.asked === this.link && this.isOpen()) this.draw(shared);
  }

  draw({ side, path, links = [], notes = [] }) {
    const { words } = this.lecture;
    this.root.setAttribute("aria-label", words.share);
    this.root.replaceChildren();
    if (path) this.root.append(code(path, side, words.code));
    for (const link of links) this.line("strong", link);
    for (const note of notes) this.line("p", note);
  }

  line(tag, text) {
    this.root.appendChild(document.createElement(tag)).textContent = text;
  }
}

// Dark on light in any theme, with the empty rim that readers of such codes want.
function code(path, side, label) {
  const name = "http" + "://www.w3.org/2000/svg"; // a name, and no address
  const picture = document.createElementNS(name, "svg");
  picture.setAttribute("viewBox", `0 0 ${side} ${side}`);
  picture.setAttribute("role", "img");
  picture.setAttribute("aria-label", label);
  picture.setAttribute("shape-rendering", "crispEdges");
  const squares = picture.appendChild(document.createElementNS(name, "path"));
  squares.setAttribute("d", path);
  return picture;
}
