// Sets that are drawn category by category, from weights.

import { exceeds, larger, largest, largestRatio, least, list, ratio, require, requireLowestTerms, sum, whole, wholes } from
  "./rules.js";
import { cells, number } from "./schema.js";
import { setOfCells } from "./sets.js";

const SIDES = 2n ** 64n;
const FINEST = 2n ** 96n;

export const range = (n) => Array.from({ length: n }, (_, i) => i);

// Ratio rounded up to a multiple of 2^-96.
export const roundedUp = ([above, below]) => ratio((above * FINEST + below - 1n) / below, FINEST);

// Sums over all sets of r weights of their products, for every r.
function symmetric(weights) {
  return weights.reduce((e, w) => range(e.length + 1).map((r) => (e[r] ?? 0n) + w * (e[r - 1] ?? 0n)), [1n]);
}

// Sides of each outcome: rounded down but at least one; the first of the heaviest has all that is left.
function dealt(weights) {
  const total = sum(weights);
  const sides = weights.map((weight) => largest([(SIDES * weight) / total, 1n]));
  sides[weights.indexOf(largest(weights))] += SIDES - sum(sides);
  return sides;
}

function component(json, n) {
  const found = { weight: whole(json.weight), size: Number(whole(json.size)), items: wholes(json.items) };
  require(found.weight >= 1n && found.size >= 1 && found.size < n, "sets without weight, or of none or all");
  require(found.items.length === n && found.items.every((w) => w >= 1n && w <= 2n ** 32n), "weights out of range");
  return found;
}

// A coin draws component and place of the truth, and one coin for each other category whether it is in.
export function randomSet(sizes, json) {
  const n = Number(cells(sizes));
  const components = list(json.components).map((entry) => component(entry, n));
  require(components.length, "no components");
  const favour = wholes(json.favour);
  require(favour.length === 2 && favour[0] >= favour[1] && favour[1] >= 1n, "a favour that is none");
  requireLowestTerms(...favour);
  const others = (x) => range(n).filter((i) => i !== x);

  const outcomes = (x) =>
    components.flatMap(({ weight, size, items }, place) => {
      const e = symmetric(others(x).map((i) => items[i]));
      return [
        { place, inside: 1, weight: favour[0] * weight * items[x] * e[size - 1] },
        { place, inside: 0, weight: favour[1] * weight * e[size] },
      ];
    });

  // Sides that let a category in, while so many places are left.
  const sidesOf = (items, x, i, left) => {
    const behind = symmetric(others(x).filter((j) => j > i).map((j) => items[j]));
    const withIt = symmetric(others(x).filter((j) => j >= i).map((j) => items[j]));
    return left && left < withIt.length ? (SIDES * items[i] * behind[left - 1]) / withIt[left] : 0n;
  };

  // Chances of all sets of the other categories from a step on, over 2^64 a step, by their members as text.
  const walks = (items, x, step, left) => {
    if (step === n - 1) return [["", 1n]];
    const i = others(x)[step];
    const sides = sidesOf(items, x, i, left);
    const go = (taken, chance) =>
      chance ? walks(items, x, step + 1, left - taken).map(([rest, p]) => [taken ? `${i},${rest}` : rest, p * chance]) : [];
    return [...go(1, sides), ...go(0, SIDES - sides)];
  };

  const lawOf = (x) => {
    const law = new Map();
    const found = outcomes(x);
    dealt(found.map(({ weight }) => weight)).forEach((sides, k) => {
      const { place, inside } = found[k];
      for (const [rest, chance] of walks(components[place].items, x, 0, components[place].size - inside)) {
        const members = [...rest.split(",").slice(0, -1).map(Number), ...(inside ? [x] : [])].sort((a, b) => a - b);
        law.set(String(members), (law.get(String(members)) ?? 0n) + chance * sides);
      }
    });
    return law;
  };

  const exactOdds = () => {
    const laws = range(n).map(lawOf);
    const sets = new Set(laws.flatMap((law) => [...law.keys()]));
    return largestRatio([...sets].map((set) => laws.map((law) => law.get(set) ?? 0n)).map((row) => ratio(largest(row), least(row))));
  };

  const boundOfOdds = () => {
    const quotients = range(n).flatMap((x) => {
      const weights = outcomes(x).map(({ weight }) => weight);
      return dealt(weights).map((sides, k) => [sides, weights[k]]);
    });
    const top = quotients.reduce((a, b) => (exceeds(b, a) ? b : a));
    const bottom = quotients.reduce((a, b) => (exceeds(a, b) ? b : a));
    const spread = largestRatio(components.map(({ items }) => larger(largest(items), least(items))));
    const lost = [BigInt(n) * (spread[1] + BigInt(n) * spread[0]), SIDES * spread[1]];
    const kept = lost[1] - lost[0];
    return roundedUp([favour[0] * top[0] * bottom[1] * lost[1], favour[1] * top[1] * bottom[0] * kept]);
  };

  return {
    coins: range(n).map(() => SIDES),
    odds: n <= 10 ? exactOdds() : boundOfOdds(),
    inCodesOfTruth: false,
    respond(codes, shown) {
      const x = Number(number(codes, sizes));
      const found = outcomes(x);
      let end = 0n;
      const chosen = dealt(found.map(({ weight }) => weight)).findIndex((sides) => shown[0] < (end += sides));
      const { items, size } = components[found[chosen].place];
      const members = new Set(found[chosen].inside ? [x] : []);
      let left = size - found[chosen].inside;
      others(x).forEach((i, step) => {
        if (shown[step + 1] < sidesOf(items, x, i, left)) {
          members.add(i);
          left -= 1;
        }
      });
      return [range(n).map((cell) => Number(members.has(cell)))];
    },
    columns: setOfCells,
  };
}
