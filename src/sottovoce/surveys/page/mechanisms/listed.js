// The row of a matrix, drawn from the column of the true joint cell.

import { pick } from "../coins.js";
import { integers, largest, largestRatio, least, list, ratio, require, requireLowestTerms, sum } from "../rules.js";
import { answerColumns, category, cellOf, cells, codesOf, joinedName } from "../schema.js";

export function mechanism(sizes, json) {
  const matrix = list(json.matrix).map(integers);
  const [truths, reports] = [cells(sizes), json.reports ?? null];
  require(matrix.length && matrix.every((row) => BigInt(row.length) === truths), "not a column for each joint cell");
  const columns = matrix[0].map((_, truth) => matrix.map((row) => row[truth]));
  require(columns.every((column) => sum(column) === sum(columns[0])), "columns with different sums");
  requireLowestTerms(...matrix.flat());
  require(reports === null || new Set(list(reports)).size === matrix.length, "names of other reports");
  require(reports === null || reports.length === matrix.length, "names of reports that do not differ");
  const sides = sum(columns[0]);
  const square = BigInt(matrix.length) === truths;
  const oneColumn = reports !== null || !square;
  const possible = matrix.filter((row) => row.some((entry) => entry > 0n));
  return {
    coins: [sides],
    odds: largestRatio(possible.map((row) => ratio(largest(row), least(row)))),
    reportsAnswers: square && (reports === null || sizes.length === 1),
    respond(codes, shown) {
      const row = pick(columns[Number(cellOf(codes, sizes))], shown[0]);
      return oneColumn ? [[row]] : codesOf(BigInt(row), sizes).map((code) => [code]);
    },
    columns(attributes) {
      if (!oneColumn) return answerColumns(attributes);
      return [category(joinedName(attributes), reports ?? matrix.map((_, row) => `report ${row + 1}`))];
    },
    leastShare(column, code) {
      const codes = columns.map((_, cell) => codesOf(BigInt(cell), sizes)[column]);
      const naming = matrix.filter((_, row) => codes[row] === code);
      const others = codes.flatMap((other, truth) => (other === code ? [] : [sum(naming.map((row) => row[truth]))]));
      return ratio(least(others), sides);
    },
    // Least share, over all truths, of a report that is no answer.
    symbolShare: (row) => ratio(least(matrix[row]), sides),
  };
}
