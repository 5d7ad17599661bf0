// Mechanisms that shuffle: sets of joint cells, and sets of items of which a few are kept.

import { eachInItsPlace, likeTheTruth } from "./answers.js";
import { requireBits } from "./bits.js";
import { shuffled } from "./coins.js";
import { larger, largestRatio, ratio, require, requireShare, whole } from "./rules.js";
import { asText, categories, cells, itemSet, joined, number } from "./schema.js";

// Report that is a set of joint cells, in one place: a set of categories, or of cells named by theirs.
export function setOfCells(attributes) {
  const found = attributes.map(categories);
  if (found.length === 1) return [itemSet(attributes[0].name, found[0])];
  const cross = (cells, labels) => cells.flatMap((cell) => labels.map((label) => [...cell, asText(label)]));
  return [itemSet(joined(attributes), found.reduce(cross, [[]]).map((cell) => cell.join(" & ")))];
}

// A set of joint cells, with the truth or without it.
export function subset(sizes, json) {
  const [size, kept, sides, n] = [whole(json.size), whole(json.kept), whole(json.sides), cells(sizes)];
  require(size >= 1n && size < n, "a set of no cells, or of all");
  requireShare(kept, sides);
  return {
    coins: [sides, ...Array.from({ length: Number(size) }, (_, place) => n - 1n - BigInt(place))],
    odds: larger(kept * (n - size), (sides - kept) * size),
    inCodesOfTruth: false,
    respond(codes, shown) {
      const [x, count] = [Number(number(codes, sizes)), Number(n)];
      const others = Array.from({ length: count - 1 }, (_, step) => (x + 1 + step) % count);
      const members = shuffled(others, shown.slice(1)).slice(0, Number(size));
      if (shown[0] < kept) members[members.length - 1] = x;
      return [Array.from({ length: count }, (_, cell) => Number(members.includes(cell)))];
    },
    columns: setOfCells,
  };
}

// A few items of a set, and others that coins add.
export function cutPaste(sizes, json) {
  requireBits(sizes);
  const [cutoff, added, sides, c] = [whole(json.cutoff), whole(json.added), whole(json.sides), sizes.length];
  require(cutoff <= BigInt(c), "a cutoff above the items");
  require(added > 0n && added < sides, "noise that adds nothing, or everything");
  requireShare(added, sides);
  const places = Array.from({ length: c }, (_, column) => column);
  return {
    coins: [cutoff + 1n, ...places.slice(1).map((place) => BigInt(c + 1 - place)), ...places.map(() => sides)],
    odds: oddsOfCutPaste(c, Number(cutoff), sides, added),
    inCodesOfTruth: true,
    respond(codes, shown) {
      const order = shuffled(places, shown.slice(1, c));
      const kept = order.filter((column) => codes[column]).slice(0, Number(shown[0]));
      const noise = shown.slice(c);
      return eachInItsPlace(places.map((column) => Number(kept.includes(column) || noise[column] < added)));
    },
    columns: likeTheTruth,
  };
}

// Powers of q = sides / added, summed up, over the common denominator added^c.
function oddsOfCutPaste(c, cutoff, sides, added) {
  const power = (j) => sides ** BigInt(j) * added ** BigInt(c - j);
  const upTo = (last) => Array.from({ length: last + 1 }, (_, j) => power(j)).reduce((a, b) => a + b, 0n);
  const below = added ** BigInt(c);
  if (cutoff < c) return ratio(upTo(cutoff), below);
  const allButOne = upTo(c - 2) + 2n * power(c - 1);
  return largestRatio([ratio(allButOne, below), ratio(upTo(c), below * BigInt(c + 1))]);
}
