// Attributes of truths and of reports: their labels, the codes of their columns, and joint cells of several columns.

import { require } from "./rules.js";

const LABELS_KEY = { categories: "categories", bins: "labels", items: "items" };

// Labels of an attribute's codes, or of its items.
export function labels(attribute) {
  const { kind, missing = null } = attribute;
  require(Object.hasOwn(LABELS_KEY, kind), `unknown kind of attribute: ${kind}`);
  const listed = attribute[LABELS_KEY[kind]];
  require(Array.isArray(listed), "no labels");
  require(kind !== "categories" || missing === null || listed.includes(missing), "missing is no category");
  return kind === "bins" && missing !== null ? [...listed, missing] : [...listed];
}

const isLabel = (value) => ["string", "boolean"].includes(typeof value) || Number.isSafeInteger(value);

// Number of codes of each column of an attribute: one column, or one of two codes for each item.
export function sizes(attribute) {
  const listed = labels(attribute);
  const items = attribute.kind === "items";
  require(typeof attribute.name === "string" && attribute.name, "no name");
  require(listed.every((label) => isLabel(label) && typeof label === typeof listed[0]), "labels of several kinds");
  require(new Set(listed).size === listed.length, "labels that do not differ");
  require(listed.length >= (items ? 1 : 2), "too few labels");
  require(!items || !listed.some((label) => asText(label).includes(";")), "an item with a separator in it");
  return items ? listed.map(() => 2) : [listed.length];
}

// A label as text: True and False with a capital, as in the names of reports.
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
export const joinedName = (attributes) => attributes.map(({ name }) => name).join("+");

// Attributes of reports that are answers: as those of truths, but bins are categories now, and nothing is missing.
export const answerColumns = (attributes) => attributes.map((attribute) =>
  attribute.kind === "items" ? attribute : category(attribute.name, labels(attribute)));

// Attribute of a report that is a set of joint cells: a set of categories, or of cells named by their categories.
export function setOfCells(attributes) {
  const known = attributes.map(categories);
  if (known.length === 1) return [itemSet(attributes[0].name, known[0])];
  const cross = (named, more) => named.flatMap((cell) => more.map((label) => [...cell, asText(label)]));
  return [itemSet(joinedName(attributes), known.reduce(cross, [[]]).map((cell) => cell.join(" & ")))];
}

// Number of joint cells.
export function cells(sizes) {
  const count = sizes.reduce((total, size) => total * BigInt(size), 1n);
  require(count < 2n ** 63n, "more joint cells than can be numbered");
  return count;
}

// Number of a joint cell, the last column varying fastest.
export const cellOf = (codes, sizes) =>
  codes.reduce((cell, code, column) => cell * BigInt(sizes[column]) + BigInt(code), 0n);

// Codes of a joint cell.
export function codesOf(cell, sizes) {
  const codes = [];
  for (const size of [...sizes].reverse()) {
    codes.unshift(Number(cell % BigInt(size)));
    cell /= BigInt(size);
  }
  return codes;
}
