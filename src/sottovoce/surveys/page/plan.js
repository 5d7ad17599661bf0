// Plan documents: read, checked against what they promise, and answered. It believes nothing of them.

import { exceeds, isObject, list, multiplied, ratio, require, requireKeys, requireLowestTerms, whole } from "./rules.js";
import { readMechanism } from "./sampling.js";
import { sizes } from "./schema.js";

// Canonical JSON, the text whose hash is stated: sorted keys, no white space, small integers, no halves of characters.
export function canonical(value) {
  if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`;
  if (isObject(value)) {
    const keys = Object.keys(value).sort();
    return `{${keys.map((key) => `${canonical(key)}:${canonical(value[key])}`).join(",")}}`;
  }
  require(typeof value !== "number" || Number.isSafeInteger(value), "a number that is no small integer");
  require(!/\p{Surrogate}/u.test(value), "text that is no text");
  return JSON.stringify(value);
}

// A plan's coins, the attributes and sizes of its report, its odds, and `respond`: codes of a truth, in the schema's
// order, and what all coins show, become the codes of a report.
export function readPlan(plan) {
  require(plan?.version === 1, "an unknown version");
  requireKeys(plan, ["version", "schema", "groups", "odds", "prior"]);
  const groups = readGroups(plan.groups, readSchema(plan.schema));
  const odds = multiplied(groups.map(({ mechanism }) => mechanism.odds));
  checkPromise(plan.odds, odds);
  checkPrior(plan.prior);
  const inPlaces = (part) => groups.flatMap(part).sort(([a], [b]) => a - b).map(([, value]) => value);
  const reports = inPlaces(({ firsts, reported }) => placed(firsts, reported));
  require(new Set(reports.map(({ name }) => name)).size === reports.length, "a report's name twice");
  return {
    coins: groups.flatMap(({ mechanism }) => mechanism.coins),
    groups,
    odds,
    reports,
    reportSizes: reports.flatMap(sizes),
    respond(truth, shown) {
      let used = 0;
      return inPlaces(({ columns, mechanism }) => {
        const own = shown.slice(used, (used += mechanism.coins.length));
        return placed(columns, mechanism.respond(columns.map((column) => truth[column]), own));
      }).flat();
    },
  };
}

// Attributes by their names, and the sizes and places of their columns.
function readSchema(schema) {
  const found = new Map();
  let used = 0;
  for (const attribute of list(schema)) {
    require(isObject(attribute), "no attribute");
    require(!found.has(attribute.name), "an attribute twice");
    const own = sizes(attribute);
    found.set(attribute.name, { attribute, own, places: own.map(() => used++) });
  }
  return found;
}

function readGroups(groups, schema) {
  list(groups).forEach((group) => requireKeys(group, ["attributes", "scheme", "mechanism"]));
  const named = groups.flatMap((group) => list(group.attributes));
  require(named.length && named.length === schema.size && new Set(named).size === named.length, "attributes not once");
  require(named.every((name) => schema.has(name)), "an attribute that is not in the schema");
  return groups.map(({ attributes, mechanism: json }) => {
    const known = attributes.map((name) => schema.get(name));
    const mechanism = readMechanism(known.flatMap(({ own }) => own), json);
    return {
      attributes,
      columns: known.flatMap(({ places }) => places),
      firsts: known.map(({ places }) => places[0]),
      mechanism,
      reported: mechanism.columns(known.map(({ attribute }) => attribute)),
    };
  });
}

// Each part with its place, or a single one with the first of them.
function placed(places, parts) {
  const found = parts.length === places.length ? places : [Math.min(...places)];
  return parts.map((part, i) => [found[i], part]);
}

function checkPromise(promise, odds) {
  if (promise === null) return;
  const match = typeof promise === "string" && promise.match(/^(0|[1-9][0-9]*)\/([1-9][0-9]*)$/);
  require(match, "a promise that is none");
  const [above, below] = [whole(match[1]), whole(match[2])];
  require(above >= below, "a promise below one");
  requireLowestTerms(above, below);
  require(odds !== null && !exceeds(odds, ratio(above, below)), `odds ${odds} above the promise ${promise}`);
}

function checkPrior(prior) {
  if (prior === null) return;
  requireKeys(prior, ["source", "note"], ["forced"]);
  require(typeof prior.note === "string" && prior.note, "a prior without a note");
  const allowed = prior.forced === true ? ["public", "pilot", "private"] : ["public", "pilot"];
  require(allowed.includes(prior.source), "source of the prior");
}
