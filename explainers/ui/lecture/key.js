// The key that begins a lecture; all of the lecture comes when it has begun.

export default function () {
  const listen = (event) => {
    if (event.ctrlKey || event.altKey || event.metaKey || event.key.toLowerCase() !== "l") return;
    if (event.composedPath().some((node) => node.matches?.(TYPED_IN))) return;
    document.querySelector(".st-key-lecture input")?.click();
  };
  addEventListener("keydown", listen);
  return () => removeEventListener("keydown", listen);
}
