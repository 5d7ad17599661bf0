// A coin for each bit: of a yes/no answer, of an item.

import { integers, largerRatio, largestRatio, list, productOfRatios, ratio, require, requireLowestTerms } from
  "../rules.js";
import { answerColumns } from "../schema.js";

export function requireBits(sizes) {
  require(sizes.every((size) => size === 2), "columns that are not bits");
}

// A coin that reports a 1 on `one` of its sides if the truth is 1, on `zero` of them if it is 0.
export function bitCoin(json) {
  const given = integers(json);
  require(given.length === 3, "a coin of other than three integers");
  const [one, zero, sides] = given;
  require(one <= sides && zero <= sides, "more sides than the coin has");
  requireLowestTerms(one, zero, sides);
  return { one, zero, sides, report: (truth, side) => Number(side < (truth ? one : zero)) };
}

export function mechanism(sizes, json) {
  requireBits(sizes);
  const given = list(json.bits).map(bitCoin);
  require([1, sizes.length].includes(given.length), "not one coin, nor one for each column");
  const bits = given.length === sizes.length ? given : sizes.map(() => given[0]);
  return {
    coins: bits.map(({ sides }) => sides),
    odds: productOfRatios(bits.map(oddsOfBit)),
    reportsAnswers: true,
    respond: (codes, shown) => bits.map((bit, column) => [bit.report(codes[column], shown[column])]),
    columns: answerColumns,
    leastShare(column, code) {
      const { one, zero, sides } = bits[column];
      return code ? ratio(zero, sides) : ratio(sides - one, sides);
    },
  };
}

// Odds of a matrix with two rows; a row of zeros does not count.
function oddsOfBit({ one, zero, sides }) {
  const rows = [[sides - zero, sides - one], [zero, one]].filter((row) => row.some((entry) => entry > 0n));
  return largestRatio(rows.map(([a, b]) => largerRatio(a, b)));
}
