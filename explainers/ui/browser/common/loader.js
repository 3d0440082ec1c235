// Modules as plain scripts, for pages that may load no modules: those opened from a folder, and in frames.
// `define(name, make)` keeps a module, `need` makes it, `lazy` fetches the script that defines it first.
// A style is kept as text; what a page fetches besides is a script that calls `take`.
(() => {
  /** @type {Record<string, (...tools: any[]) => any>} */
  const makers = {};
  /** @type {Record<string, any>} */
  const made = {}, /** @type {Record<string, any>} */ taken = {};
  /** @type {Record<string, string>} */
  const styles = {};
  /** @type {Record<string, Promise<any>>} */
  const coming = {};
  const own = /** @type {HTMLScriptElement | null} */ (globalThis.document?.currentScript);
  const base = (own?.src ?? "").replace(/[^/]*$/, "");
  /** @param {string} name */
  const need = (name) => (made[name] ??= makers[name](need, lazy, wear));
  /** @param {string} name */
  const wear = (name) => new CSSStyleSheet().replace(styles[name]);
  /** @param {string} address @returns {Promise<any>} what its script took */
  const fetched = (address) => (coming[address] ??= new Promise((done, fail) => {
    const script = document.head.appendChild(document.createElement("script"));
    Object.assign(script, { src: address, onload: () => done(taken[address]), onerror: () => fail(new Error(address)) });
  }));
  /** @param {string} name */
  async function lazy(name) {
    if (!makers[name]) await fetched(`${base}${name.replaceAll("/", "-")}`);
    return need(name);
  }
  Object.assign(globalThis, { attention: {
    need, lazy, fetched,
    define: (/** @type {string} */ name, /** @type {() => any} */ make) => { makers[name] = make; },
    style: (/** @type {string} */ name, /** @type {string} */ text) => { styles[name] = text; },
    take: (/** @type {string} */ address, /** @type {any} */ what) => { taken[address] = what; },
  } });
})();
