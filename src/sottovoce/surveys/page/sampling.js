// Every kind of mechanism by its name, and the one that is made of others.

import { diagonal, listed, privateDiagonal, replacement } from "./answers.js";
import { flips, oneHot, turning } from "./bits.js";
import { randomSet } from "./drawn.js";
import { isObject, largestRatio, list, require } from "./rules.js";
import { asText, categories, category } from "./schema.js";
import { cutPaste, subset } from "./sets.js";

// The server leaves out those that a survey's plan does not have: to its page they are unknown.
const MECHANISMS = {};
MECHANISMS.cut_paste = cutPaste;
MECHANISMS.diagonal = diagonal;
MECHANISMS.flips = flips;
MECHANISMS.listed = listed;
MECHANISMS.one_hot = oneHot;
MECHANISMS.private_diagonal = privateDiagonal;
MECHANISMS.random_set = randomSet;
MECHANISMS.replacement = replacement;
MECHANISMS.sampling = sampling;
MECHANISMS.subset = subset;
MECHANISMS.turning = turning;

export function readMechanism(sizes, json) {
  require(isObject(json) && Object.hasOwn(MECHANISMS, json.kind), "an unknown mechanism");
  const found = MECHANISMS[json.kind](sizes, json);
  require(found.coins.every((sides) => sides >= 1n && sides <= 2n ** 64n), "coins of other than 1 to 2^64 sides");
  return found;
}

// What one of several parts reports; nothing is asked of the other columns.
function sampling(sizes, json) {
  const parts = list(json.parts).map((part) => {
    const places = list(part.attributes);
    require(places.length && places.every((a) => Number.isInteger(a) && a >= 0 && a < sizes.length), "no places");
    require(places.every((a, i) => i === 0 || places[i - 1] < a), "places that do not increase");
    return { places, own: readMechanism(places.map((a) => sizes[a]), part.mechanism) };
  });
  require(parts.length, "no parts");
  require(parts.every(({ own }) => own.inCodesOfTruth), "a part that reports in other codes");
  return {
    coins: [BigInt(parts.length), ...parts.flatMap(({ own }) => own.coins)],
    odds: largestRatio(parts.map(({ own }) => own.odds)),
    inCodesOfTruth: false,
    respond(codes, shown) {
      const { places, own } = parts[Number(shown[0])];
      const before = parts.slice(0, Number(shown[0])).flatMap((part) => part.own.coins).length;
      const sides = shown.slice(1 + before, 1 + before + own.coins.length);
      const answers = own.respond(places.map((a) => codes[a]), sides);
      return sizes.map((size, a) => (places.includes(a) ? answers[places.indexOf(a)] : [size]));
    },
    columns: (attributes) =>
      attributes.map((attribute) => category(attribute.name, withNotAsked(categories(attribute).map(asText)))),
  };
}

function withNotAsked(labels) {
  let label = "not asked";
  while (labels.includes(label)) label += "*";
  return [...labels, label];
}
