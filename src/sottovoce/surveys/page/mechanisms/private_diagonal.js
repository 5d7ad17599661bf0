// A diagonal mechanism whose integers a first coin shifts.

import { integer, largerRatio, require } from "../rules.js";
import { answerColumns, cells } from "../schema.js";
import { shareOfOthers, trueOrOther } from "./diagonal.js";

export function mechanism(sizes, json) {
  const [truth, other, spread, n] = [integer(json.truth), integer(json.other), integer(json.spread), cells(sizes)];
  require(spread <= other && (n - 1n) * spread <= truth, "a shift that leaves no coin");
  const sides = truth + (n - 1n) * other;
  require(sides <= 2n ** 62n, "a second coin of more than 2^62 sides");
  return {
    coins: [2n * spread + 1n, sides],
    odds: largerRatio(truth, other),
    reportsAnswers: true,
    respond(codes, shown) {
      const shift = shown[0] - spread;
      return trueOrOther(sizes, codes, shown[1], truth + (n - 1n) * shift, other - shift);
    },
    columns: answerColumns,
    leastShare: (column) => shareOfOthers(sizes, column, other, sides),
  };
}
