// Runs in a page before its own scripts: notes when pictures change and when that was painted.
// Pictures are found in open shadow roots too, and a canvas counts as changed when it is drawn on.
(() => {
  const PICTURES = ".figure, [data-testid=stVegaLiteChart]";
  const COMPLETE = {
    title: "h1",
    picture: ".hero .says > *, .figure td.cell, [data-testid=stVegaLiteChart] :is(.mark-rect path, canvas)",
  };
  const DRAWING = ["clearRect", "fillRect", "fill", "fillText", "drawImage", "putImageData"];
  const EVERYTHING = {
    subtree: true, childList: true, attributes: true, attributeOldValue: true,
    characterData: true, characterDataOldValue: true,
  };
  const roots = [document];
  const first = {};
  let pictures = PICTURES, before = "";
  let pressed = null, changed = null, painted = null, seen = null, worked = 0;

  const isInPicture = (node) => {
    for (; node; node = node.parentNode ?? node.host) if (node.matches?.(pictures)) return true;
    return false;
  };
  const holdsPicture = (node) => node.matches?.(pictures) || node.querySelector?.(pictures);
  // A frame is drawn in one go after its callbacks; what they put off comes next.
  const afterPaint = (then) => requestAnimationFrame(() => setTimeout(then));
  const all = (selector) => roots.flatMap((root) => [...root.querySelectorAll(selector)]);
  const content = () => all(pictures).map((picture) => picture.innerHTML).join("") +
    all("canvas").filter(isInPicture).map((canvas) => canvas.toDataURL()).join("");

  // Writing what stands there already changes nothing on screen.
  const markup = (nodes) => [...nodes].map((node) => node.outerHTML ?? node.data).join("");
  function isChange({ type, target, attributeName, oldValue, addedNodes, removedNodes }) {
    if (type === "attributes") return target.getAttribute(attributeName) !== oldValue;
    if (type === "characterData") return target.data !== oldValue;
    return addedNodes.length !== removedNodes.length || markup(addedNodes) !== markup(removedNodes);
  }

  function change() {
    if (pressed === null) return;
    const at = changed = performance.now();
    painted = null;
    afterPaint(() => {
      seen ??= performance.now();
      if (changed === at) painted = performance.now();
    });
  }

  function complete() {
    for (const [name, selector] of Object.entries(COMPLETE)) {
      if (name in first || !all(selector).some((found) => found.getClientRects().length)) continue;
      first[name] = null;
      afterPaint(() => { first[name] = performance.timeOrigin + performance.now(); });
    }
  }

  function observe(root) {
    new MutationObserver((records) => {
      const counts = (record) => isChange(record) &&
        (isInPicture(record.target) || [...record.addedNodes].some(holdsPicture));
      if (pressed !== null && records.some(counts)) change();
      if (!("picture" in first) || !("title" in first)) complete();
    }).observe(root, EVERYTHING);
  }

  const attachShadow = Element.prototype.attachShadow;
  Element.prototype.attachShadow = function (options) {
    const root = attachShadow.call(this, options);
    roots.push(root);
    observe(root);
    return root;
  };
  for (const name of DRAWING) {
    const draw = CanvasRenderingContext2D.prototype[name];
    CanvasRenderingContext2D.prototype[name] = function (...args) {
      if (pressed !== null && this.canvas.isConnected && isInPicture(this.canvas)) change();
      return draw.apply(this, args);
    };
  }
  observe(document);
  addEventListener("keydown", (event) => { pressed ??= event.timeStamp; }, true);
  // Listeners of the key and of what it sets off (`input` of a slider, `click` of a button). What
  // is on screen in less than 16 milliseconds is not told: it counts as 0, its script took less.
  new PerformanceObserver((list) => {
    for (const event of list.getEntries()) {
      if (pressed !== null && event.startTime >= pressed) worked += event.processingEnd - event.processingStart;
    }
  }).observe({ type: "event", durationThreshold: 16 });

  const wait = (limit, missing, ready) => new Promise((resolve, reject) => {
    const began = performance.now();
    const look = () => {
      if (ready()) return resolve();
      if (performance.now() - began > limit) return reject(new Error(missing));
      setTimeout(look, 20);
    };
    look();
  });
  const isIdle = () => document.querySelector("[data-test-script-state=notRunning]") !== null;

  window.watch = {
    // From now on, the next key counts, and changes in what `selector` finds.
    arm(selector) {
      pictures = selector ?? PICTURES;
      [pressed, changed, painted, seen, worked, before] = [null, null, null, null, 0, content()];
    },
    // Milliseconds from the key to the last change of a picture on screen: the last one is that
    // after which the server has answered and nothing moves for `quiet` milliseconds.
    async latency(quiet, limit) {
      await wait(limit, "no picture changed", () =>
        painted !== null && performance.now() - changed > quiet && isIdle());
      if (content() === before) throw new Error("the picture is the same as before");
      return painted - pressed;
    },
    // The same for what the browser draws by itself: milliseconds to the first frame that shows
    // the change, and how much of that was script. The server, which hears of it, is waited for.
    async answer(quiet, limit) {
      await this.latency(quiet, limit);
      return [seen - pressed, worked];
    },
    async ready(limit) {
      await wait(limit, "no picture appeared", () => first.title && first.picture && isIdle());
      return first;
    },
  };
})();
