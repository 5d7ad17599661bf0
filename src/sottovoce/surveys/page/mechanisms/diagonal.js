// The true joint cell, or any other one with the same chance.

import { integer, largerRatio, ratio, requireLowestTerms } from "../rules.js";
import { answerColumns, cellOf, cells, codesOf } from "../schema.js";

// Codes of the report: `truth` sides of the coin report the true cell, `other` sides each cell after it in turn.
export function trueOrOther(sizes, codes, side, truth, other) {
  const n = cells(sizes);
  const x = cellOf(codes, sizes);
  const y = side < truth ? x : x + 1n + (side - truth) / other;
  return codesOf(y >= n ? y - n : y, sizes).map((code) => [code]);
}

// Of the cells that are not the truth, those with this code in this column, each on `other` of the sides.
export const shareOfOthers = (sizes, column, other, sides) => ratio((cells(sizes) / BigInt(sizes[column])) * other, sides);

export function mechanism(sizes, json) {
  const [truth, other, n] = [integer(json.truth), integer(json.other), cells(sizes)];
  requireLowestTerms(truth, other);
  const sides = truth + (n - 1n) * other;
  return {
    coins: [sides],
    odds: largerRatio(truth, other),
    reportsAnswers: true,
    respond: (codes, shown) => trueOrOther(sizes, codes, shown[0], truth, other),
    columns: answerColumns,
    leastShare: (column) => shareOfOthers(sizes, column, other, sides),
  };
}
