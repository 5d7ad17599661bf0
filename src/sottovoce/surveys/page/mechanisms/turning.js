// The whole record of bits, or every bit of it turned round.

import { integer, largerRatio, ratio, requireShare } from "../rules.js";
import { answerColumns } from "../schema.js";
import { requireBits } from "./flips.js";

export function mechanism(sizes, json) {
  requireBits(sizes);
  const [kept, sides] = [integer(json.kept), integer(json.sides)];
  requireShare(kept, sides);
  return {
    coins: [sides],
    odds: sizes.length === 1 ? largerRatio(kept, sides - kept) : null,
    reportsAnswers: true,
    respond: (codes, shown) => codes.map((code) => [shown[0] < kept ? code : 1 - code]),
    columns: answerColumns,
    leastShare: () => ratio(sides - kept, sides),
  };
}
