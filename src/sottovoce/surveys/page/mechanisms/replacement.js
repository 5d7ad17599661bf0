// The truth, or a record drawn from known distributions.

import { pick } from "../coins.js";
import { integer, integers, least, list, product, ratio, require, requireLowestTerms, requireShare, sum } from "../rules.js";
import { answerColumns, codesOf } from "../schema.js";

export function mechanism(sizes, json) {
  const [kept, sides, known] = [integer(json.kept), integer(json.sides), list(json.known).map(integers)];
  const joint = known.length === 1 && BigInt(known[0].length) === product(sizes.map(BigInt));
  const single = known.length === sizes.length && known.every((weights, column) => weights.length === sizes[column]);
  require(joint || single, "known distributions of wrong lengths");
  requireShare(kept, sides);
  known.forEach((weights) => requireLowestTerms(...weights));
  const drawnRarest = (sides - kept) * product(known.map(least));
  const truthful = kept * product(known.map(sum));
  return {
    coins: [sides, ...known.map(sum)],
    odds: kept === 0n ? [1n, 1n] : ratio(drawnRarest + truthful, drawnRarest),
    drawn: ratio(sides - kept, sides),
    reportsAnswers: true,
    respond(codes, shown) {
      const drawn = known.map((weights, index) => pick(weights, shown[index + 1]));
      const reported = shown[0] < kept ? codes : single ? drawn : codesOf(BigInt(drawn[0]), sizes);
      return reported.map((code) => [code]);
    },
    columns: answerColumns,
    // The truth has another code, so that this one is always drawn.
    leastShare(column, code) {
      const drawn = single ? [known[column][code]]
        : known[0].filter((_, cell) => codesOf(BigInt(cell), sizes)[column] === code);
      return ratio((sides - kept) * sum(drawn), sides * sum(known[single ? column : 0]));
    },
  };
}
