// Mechanisms whose report is an answer: a joint cell, or the row of a matrix.
//
// A mechanism is made of the numbers of codes of its columns and of its integers. It has `coins` (their sides), `odds`,
// `respond(truth, shown)`, which gives the codes for the place of each column or one list for a report in one place,
// `columns(attributes)`, the attributes of the report, and `inCodesOfTruth`.

import { picked } from "./coins.js";
import { larger, largest, largestRatio, least, list, product, ratio, require, requireLowestTerms, requireShare, sum,
  whole, wholes } from "./rules.js";
import { asReport, category, cells, joined, number, split } from "./schema.js";

export const eachInItsPlace = (codes) => codes.map((code) => [code]);
export const likeTheTruth = (attributes) => attributes.map(asReport);

// Report where `own` sides tell the truth and `each` another cell: go round from the truth.
function turned(sizes, truth, side, own, each) {
  const n = cells(sizes);
  const x = number(truth, sizes);
  const y = side < own ? x : x + 1n + (side - own) / each;
  return eachInItsPlace(split(y >= n ? y - n : y, sizes));
}

export function diagonal(sizes, json) {
  const [truth, other, n] = [whole(json.truth), whole(json.other), cells(sizes)];
  requireLowestTerms(truth, other);
  return {
    coins: [truth + (n - 1n) * other],
    odds: larger(truth, other),
    inCodesOfTruth: true,
    respond: (codes, shown) => turned(sizes, codes, shown[0], truth, other),
    columns: likeTheTruth,
  };
}

// A diagonal mechanism whose integers a first coin shifts.
export function privateDiagonal(sizes, json) {
  const [truth, other, spread, n] = [whole(json.truth), whole(json.other), whole(json.spread), cells(sizes)];
  require(spread <= other && (n - 1n) * spread <= truth, "a shift that leaves no coin");
  const sides = truth + (n - 1n) * other;
  require(sides <= 2n ** 62n, "a second coin of more than 2^62 sides");
  return {
    coins: [2n * spread + 1n, sides],
    odds: larger(truth, other),
    inCodesOfTruth: true,
    respond(codes, shown) {
      const shift = shown[0] - spread;
      return turned(sizes, codes, shown[1], truth + (n - 1n) * shift, other - shift);
    },
    columns: likeTheTruth,
  };
}

// The truth, or a record drawn from known laws.
export function replacement(sizes, json) {
  const [kept, sides, known] = [whole(json.kept), whole(json.sides), list(json.known).map(wholes)];
  const joint = known.length === 1 && BigInt(known[0].length) === product(sizes.map(BigInt));
  const single = known.length === sizes.length && known.every((law, column) => law.length === sizes[column]);
  require(joint || single, "known laws of wrong lengths");
  requireShare(kept, sides);
  known.forEach((law) => requireLowestTerms(...law));
  const rarest = (sides - kept) * product(known.map(least));
  const told = kept * product(known.map(sum));
  return {
    coins: [sides, ...known.map(sum)],
    odds: kept === 0n ? [1n, 1n] : ratio(rarest + told, rarest),
    inCodesOfTruth: true,
    respond(codes, shown) {
      const drawn = known.map((law, place) => picked(law, shown[place + 1]));
      return eachInItsPlace(shown[0] < kept ? codes : single ? drawn : split(BigInt(drawn[0]), sizes));
    },
    columns: likeTheTruth,
  };
}

// A row of a matrix, in the column of the truth.
export function listed(sizes, json) {
  const matrix = list(json.matrix).map(wholes);
  const [truths, reports] = [cells(sizes), json.reports ?? null];
  require(matrix.length && matrix.every((row) => BigInt(row.length) === truths), "not a column for each joint cell");
  const columns = matrix[0].map((_, truth) => matrix.map((row) => row[truth]));
  require(columns.every((column) => sum(column) === sum(columns[0])), "columns with different sums");
  requireLowestTerms(...matrix.flat());
  require(reports === null || new Set(list(reports)).size === matrix.length, "names of other reports");
  require(reports === null || reports.length === matrix.length, "names of reports that do not differ");
  const square = BigInt(matrix.length) === truths;
  const inOnePlace = reports !== null || !square;
  const counted = matrix.filter((row) => row.some((entry) => entry > 0n));
  return {
    coins: [sum(columns[0])],
    odds: largestRatio(counted.map((row) => ratio(largest(row), least(row)))),
    inCodesOfTruth: square && (reports === null || sizes.length === 1),
    respond(codes, shown) {
      const row = picked(columns[Number(number(codes, sizes))], shown[0]);
      return inOnePlace ? [[row]] : eachInItsPlace(split(BigInt(row), sizes));
    },
    columns(attributes) {
      if (!inOnePlace) return likeTheTruth(attributes);
      return [category(joined(attributes), reports ?? matrix.map((_, row) => `report ${row + 1}`))];
    },
  };
}
