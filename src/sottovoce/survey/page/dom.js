// Elements without a framework: h("p", { class: "note" }, "text", child).

export function h(name, attributes = {}, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
    else if (value === true) element.setAttribute(key, "");
    else if (value !== false && value !== null) element.setAttribute(key, value);
  }
  element.append(...children.flat().filter((child) => child !== null && child !== false));
  return element;
}

export const button = (text, action, attributes = {}) => h("button", { type: "button", onclick: action, ...attributes }, text);

// Show a step: its heading is focused, so that screen readers begin there and the keyboard goes on from there.
export function show(place, ...children) {
  place.replaceChildren(...children.flat().filter((child) => child !== null && child !== false));
  const heading = place.querySelector("h1");
  heading.tabIndex = -1;
  heading.focus({ preventScroll: true });
  scrollTo(0, 0);
}

// Text with {name} places filled in.
export const fill = (text, values) => text.replace(/\{(\w+)\}/g, (_, name) => values[name]);
