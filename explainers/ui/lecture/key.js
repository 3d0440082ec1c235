// The key that begins a lecture; all of the lecture comes when it has begun. And another page is
// shown from its top: Streamlit stays where the reader was, at the end of the one before.

function begin(event) {
  if (event.ctrlKey || event.altKey || event.metaKey || event.key.toLowerCase() !== "l") return;
  if (event.composedPath().some((node) => node.matches?.(TYPED_IN))) return;
  document.querySelector(".st-key-lecture input")?.click();
}

export default function ({ data }) {
  const [place] = data;
  if ((window.attentionPage ?? place) !== place) document.querySelector("[data-testid=stMain]")?.scrollTo(0, 0);
  window.attentionPage = place;
  addEventListener("keydown", begin); // once, however often it is added
  return () => removeEventListener("keydown", begin);
}
