// A set of joint cells of a fixed size, with the true cell or without it.

import { shuffle } from "../coins.js";
import { integer, largerRatio, product, ratio, require, requireShare } from "../rules.js";
import { cellOf, cells, setOfCells } from "../schema.js";

export function mechanism(sizes, json) {
  const [size, kept, sides, n] = [integer(json.size), integer(json.kept), integer(json.sides), cells(sizes)];
  require(size >= 1n && size < n, "a set of no cells, or of all");
  requireShare(kept, sides);
  return {
    coins: [sides, ...Array.from({ length: Number(size) }, (_, index) => n - 1n - BigInt(index))],
    odds: largerRatio(kept * (n - size), (sides - kept) * size),
    reportsAnswers: false,
    respond(codes, shown) {
      const [x, count] = [Number(cellOf(codes, sizes)), Number(n)];
      const others = Array.from({ length: count - 1 }, (_, step) => (x + 1 + step) % count);
      const members = shuffle(others, shown.slice(1)).slice(0, Number(size));
      if (shown[0] < kept) members[members.length - 1] = x;
      return [Array.from({ length: count }, (_, cell) => Number(members.includes(cell)))];
    },
    columns: setOfCells,
    // The cells with this code are drawn among all but the true one: a set without any of them is what remains.
    leastShare(column) {
      const naming = Array.from({ length: Number(n) / sizes[column] }, (_, index) => n - 1n - BigInt(index));
      const all = product(naming);
      const without = kept * product(naming.map((cell) => cell - size + 1n))
        + (sides - kept) * product(naming.map((cell) => cell - size));
      return ratio(sides * all - without, sides * all);
    },
  };
}
