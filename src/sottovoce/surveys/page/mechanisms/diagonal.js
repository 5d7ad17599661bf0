// The true joint cell, or any other one with the same chance.

import { integer, largerRatio, requireLowestTerms } from "../rules.js";
import { answerColumns, cellOf, cells, codesOf } from "../schema.js";

// Codes of the report: `truth` sides of the coin report the true cell, `other` sides each cell after it in turn.
export function trueOrOther(sizes, codes, side, truth, other) {
  const n = cells(sizes);
  const x = cellOf(codes, sizes);
  const y = side < truth ? x : x + 1n + (side - truth) / other;
  return codesOf(y >= n ? y - n : y, sizes).map((code) => [code]);
}

export function mechanism(sizes, json) {
  const [truth, other, n] = [integer(json.truth), integer(json.other), cells(sizes)];
  requireLowestTerms(truth, other);
  return {
    coins: [truth + (n - 1n) * other],
    odds: largerRatio(truth, other),
    reportsAnswers: true,
    respond: (codes, shown) => trueOrOther(sizes, codes, shown[0], truth, other),
    columns: answerColumns,
  };
}
