// A set of joint cells, chosen by one large random number: of all numbers, each set has as many as its weight.

import { integer, integers, largest, largestRatio, least, leastRatio, list, product, ratio, require, requireLowestTerms, sum }
  from "../rules.js";
import { cellOf, cells, codesOf, setOfCells } from "../schema.js";

const SIDES = 2n ** 64n;
const WIDEST = 2n ** 8192n;
const HEAVIEST = 2n ** 256n;
const FINEST = 2n ** 96n;
const MOST_LISTED = 10;

const range = (n) => Array.from({ length: n }, (_, i) => i);

// A ratio rounded up to a multiple of 2^-96.
const roundedUp = ([above, below]) => ratio((above * FINEST + below - 1n) / below, FINEST);

function readComponent(json, n) {
  const lengths = "lengths" in json ? integers(json.lengths).map(Number) : range(n).map(() => 1);
  const [weight, size, items] = [integer(json.weight), Number(integer(json.size)), integers(json.items)];
  require(!("lengths" in json) || Math.max(...lengths) > 1, "lengths that are all 1");
  require(items.length === n && lengths.length === n, "weights or lengths that are not one for each cell");
  require(lengths.every((g) => g >= 1 && g <= 4096), "lengths out of range");
  const highest = (g) => least([HEAVIEST ** BigInt(Math.min(g, 32)), WIDEST]);
  require(items.every((w, i) => w >= 1n && w <= highest(lengths[i])), "weights out of range");
  require(weight >= 1n && weight <= WIDEST, "a weight out of range");
  const total = lengths.reduce((a, b) => a + b, 0);
  require(size >= 1 && size < total && size <= 4096, "a size out of range");
  const reached = lengths.reduce((sums, g) => new Set([...sums, ...[...sums].map((r) => r + g)]), new Set([0]));
  require(reached.has(size), "a size that no lengths sum to");
  return { weight, size, items, lengths };
}

// Count the numbers of all sets that continue from here, given the length left and the tilt so far.
const countFrom = (row, left, tilt) => (left < 0 ? 0n : tilt * row[left][0] + row[left][1]);

export function mechanism(sizes, json) {
  const n = Number(cells(sizes));
  require(n >= 2 && n <= 1024, "cells out of range");
  const components = list(json.components).map((entry) => readComponent(entry, n));
  require(components.length, "no components");
  const [a, b, ...rest] = integers(json.favour);
  require(rest.length === 0 && b !== undefined, "a favour of other than two integers");
  require((a === 1n && b === 0n) || (a >= b && b >= 1n), "a favour below one");
  requireLowestTerms(a, b);
  const tilt = "tilt" in json ? integers(json.tilt) : null;
  require(tilt === null || (tilt.length === n && tilt.every((h) => h >= 1n && h <= HEAVIEST)), "a tilt out of range");
  const start = tilt ? 0n : 1n;

  // Factors of a cell inside the set and outside it, and what it adds to the tilt in either case.
  const factors = ({ items }, x, i) => (i === x ? [a * items[i], b] : [items[i], 1n]);
  const added = (i) => (tilt ? [tilt[i] * a, tilt[i] * b] : [0n, 0n]);

  // From each cell on, by the length left: sums of the products, and of the products times what is still to be added.
  const rowsOf = (component, x) => {
    const rows = [range(component.size + 1).map((left) => [left === 0 ? 1n : 0n, 0n])];
    for (let i = n - 1; i >= 0; i--) {
      const [[inside, outside], [addedIn, addedOut], next] = [factors(component, x, i), added(i), rows[0]];
      rows.unshift(next.map(([eOut, dOut], left) => {
        const [eIn, dIn] = next[left - component.lengths[i]] ?? [0n, 0n];
        return [inside * eIn + outside * eOut, inside * (dIn + addedIn * eIn) + outside * (dOut + addedOut * eOut)];
      }));
    }
    return rows;
  };

  const countsOf = (x) => components.map((component) =>
    component.weight * countFrom(rowsOf(component, x)[0], component.size, start));
  const totals = range(n).map((x) => sum(countsOf(x)));
  require(totals.every((total) => total > 0n), "a truth that is in no set");
  const coins = range(Math.ceil((largest(totals).toString(2).length + 64) / 64)).map(() => SIDES);
  const faces = SIDES ** BigInt(coins.length);

  // The set of a component that has the number u.
  const setOf = (component, x, u) => {
    const [rows, members] = [rowsOf(component, x), new Set()];
    let [left, soFar] = [component.size, start];
    for (const i of range(n)) {
      const [[inside, outside], [addedIn, addedOut]] = [factors(component, x, i), added(i)];
      const numbersInside = inside * countFrom(rows[i + 1], left - component.lengths[i], soFar + addedIn);
      if (u < numbersInside) {
        members.add(i);
        [u, left, soFar] = [u / inside, left - component.lengths[i], soFar + addedIn];
      } else {
        [u, soFar] = [(u - numbersInside) / outside, soFar + addedOut];
      }
    }
    return members;
  };

  // Numbers of the sets without any of the avoided cells, for each truth. A set's weight without favour is a product of
  // polynomials in its length, each coefficient with what it adds to the tilt: [sum, sum times addition].
  const numbersAvoiding = (avoided) => {
    const all = range(n).map(() => 0n);
    for (const { weight, size, items, lengths } of components) {
      const insides = range(n).map((i) => (avoided[i] ? 0n : items[i]));
      const times = ([e, d], factor, more) => [factor * e, factor * (d + more * e)];
      const joined = ([e, d], [f, c]) => [e + f, d + c];
      const withCell = (row, i) => row.map((entry, length) => joined(times(entry, 1n, added(i)[1]),
        times(row[length - lengths[i]] ?? [0n, 0n], insides[i], added(i)[0])));
      const first = range(size + 1).map((length) => [length === 0 ? 1n : 0n, 0n]);
      const [before, behind] = [[first], [first]];
      for (const i of range(n)) before.push(withCell(before[i], i));
      for (const i of range(n).reverse()) behind.unshift(withCell(behind[0], i));
      const total = start * before[n][size][0] + before[n][size][1];
      for (const x of range(n)) {
        const rest = size - lengths[x];
        const pairs = range(Math.max(rest + 1, 0)).map((length) => [before[x][length], behind[x + 1][rest - length]]);
        const e = sum(pairs.map(([[p], [q]]) => p * q));
        const d = sum(pairs.map(([[p, pd], [q, qd]]) => p * qd + pd * q)) + added(x)[0] * e;
        all[x] += weight * (b * total + (a - b) * insides[x] * (start * e + d));
      }
    }
    return all;
  };

  // Least share of sets with one of the named cells, over the truths that are not named: exact where all sets are
  // listed, else at most one part in 2^64 below, which is as far as coins round.
  const leastShareOf = (named) => {
    const truths = range(n).filter((x) => !named[x]);
    if (n <= MOST_LISTED) {
      const naming = (x) => [...distributionOf(x)].filter(([set]) => set.split(",").some((cell) => named[cell]));
      return leastRatio(truths.map((x) => ratio(sum(naming(x).map(([, count]) => count)), faces)));
    }
    const avoiding = numbersAvoiding(named);
    return leastRatio(truths.map((x) => ratio((totals[x] - avoiding[x]) * (SIDES - 1n), totals[x] * SIDES)));
  };

  // Where shares are not exact to the last face of the coins, cells of the same weights and tilt have the same.
  const kindOf = (x) => `${components.map(({ items, lengths }) => [items[x], lengths[x]])};${tilt?.[x]}`;
  const sharesByKind = new Map();

  // Distribution of the report, given the true cell: how many of the coins' faces give each set.
  const distributionOf = (x) => {
    const distribution = new Map();
    const up = (above) => (above * faces + totals[x] - 1n) / totals[x];
    let first = 0n;
    for (const component of components) {
      for (const members of subsets(component)) {
        const chosen = range(n).map((i) => factors(component, x, i)[members.includes(i) ? 0 : 1]);
        const tilted = sum(range(n).map((i) => added(i)[members.includes(i) ? 0 : 1])) + start;
        const last = first + component.weight * product(chosen) * tilted;
        const key = String(members);
        distribution.set(key, (distribution.get(key) ?? 0n) + up(last) - up(first));
        first = last;
      }
    }
    return distribution;
  };

  // All sets of a component in order: those with the first cell before those without it, and so on.
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
    if (n > MOST_LISTED) {
      return roundedUp([a * largest(totals) * (SIDES + 1n), b * least(totals) * (SIDES - 1n)]);
    }
    const distributions = range(n).map(distributionOf);
    const rows = [...distributions[0].keys()].map((set) => distributions.map((one) => one.get(set)));
    return largestRatio(rows.map((row) => ratio(largest(row), least(row))));
  };

  return {
    coins,
    odds: oddsOf(),
    reportsAnswers: false,
    respond(codes, shown) {
      const x = Number(cellOf(codes, sizes));
      let u = (shown.reduce((total, side) => total * SIDES + side, 0n) * totals[x]) / faces;
      const counts = countsOf(x);
      let index = 0;
      while (u >= counts[index]) u -= counts[index++];
      const members = setOf(components[index], x, u / components[index].weight);
      return [range(n).map((cell) => Number(members.has(cell)))];
    },
    columns: setOfCells,
    leastShare(column, code) {
      const named = range(n).map((cell) => codesOf(BigInt(cell), sizes)[column] === code);
      const kind = sizes.length === 1 && n > MOST_LISTED ? kindOf(code) : `${column}:${code}`;
      if (!sharesByKind.has(kind)) sharesByKind.set(kind, leastShareOf(named));
      return sharesByKind.get(kind);
    },
  };
}
