// Elements without a framework: h("p", { class: "note" }, "text", child).

const present = (children) => children.flat().filter((child) => child !== null);

export function h(name, attributes = {}, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (key.startsWith("on")) element[key] = value;
    else if (typeof value === "boolean") element.toggleAttribute(key, value);
    else if (value !== null) element.setAttribute(key, value);
  }
  element.append(...present(children));
  return element;
}

export const button = (text, action, attributes = {}) => h("button", { type: "button", onclick: action, ...attributes }, text);

// Show a step: its heading is focused, so that screen readers begin there and the keyboard goes on from there.
export function show(place, ...children) {
  place.replaceChildren(...present(children));
  const heading = place.querySelector("h1");
  heading.tabIndex = -1;
  heading.focus({ preventScroll: true });
  scrollTo(0, 0);
}

// Text with {name} places filled in.
export const fill = (text, values) => text.replace(/\{(\w+)\}/g, (_, name) => values[name]);
