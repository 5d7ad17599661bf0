// A coin for each code of each column.

import { largerRatio, productOfRatios, ratio } from "../rules.js";
import { categories, itemSet } from "../schema.js";
import { bitCoin } from "./flips.js";

export function mechanism(sizes, json) {
  const { one, zero, sides, report } = bitCoin(json.bit);
  const oddsOfColumn = one === zero ? [1n, 1n] : largerRatio(one * (sides - zero), zero * (sides - one));
  return {
    coins: sizes.flatMap((size) => Array(size).fill(sides)),
    odds: productOfRatios(sizes.map(() => oddsOfColumn)),
    reportsAnswers: false,
    respond(codes, shown) {
      const coins = shown.values();
      return sizes.map((size, column) =>
        Array.from({ length: size }, (_, code) => report(code === codes[column], coins.next().value)));
    },
    columns: (attributes) => attributes.map((attribute) => itemSet(attribute.name, categories(attribute))),
    leastShare: () => ratio(zero, sides),
  };
}
