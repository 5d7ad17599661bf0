// What the page checks before it uses anything: rules, integers written as text, lowest terms, ratios of integers.
// Sides of coins and everything computed from them are BigInt; codes and indices are numbers.

export class Refused extends Error {}

export function require(condition, rule) {
  if (!condition) throw new Refused(rule);
}

// An integer written as text, in the digits 0 to 9 and without a sign.
export function integer(text) {
  require(typeof text === "string" && /^[0-9]+$/.test(text), `no integer as text: ${String(text)}`);
  return BigInt(text);
}

export function list(json) {
  require(Array.isArray(json), "no list");
  return json;
}

export const integers = (json) => list(json).map(integer);

export const isObject = (json) => json !== null && typeof json === "object" && !Array.isArray(json);

export function requireKeys(json, wanted, optional = []) {
  require(isObject(json), "no object");
  const keys = Object.keys(json).filter((key) => !optional.includes(key));
  require(keys.length === wanted.length && wanted.every((key) => keys.includes(key)), `keys ${keys}, not ${wanted}`);
}

export function gcd(a, b) {
  while (b) [a, b] = [b, a % b];
  return a;
}

// Zeros alone have no lowest terms: they make no coin.
export function requireLowestTerms(...numbers) {
  require(numbers.reduce(gcd, 0n) === 1n, `not in lowest terms: ${numbers}`);
}

export function requireShare(part, sides) {
  require(part <= sides, `more than the coin's ${sides} sides: ${part}`);
  requireLowestTerms(part, sides);
}

export const sum = (numbers) => numbers.reduce((total, number) => total + number, 0n);
export const product = (numbers) => numbers.reduce((total, number) => total * number, 1n);
export const least = (numbers) => numbers.reduce((a, b) => (b < a ? b : a));
export const largest = (numbers) => numbers.reduce((a, b) => (b > a ? b : a));

// A ratio is a pair of integers, [above, below]; null where it is unbounded.
export function ratio(above, below) {
  if (below === 0n) return null;
  const common = gcd(above, below);
  return [above / common, below / common];
}

export const exceeds = (a, b) => a[0] * b[1] > b[0] * a[1];

// Ratio of two integers or its inverse, whichever is larger.
export const largerRatio = (a, b) => (a > b ? ratio(a, b) : ratio(b, a));

export const largestRatio = (ratios) => ratios.reduce((a, b) => (a && b ? (exceeds(b, a) ? b : a) : null));

// Smallest ratio; 0 where there is none.
export const leastRatio = (ratios) =>
  ratios.length ? ratios.reduce((a, b) => (exceeds(a, b) ? b : a)) : [0n, 1n];

// Odds of several independent reports: unbounded if those of any report are.
export const productOfRatios = (ratios) =>
  ratios.reduce((a, b) => a && b && ratio(a[0] * b[0], a[1] * b[1]), [1n, 1n]);
