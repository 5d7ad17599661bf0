// Fields of the form: labels, controls, notes, and where mistakes are shown.

let fieldCount = 0;

// An element: h("p", { class: "note" }, "text", child).
function h(name, attributes = {}, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (key.startsWith("on")) element[key] = value;
    else if (typeof value === "boolean") element.toggleAttribute(key, value);
    else if (value !== null && value !== undefined) element.setAttribute(key, value);
  }
  element.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

const button = (text, action, attributes = {}) => h("button", { type: "button", onclick: action, ...attributes }, text);

// A control with its label; `name` is that of the definition's field, at which mistakes are shown.
function field(label, name, control, { note = null, hidden = false, lang = null } = {}) {
  const id = control.id || `field-${++fieldCount}`;
  control.id = id;
  if (lang) control.lang = lang;
  if (note) control.setAttribute("aria-describedby", `${id}-note`);
  return h("div", { class: "field", "data-field": name },
    h("label", { for: id, class: hidden ? "hidden" : null }, label), control, note && h("p", { class: "note", id: `${id}-note` }, note));
}

const input = (value, change, attributes = {}) =>
  h("input", { autocomplete: "off", dir: "auto", ...attributes, value, oninput: ({ target }) => change(target.value) });

function area(value, change, attributes = {}) {
  const element = h("textarea", { rows: 3, dir: "auto", ...attributes, oninput: ({ target }) => change(target.value) });
  element.value = value;
  return element;
}

function select(value, options, change, attributes = {}) {
  const known = options.some(([option]) => option === value);
  return h("select", { ...attributes, onchange: ({ target }) => change(target.value) },
    !known && h("option", { value, selected: true }, value || "choose …"),
    options.map(([option, text]) => h("option", { value: option, selected: option === value }, text)));
}

function check(label, name, value, change, note = null) {
  const id = `field-${++fieldCount}`;
  const box = h("input", { type: "checkbox", id, checked: value, "aria-describedby": note ? `${id}-note` : null,
    onchange: ({ target }) => change(target.checked) });
  return h("div", { class: "field check", "data-field": name }, box, h("label", { for: id }, label),
    note && h("p", { class: "note", id: `${id}-note` }, note));
}

// The same text in every language of the survey. `owner` is a mapping or a list, in which `key` has the text.
function texts(label, name, owner, key, { long = false, note = null, optional = false, hidden = false, edited = null } = {}) {
  const languages = languagesOf(draft.tree);
  const read = () => (Array.isArray(owner) ? owner[key] : get(owner, key));
  const write = (tag, text) => {
    const before = read();
    const value = withText(before, tag, text, languages);
    if (Array.isArray(owner)) owner[key] = value;
    else if (optional) putOrDrop(owner, key, value, owner === draft.tree ? TOP_ORDER : QUESTION_ORDER);
    else put(owner, key, value, owner === draft.tree ? TOP_ORDER : QUESTION_ORDER);
    edited?.(before, value);
    changed();
  };
  return languages.map((tag, index) => field(languages.length > 1 ? `${label} (${tag})` : label,
    languages.length > 1 ? `${name}.${tag}` : name,
    (long ? area : input)(textIn(read(), tag, languages), (text) => write(tag, text)),
    { note: index ? null : note, hidden, lang: languages.length > 1 ? tag : null }));
}

// Show mistakes beside their fields, or beside the nearest part that has one; return those without any.
function showMistakes(mistakes) {
  for (const shown of document.querySelectorAll(".mistake")) shown.remove();
  for (const control of document.querySelectorAll("[aria-invalid]")) {
    control.removeAttribute("aria-invalid");
    const kept = (control.getAttribute("aria-describedby") ?? "").replace(/\s*\bmistake-\d+/g, "");
    if (kept) control.setAttribute("aria-describedby", kept);
    else control.removeAttribute("aria-describedby");
  }
  const fields = new Map([...document.querySelectorAll("#panel-form [data-field]")].reverse().map((each) => [each.dataset.field, each]));
  return mistakes.filter((mistake, index) => {
    let name = mistake.field;
    while (name && !fields.has(name)) name = name.includes(".") || name.includes("[") ? name.replace(/(\.[^.[]*|\[\d+\])$/, "") : "";
    const place = fields.get(name);
    if (!place) return true;
    const shown = h("p", { class: "warning mistake", id: `mistake-${index}` }, mistake.text);
    const control = place.matches(".field") ? place.querySelector("input, select, textarea") : null;
    control?.setAttribute("aria-invalid", "true");
    control?.setAttribute("aria-describedby", `${control.getAttribute("aria-describedby") ?? ""} ${shown.id}`.trim());
    const body = place.matches("details") ? place.querySelector(".body") : place;
    if (place.matches(".field")) body.append(shown);
    else body.prepend(shown);
    mistake.place = place;
    return false;
  });
}
