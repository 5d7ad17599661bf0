// The report of one of several parts, drawn by a coin; the other columns are reported as "not asked".

import { readMechanism } from "../documents.js";
import { largestRatio, leastRatio, list, require } from "../rules.js";
import { asText, categories, category } from "../schema.js";

export async function mechanism(sizes, json) {
  const parts = await Promise.all(list(json.parts).map((part) => readPart(sizes, part)));
  require(parts.length, "no parts");
  require(parts.every(({ asked }) => asked.reportsAnswers), "a part that reports in other codes");
  return {
    coins: [BigInt(parts.length), ...parts.flatMap(({ asked }) => asked.coins)],
    odds: largestRatio(parts.map(({ asked }) => asked.odds)),
    reportsAnswers: false,
    respond(codes, shown) {
      const { columns, asked } = parts[Number(shown[0])];
      const before = parts.slice(0, Number(shown[0])).flatMap((part) => part.asked.coins).length;
      const sides = shown.slice(1 + before, 1 + before + asked.coins.length);
      const answers = asked.respond(columns.map((column) => codes[column]), sides);
      return sizes.map((size, column) => (columns.includes(column) ? answers[columns.indexOf(column)] : [size]));
    },
    columns: (attributes) =>
      attributes.map((attribute) => category(attribute.name, withNotAsked(categories(attribute).map(asText)))),
    picked: parts.map(({ columns }) => columns.length),
    // The coins that are tossed if a column is picked, those of the first part that asks it, and its place among them.
    ifPicked(column) {
      const { columns, asked } = parts.find((part) => part.columns.includes(column));
      return { at: columns.indexOf(column), mechanism: asked, count: columns.length };
    },
    // Which part was drawn shows in the report, so that every part that asks counts by itself.
    leastShare: (column, code) => leastRatio(parts.filter(({ columns }) => columns.includes(column))
      .map(({ columns, asked }) => asked.leastShare(columns.indexOf(column), code))),
  };
}

async function readPart(sizes, part) {
  const columns = list(part.attributes);
  require(columns.length && columns.every((a) => Number.isInteger(a) && a >= 0 && a < sizes.length), "no columns");
  require(columns.every((a, i) => i === 0 || columns[i - 1] < a), "columns that do not increase");
  return { columns, asked: await readMechanism(columns.map((a) => sizes[a]), part.mechanism) };
}

function withNotAsked(labels) {
  let label = "not asked";
  while (labels.includes(label)) label += "*";
  return [...labels, label];
}
