// Mechanisms that keep or turn round bits: of yes/no answers, of items, of categories.

import { eachInItsPlace, likeTheTruth } from "./answers.js";
import { larger, largestRatio, list, multiplied, require, requireLowestTerms, requireShare, whole, wholes } from
  "./rules.js";
import { categories, itemSet } from "./schema.js";

export function requireBits(sizes) {
  require(sizes.every((size) => size === 2), "columns that are not bits");
}

// Sides that report a 1: `one` of them if the truth is 1, `zero` of them if it is 0.
function bitCoin(json) {
  const integers = wholes(json);
  require(integers.length === 3, "a coin of other than three integers");
  const [one, zero, sides] = integers;
  require(one <= sides && zero <= sides, "more sides than the coin has");
  requireLowestTerms(one, zero, sides);
  return { one, zero, sides, report: (truth, side) => Number(side < (truth ? one : zero)) };
}

// The whole record, or every bit of it turned round.
export function turning(sizes, json) {
  requireBits(sizes);
  const [kept, sides] = [whole(json.kept), whole(json.sides)];
  requireShare(kept, sides);
  return {
    coins: [sides],
    odds: sizes.length === 1 ? larger(kept, sides - kept) : null,
    inCodesOfTruth: true,
    respond: (codes, shown) => eachInItsPlace(shown[0] < kept ? codes : codes.map((code) => 1 - code)),
    columns: likeTheTruth,
  };
}

// A coin for each bit.
export function flips(sizes, json) {
  requireBits(sizes);
  const given = list(json.bits).map(bitCoin);
  require([1, sizes.length].includes(given.length), "not one coin, nor one for each column");
  const bits = given.length === sizes.length ? given : sizes.map(() => given[0]);
  return {
    coins: bits.map(({ sides }) => sides),
    odds: multiplied(bits.map(oddsOfBit)),
    inCodesOfTruth: true,
    respond: (codes, shown) => eachInItsPlace(bits.map((bit, column) => bit.report(codes[column], shown[column]))),
    columns: likeTheTruth,
  };
}

// Those of a matrix with two rows; a row of zeros does not count.
function oddsOfBit({ one, zero, sides }) {
  const rows = [[sides - zero, sides - one], [zero, one]].filter((row) => row.some((entry) => entry > 0n));
  return largestRatio(rows.map(([a, b]) => larger(a, b)));
}

// A coin for each code of each column.
export function oneHot(sizes, json) {
  const { one, zero, sides, report } = bitCoin(json.bit);
  const ofColumn = one === zero ? [1n, 1n] : larger(one * (sides - zero), zero * (sides - one));
  return {
    coins: sizes.flatMap((size) => Array(size).fill(sides)),
    odds: multiplied(sizes.map(() => ofColumn)),
    inCodesOfTruth: false,
    respond(codes, shown) {
      const coins = shown.values();
      return sizes.map((size, column) =>
        Array.from({ length: size }, (_, code) => report(code === codes[column], coins.next().value)));
    },
    columns: (attributes) => attributes.map((attribute) => itemSet(attribute.name, categories(attribute))),
  };
}
