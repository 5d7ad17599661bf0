// A few items of a set, and others that coins add.

import { shuffle } from "../coins.js";
import { integer, largestRatio, ratio, require, requireShare, sum } from "../rules.js";
import { answerColumns } from "../schema.js";
import { requireBits } from "./flips.js";

export function mechanism(sizes, json) {
  requireBits(sizes);
  const [cutoff, added, sides, c] = [integer(json.cutoff), integer(json.added), integer(json.sides), sizes.length];
  require(cutoff <= BigInt(c), "a cutoff above the items");
  require(added > 0n && added < sides, "noise that adds nothing, or everything");
  requireShare(added, sides);
  const columns = sizes.map((_, column) => column);
  return {
    coins: [cutoff + 1n, ...columns.slice(1).map((column) => BigInt(c + 1 - column)), ...columns.map(() => sides)],
    odds: oddsOf(c, Number(cutoff), sides, added),
    reportsAnswers: true,
    respond(codes, shown) {
      const order = shuffle(columns, shown.slice(1, c));
      const kept = order.filter((column) => codes[column]).slice(0, Number(shown[0]));
      const noise = shown.slice(c);
      return columns.map((column) => [Number(kept.includes(column) || noise[column] < added)]);
    },
    columns: answerColumns,
    // An item that was not chosen is added by its coin; a chosen one is kept most often if it is the only one.
    leastShare: (_, code) => (code ? ratio(added, sides) : ratio(sides - added, (cutoff + 1n) * sides)),
  };
}

// Sums of powers of q = sides / added, over the common denominator added^c.
function oddsOf(c, cutoff, sides, added) {
  const power = (j) => sides ** BigInt(j) * added ** BigInt(c - j);
  const upTo = (last) => sum(Array.from({ length: last + 1 }, (_, j) => power(j)));
  const below = added ** BigInt(c);
  if (cutoff < c) return ratio(upTo(cutoff), below);
  const allButOne = upTo(c - 2) + 2n * power(c - 1);
  return largestRatio([ratio(allButOne, below), ratio(upTo(c), below * BigInt(c + 1))]);
}
