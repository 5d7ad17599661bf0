// Attributes: how many codes their columns have, and how those of reports are named.

import { require } from "./rules.js";

const KEPT_IN = { categories: "categories", bins: "labels", items: "items" };

// Labels of an attribute's codes, or of its items.
export function labels(attribute) {
  const { kind, missing = null } = attribute;
  require(Object.hasOwn(KEPT_IN, kind), `unknown kind of attribute: ${kind}`);
  const found = attribute[KEPT_IN[kind]];
  require(Array.isArray(found), "no labels");
  require(kind !== "categories" || missing === null || found.includes(missing), "missing is no category");
  return kind === "bins" && missing !== null ? [...found, missing] : [...found];
}

const isLabel = (value) => ["string", "boolean"].includes(typeof value) || Number.isSafeInteger(value);

// Number of codes of each column that an attribute becomes.
export function sizes(attribute) {
  const found = labels(attribute);
  const items = attribute.kind === "items";
  require(typeof attribute.name === "string" && attribute.name, "no name");
  require(found.every((label) => isLabel(label) && typeof label === typeof found[0]), "labels of several kinds");
  require(new Set(found).size === found.length, "labels that do not differ");
  require(found.length >= (items ? 1 : 2), "too few labels");
  require(!items || !found.some((label) => asText(label).includes(";")), "an item with a separator in it");
  return items ? found.map(() => 2) : [found.length];
}

// A label where it must be text: True and False with a capital, as in the plan's own names.
export function asText(label) {
  if (typeof label === "boolean") return label ? "True" : "False";
  return String(label);
}

export function categories(attribute) {
  require(attribute.kind !== "items", `${attribute.name} must not be a set of items`);
  return labels(attribute);
}

export const category = (name, of) => ({ kind: "categories", name, categories: of });
export const itemSet = (name, of) => ({ kind: "items", name, items: of });
export const joined = (attributes) => attributes.map(({ name }) => name).join("+");

// Attribute of reports that look like truths: bins have become categories, and nothing is missing.
export const asReport = (attribute) =>
  attribute.kind === "items" ? attribute : category(attribute.name, labels(attribute));

// Number of joint cells, where they are numbered.
export function cells(sizes) {
  const found = sizes.reduce((total, size) => total * BigInt(size), 1n);
  require(found < 2n ** 63n, "more joint cells than can be numbered");
  return found;
}

// Number of a joint cell, the last column varying fastest.
export const number = (codes, sizes) =>
  codes.reduce((joint, code, column) => joint * BigInt(sizes[column]) + BigInt(code), 0n);

// Codes of a joint cell.
export function split(joint, sizes) {
  const codes = [];
  for (const size of [...sizes].reverse()) {
    codes.unshift(Number(joint % BigInt(size)));
    joint /= BigInt(size);
  }
  return codes;
}
