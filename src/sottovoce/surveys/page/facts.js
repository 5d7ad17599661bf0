// What the page states about a question in numbers, computed from the integers of its coins and rounded against us.

import { exceeds } from "./rules.js";
import { labels } from "./schema.js";

// Odds up to which answers are called deniable, of a question and of all together, and above which an author must have
// accepted that protection is weak.
const CEILING = [10n, 1n];
const CEILING_OF_ALL = [100n, 1n];
const VERY_WEAK = [1000n, 1n];
const WORDS = ["deniable", "weak", "very weak"];

// Facts of a question. `form` says what its reports are: "yes_no" or "answers" (one answer), "set" (a set of answers to
// a question with one answer), "items" (several choices) or "symbols" (no answers). `shares` has for each label, or
// symbol, the least share of people who send it although it is not their answer; `omitted`, for items, that of people
// who leave it out although they chose it. `odds` are those of all questions that share its coins, null if unbounded.
export function factsOf(survey, { id, unrelated = null }) {
  const group = survey.mechanisms.groups.find(({ attributes }) => attributes.includes(id));
  const attribute = survey.plan.schema.find(({ name }) => name === id);
  const { mechanism, reported, attributes } = group;
  const column = group.columns.indexOf(group.firstColumns[attributes.indexOf(id)]);
  const known = labels(attribute);
  const form = formOf(group, attribute);
  const share = {
    symbols: (index) => mechanism.symbolShare(index),
    items: (index) => mechanism.leastShare(column + index, 1),
  }[form] ?? ((index) => mechanism.leastShare(column, index));
  const named = form === "symbols" ? labels(reported[0]) : known;
  const picked = mechanism.picked ?? null;
  return {
    form,
    odds: mechanism.odds,
    shares: new Map(named.map((label, index) => [label, share(index)])),
    omitted: form === "items" ? new Map(known.map((label, i) => [label, mechanism.leastShare(column + i, 0)])) : null,
    grouped: attributes.length > 1,
    sampled: picked && { picked: Math.max(...picked), least: Math.min(...picked), of: attributes.length },
    unrelated: unrelated !== null,
  };
}

function formOf({ mechanism, reported }, attribute) {
  const own = reported.find(({ name }) => name === attribute.name);
  if (!own) return reported[0].kind === "items" ? "set" : "symbols";
  if (own.kind === "items") return attribute.kind === "items" ? "items" : "set";
  if (attribute.kind === "items") return "symbols";
  const [known, sent] = [labels(attribute), labels(own)];
  const alike = sent.length === known.length + (mechanism.picked ? 1 : 0) && known.every((label, i) => label === sent[i]);
  if (!alike) return "symbols";
  return known.length === 2 ? "yes_no" : "answers";
}

// A share in words' numbers: `count` of 100 people, rounded down; below one in 100, one in `oneIn`, rounded up.
export function perHundred([above, below]) {
  if (above === 0n) return { never: true };
  if (100n * above >= below) return { count: Number((100n * above) / below) };
  return { oneIn: (below + above - 1n) / above };
}

// How these odds of a question, or of all together, may be called.
export function strengthOf(odds, all = false) {
  if (odds === null || exceeds(odds, VERY_WEAK)) return "very weak";
  return exceeds(odds, all ? CEILING_OF_ALL : CEILING) ? "weak" : "deniable";
}

// The same for a survey: its weakest question, or all together as the plan promises.
export function strength({ plan, mechanisms }) {
  const all = plan.odds === null ? null : plan.odds.split("/").map(BigInt);
  const found = [strengthOf(all, true), ...mechanisms.groups.map(({ mechanism }) => strengthOf(mechanism.odds))];
  return WORDS.filter((word) => found.includes(word)).pop();
}
