// What cannot be read, or does not fit, on the screen of a lecture that is shown; and its smallest digits.
(least) => {
  const lecture = globalThis.attentionLecture, bar = document.querySelector(".lecture-bar").getBoundingClientRect().bottom;
  const problems = [], sizes = [], boxes = [];
  let pictures = 0, words = 0;
  const isSeen = (element) => element.checkVisibility({ visibilityProperty: true, opacityProperty: true });
  const isFaint = (element) => {
    for (let one = element; one; one = one.parentElement) {
      const { opacity, clipPath } = getComputedStyle(one);
      if (Number(opacity) < 0.15 || clipPath.startsWith("inset(50%")) return true;
    }
    return false;
  };
  const isOutside = ({ left, top, right, bottom }) => left < -2 || right > innerWidth + 2 || top < bar - 3 || bottom > innerHeight + 2;
  const cut = ({ left, top, right, bottom, width, height }, parent) => { // what an ellipsis stands for is not outside
    const { left: first, right: last } = parent.getBoundingClientRect();
    if (getComputedStyle(parent).textOverflow !== "ellipsis") return { left, top, right, bottom, width, height };
    return { left: Math.max(left, first), right: Math.min(right, last), top, bottom, width, height };
  };
  const shrink = ({ left, top, right, bottom, height }, size) => ({ left: left + 2, right: right - 2, top: top + (height - 0.7 * size) / 2, bottom: bottom - (height - 0.7 * size) / 2 });
  const isOver = (one, other) => one.left < other.right && other.left < one.right && one.top < other.bottom && other.top < one.bottom;
  const look = (element) => {
    if (!element.matches(".stage, svg.marks, canvas") || !isSeen(element)) return;
    const box = element.getBoundingClientRect();
    if (box.height < 20) return;
    pictures += 1;
    if (!element.matches("canvas") && isOutside(box)) problems.push(`a picture is cut: ${element.className}`);
  };
  const read = (node) => {
    const text = node.textContent.trim(), parent = node.parentElement ?? node.parentNode.host;
    if (!text || !parent || !isSeen(parent) || parent.closest("style, .in-words") || isFaint(parent)) return;
    const range = document.createRange();
    range.selectNodeContents(node);
    const box = cut(range.getBoundingClientRect(), parent), size = parseFloat(getComputedStyle(parent).fontSize) * parent.currentCSSZoom;
    if (box.width < 2 || box.height < 2 || size < 0.5) return;
    words += text.split(/\s+/).length;
    if (/\d/.test(text)) sizes.push([size, text]);
    if (isOutside(box)) problems.push(`outside: ${text.slice(0, 40)}`);
    if (node.getRootNode() instanceof ShadowRoot && !parent.closest(".turned, [style*=rotate]")) boxes.push(...[...range.getClientRects()].map((line) => ({ box: shrink(line, size), text })));
  };
  const walk = (root) => {
    const nodes = document.createTreeWalker(root, NodeFilter.SHOW_ELEMENT | NodeFilter.SHOW_TEXT);
    for (let node = nodes.nextNode(); node; node = nodes.nextNode()) {
      if (node.nodeType === Node.TEXT_NODE) read(node);
      else {
        if (node.shadowRoot) walk(node.shadowRoot);
        look(node);
        if (node.matches(".legend") && isSeen(node) && node.getBoundingClientRect().height > 2 && !isSeen(node.parentElement.querySelector(".stage") ?? node)) problems.push("a legend without its picture");
      }
    }
  };
  for (const { node } of lecture.shown()) walk(node);
  const over = boxes.flatMap(({ box, text }, at) => boxes.slice(at + 1).filter((other) => isOver(box, other.box)).map((other) => `${text.slice(0, 15)} | ${other.text.slice(0, 15)}`));
  if (over.length) problems.push(`one on the other: ${[...new Set(over)].slice(0, 5).join("; ")}`);
  if (!pictures && words < 3) problems.push("nothing is shown");
  for (const heading of lecture.shown().flatMap(({ node }) => [...node.querySelectorAll("h2, h3")])) {
    const { left, top, width, height } = heading.getBoundingClientRect();
    if (height && !heading.contains(document.elementFromPoint(left + width / 2, top + height - 3))) problems.push(`covered: ${heading.textContent}`);
  }
  for (const { node } of lecture.shown()) for (const list of node.querySelectorAll("ol")) // nothing tells where its letters are
    if (isSeen(list) && parseFloat(getComputedStyle(list).paddingLeft) < 20) problems.push("letters of a list are cut");
  const small = sizes.filter(([size]) => size < least - 0.05).map(([size, text]) => `${size.toFixed(1)} px: ${text.slice(0, 20)}`);
  if (small.length) problems.push(`digits of ${small.slice(0, 4).join("; ")}`);
  return { problems: [...new Set(problems)], least: Math.min(...sizes.map(([size]) => size)), at: lecture.at, step: lecture.step, id: lecture.id };
};
