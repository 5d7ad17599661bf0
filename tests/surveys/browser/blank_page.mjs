// A page for Node: it takes everything and shows nothing, so that the script of a real one can be loaded.

const blank = new Proxy(() => blank, { get: (_, name) => (name === Symbol.toPrimitive ? () => "" : blank) });

Object.assign(globalThis, {
  document: { querySelector: () => blank, createElement: () => blank, documentElement: { lang: "en" } },
  location: { hash: "" },
  scrollTo: () => {},
});
