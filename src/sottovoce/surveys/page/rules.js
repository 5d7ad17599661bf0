// What the page checks before it uses anything: rules, integers as text, lowest terms, ratios of integers.
// Sides of coins and everything computed from them are BigInt; codes and places are numbers.

export class Refused extends Error {}

export function require(condition, rule) {
  if (!condition) throw new Refused(rule);
}

// Integer written as text, in the digits 0 to 9 and without a sign.
export function whole(text) {
  require(typeof text === "string" && /^[0-9]+$/.test(text), `no integer as text: ${String(text)}`);
  return BigInt(text);
}

export function list(json) {
  require(Array.isArray(json), "no list");
  return json;
}

export const wholes = (json) => list(json).map(whole);

export const isObject = (json) => json !== null && typeof json === "object" && !Array.isArray(json);

export function requireKeys(json, wanted, optional = []) {
  require(isObject(json), "no object");
  const found = Object.keys(json).filter((key) => !optional.includes(key));
  require(found.length === wanted.length && wanted.every((key) => found.includes(key)), `keys ${found}, not ${wanted}`);
}

export function gcd(a, b) {
  while (b) [a, b] = [b, a % b];
  return a;
}

// Integers that could not be smaller; zeros alone make no coin.
export function requireLowestTerms(...integers) {
  require(integers.reduce(gcd, 0n) === 1n, `not in lowest terms: ${integers}`);
}

export function requireShare(some, sides) {
  require(some <= sides, `more than the coin's ${sides} sides: ${some}`);
  requireLowestTerms(some, sides);
}

export const sum = (integers) => integers.reduce((total, integer) => total + integer, 0n);
export const product = (integers) => integers.reduce((total, integer) => total * integer, 1n);
export const least = (integers) => integers.reduce((a, b) => (b < a ? b : a));
export const largest = (integers) => integers.reduce((a, b) => (b > a ? b : a));

// A ratio is a pair of integers, [above, below]; null where it is unbounded.
export function ratio(above, below) {
  if (below === 0n) return null;
  const common = gcd(above, below);
  return [above / common, below / common];
}

export const exceeds = (a, b) => a[0] * b[1] > b[0] * a[1];

// Ratio of two integers or its inverse, whichever is larger.
export const larger = (a, b) => (a > b ? ratio(a, b) : ratio(b, a));

export const largestRatio = (ratios) => ratios.reduce((a, b) => (a && b ? (exceeds(b, a) ? b : a) : null));

// Odds of reports with coins of their own: unbounded if any of them are.
export const multiplied = (ratios) =>
  ratios.reduce((a, b) => a && b && ratio(a[0] * b[0], a[1] * b[1]), [1n, 1n]);
