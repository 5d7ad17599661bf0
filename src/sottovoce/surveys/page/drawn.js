// Sets that are found from one large number: each owns as many as its weight.

import { largest, largestRatio, least, list, ratio, require, requireLowestTerms, sum, whole, wholes } from "./rules.js";
import { cells, number } from "./schema.js";
import { setOfCells } from "./sets.js";

const SIDES = 2n ** 64n;
const WIDEST = 2n ** 8192n;
const HEAVIEST = 2n ** 256n;
const FINEST = 2n ** 96n;

const range = (n) => Array.from({ length: n }, (_, i) => i);

// Ratio rounded up to a multiple of 2^-96.
const roundedUp = ([above, below]) => ratio((above * FINEST + below - 1n) / below, FINEST);

function component(json, n) {
  const lengths = "lengths" in json ? wholes(json.lengths).map(Number) : range(n).map(() => 1);
  const found = { weight: whole(json.weight), size: Number(whole(json.size)), items: wholes(json.items), lengths };
  require(!("lengths" in json) || Math.max(...lengths) > 1, "lengths that are all 1");
  require(found.items.length === n && lengths.length === n, "weights or lengths that are not one for each cell");
  require(lengths.every((g) => g >= 1 && g <= 4096), "lengths out of range");
  const highest = (g) => least([HEAVIEST ** BigInt(Math.min(g, 32)), WIDEST]);
  require(found.items.every((w, i) => w >= 1n && w <= highest(lengths[i])), "weights out of range");
  require(found.weight >= 1n && found.weight <= WIDEST, "a weight out of range");
  const total = lengths.reduce((a, b) => a + b, 0);
  require(found.size >= 1 && found.size < total && found.size <= 4096, "a size out of range");
  const reached = lengths.reduce((sums, g) => new Set([...sums, ...[...sums].map((r) => r + g)]), new Set([0]));
  require(reached.has(found.size), "a size that no lengths sum to");
  return found;
}

// Numbers of the sets that go on with a length left and a tilt so far.
const numbers = (row, left, tilt) => (left < 0 ? 0n : tilt * row[left][0] + row[left][1]);

// All coins together are a number, and its place among those of all sets says which set is meant.
export function randomSet(sizes, json) {
  const n = Number(cells(sizes));
  require(n >= 2 && n <= 1024, "cells out of range");
  const components = list(json.components).map((entry) => component(entry, n));
  require(components.length, "no components");
  const [a, b, ...rest] = wholes(json.favour);
  require(rest.length === 0 && b !== undefined, "a favour of other than two integers");
  require((a === 1n && b === 0n) || (a >= b && b >= 1n), "a favour that is none");
  requireLowestTerms(a, b);
  const tilt = "tilt" in json ? wholes(json.tilt) : null;
  require(tilt === null || (tilt.length === n && tilt.every((h) => h >= 1n && h <= HEAVIEST)), "a tilt out of range");
  const start = tilt ? 0n : 1n;

  // Factors of a category in the set and out of it, and what it then adds to the tilt.
  const factors = ({ items }, x, i) => (i === x ? [a * items[i], b] : [items[i], 1n]);
  const added = (i) => (tilt ? [tilt[i] * a, tilt[i] * b] : [0n, 0n]);

  // From each category on, by the length left: sums of the products, and of the products times what is still added.
  const rowsOf = (part, x) => {
    const rows = [range(part.size + 1).map((left) => [left === 0 ? 1n : 0n, 0n])];
    for (let i = n - 1; i >= 0; i--) {
      const [[inside, outside], [addedIn, addedOut], next] = [factors(part, x, i), added(i), rows[0]];
      rows.unshift(next.map(([eOut, dOut], left) => {
        const [eIn, dIn] = next[left - part.lengths[i]] ?? [0n, 0n];
        return [inside * eIn + outside * eOut, inside * (dIn + addedIn * eIn) + outside * (dOut + addedOut * eOut)];
      }));
    }
    return rows;
  };

  const countsOf = (x) => components.map((part) => part.weight * numbers(rowsOf(part, x)[0], part.size, start));
  const norms = range(n).map((x) => sum(countsOf(x)));
  require(norms.every((norm) => norm > 0n), "a truth that is in no set");
  const coins = range(Math.ceil((largest(norms).toString(2).length + 64) / 64)).map(() => SIDES);
  const faces = SIDES ** BigInt(coins.length);

  const setOf = (part, x, u) => {
    const [rows, members] = [rowsOf(part, x), new Set()];
    let [left, soFar] = [part.size, start];
    for (const i of range(n)) {
      const [[inside, outside], [addedIn, addedOut]] = [factors(part, x, i), added(i)];
      const own = inside * numbers(rows[i + 1], left - part.lengths[i], soFar + addedIn);
      if (u < own) {
        members.add(i);
        [u, left, soFar] = [u / inside, left - part.lengths[i], soFar + addedIn];
      } else {
        [u, soFar] = [(u - own) / outside, soFar + addedOut];
      }
    }
    return members;
  };

  // Numbers that the coins can make and that mean each set, for one truth.
  const lawOf = (x) => {
    const law = new Map();
    const up = (above) => (above * faces + norms[x] - 1n) / norms[x];
    let first = 0n;
    for (const part of components) {
      for (const members of subsets(part)) {
        const products = range(n).map((i) => factors(part, x, i)[members.includes(i) ? 0 : 1]);
        const tilted = sum(range(n).map((i) => added(i)[members.includes(i) ? 0 : 1])) + start;
        const last = first + part.weight * products.reduce((p, factor) => p * factor, 1n) * tilted;
        law.set(String(members), (law.get(String(members)) ?? 0n) + up(last) - up(first));
        first = last;
      }
    }
    return law;
  };

  // All sets of a component in order: those with the first category before those without, and so on.
  const subsets = ({ size, lengths }) => {
    const from = (i, left) => {
      if (i === n) return left === 0 ? [[]] : [];
      const inside = left >= lengths[i] ? from(i + 1, left - lengths[i]).map((set) => [i, ...set]) : [];
      return [...inside, ...from(i + 1, left)];
    };
    return from(0, size);
  };

  const oddsOf = () => {
    if (b === 0n) return null;
    if (n > 10) {
      return roundedUp([a * largest(norms) * (SIDES + 1n), b * least(norms) * (SIDES - 1n)]);
    }
    const laws = range(n).map(lawOf);
    const rows = [...laws[0].keys()].map((set) => laws.map((law) => law.get(set)));
    return largestRatio(rows.map((row) => ratio(largest(row), least(row))));
  };

  return {
    coins,
    odds: oddsOf(),
    inCodesOfTruth: false,
    respond(codes, shown) {
      const x = Number(number(codes, sizes));
      let u = (shown.reduce((total, side) => total * SIDES + side, 0n) * norms[x]) / faces;
      const counts = countsOf(x);
      let place = 0;
      while (u >= counts[place]) u -= counts[place++];
      const members = setOf(components[place], x, u / components[place].weight);
      return [range(n).map((cell) => Number(members.has(cell)))];
    },
    columns: setOfCells,
  };
}
