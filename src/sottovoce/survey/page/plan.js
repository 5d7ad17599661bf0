// Plan documents: read, checked against what they promise, and answered. It believes nothing of them.

import { exceeds, list, multiplied, ratio, require, requireKeys, requireLowestTerms, whole } from "./rules.js";
import { readMechanism } from "./sampling.js";
import { sizes } from "./schema.js";

// Canonical JSON, the text whose hash is stated: sorted keys, no white space, small integers, no halves of characters.
export function canonical(value) {
  if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`;
  if (value !== null && typeof value === "object") {
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
  require(plan !== null && typeof plan === "object" && plan.version === 1, "an unknown version");
  requireKeys(plan, ["version", "schema", "groups", "odds", "prior"]);
  const { columns: columnSizes, places } = readSchema(plan.schema);
  const groups = readGroups(plan, columnSizes, places);
  const odds = multiplied(groups.map(({ mechanism }) => mechanism.odds));
  checkPromise(plan.odds, odds);
  checkPrior(plan.prior);
  const inPlaces = (part) => [...groups.flatMap(part)].sort(([a], [b]) => a - b).map(([, value]) => value);
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

function readSchema(schema) {
  const columns = [];
  const places = new Map();
  for (const attribute of list(schema)) {
    require(attribute !== null && typeof attribute === "object", "no attribute");
    require(!places.has(attribute.name), "an attribute twice");
    const own = sizes(attribute);
    places.set(attribute.name, own.map((_, i) => columns.length + i));
    columns.push(...own);
  }
  return { columns, places };
}

function readGroups(plan, columnSizes, places) {
  const byName = new Map(plan.schema.map((attribute) => [attribute.name, attribute]));
  const groups = list(plan.groups);
  groups.forEach((group) => requireKeys(group, ["attributes", "scheme", "mechanism"]));
  const named = groups.flatMap((group) => list(group.attributes));
  require(named.length && named.length === places.size && new Set(named).size === named.length, "attributes not once");
  require(named.every((name) => places.has(name)), "an attribute that is not in the schema");
  return groups.map(({ attributes, mechanism: json }) => {
    const columns = attributes.flatMap((name) => places.get(name));
    const mechanism = readMechanism(columns.map((column) => columnSizes[column]), json);
    const firsts = attributes.map((name) => places.get(name)[0]);
    const reported = mechanism.columns(attributes.map((name) => byName.get(name)));
    return { attributes, columns, firsts, mechanism, reported };
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
