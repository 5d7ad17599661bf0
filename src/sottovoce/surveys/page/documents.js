// Survey and plan documents: read, checked against their hash and their promise, and the truth that answers amount to.
// The page believes nothing that a document says.

import { sha256 } from "./hash.js";
import { exceeds, integer, isObject, list, productOfRatios, ratio, require, requireKeys, requireLowestTerms } from
  "./rules.js";
import { category, labels, sizes } from "./schema.js";

const SURVEY_KEYS = ["version", "title", "asker", "purpose", "contact", "languages", "until", "invitation", "minimum",
  "questions", "plan"];
const QUESTION_KEYS = ["id", "kind", "text", "help", "answers", "bins", "decline", "when", "unrelated"];
const ATTRIBUTE_KINDS = { yes_no: "categories", single: "categories", number: "categories", several: "items" };
const MECHANISMS = ["cut_paste", "diagonal", "flips", "listed", "one_hot", "private_diagonal", "random_set", "replacement",
  "sampling", "subset", "turning"];

// A module of the page that did not arrive, or not as the page's own hash of it says.
export class NotLoaded extends Error {}

// Read the survey in these bytes, if they are what the link promised and their plan keeps its own promise.
export async function readSurvey(bytes, hash) {
  require(sha256(bytes) === hash, "these are not the questions that the link was made for");
  const text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  const survey = JSON.parse(text);
  require(canonical(survey) === text, "the questions are not written in the one way that is allowed");
  requireVersion(survey?.version, 1);
  requireKeys(survey, SURVEY_KEYS);
  require(list(survey.languages).length, "no language");
  require(["single", "open"].includes(survey.invitation), "an unknown kind of invitation");
  require(/^\d{4}-\d\d-\d\d$/.test(survey.until), "no last day");
  const plan = await readPlan(survey.plan);
  require(plan.odds !== null && survey.plan.odds !== null, "a plan whose reports cannot be denied");
  require(survey.plan.version === 1, "public columns, which a survey does not send");
  require(list(survey.questions).length === survey.plan.schema.length, "other questions than the plan has");
  survey.questions.forEach((question, i) => checkQuestion(question, survey.plan.schema[i], survey.questions.slice(0, i)));
  for (const named of [survey.title, survey.asker, survey.purpose]) requireKeys(named, survey.languages);
  return { ...survey, mechanisms: plan };
}

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

function checkQuestion(question, attribute, earlier) {
  requireKeys(question, QUESTION_KEYS);
  require(question.id === attribute.name, "a question that the plan calls otherwise");
  require(Object.hasOwn(ATTRIBUTE_KINDS, question.kind) && ATTRIBUTE_KINDS[question.kind] === attribute.kind,
    "another kind of question");
  const ids = list(question.answers).map(({ id }) => id);
  const extras = (question.decline ? 1 : 0) + (list(question.when).length ? 1 : 0);
  const known = labels(attribute);
  require(known.length === ids.length + extras && ids.every((id, i) => id === known[i]), "other answers than the plan");
  for (const { question: id } of question.when) {
    require(earlier.some((other) => other.id === id), "a condition on a question that does not come before");
  }
}

// Read a plan: its coins, the attributes and sizes of its report, its odds, and `respond`, which makes the codes of a
// report of the codes of a truth, in the schema's order, and what all coins show.
export async function readPlan(plan) {
  requireVersion(plan?.version, 2);
  requireKeys(plan, ["version", "schema", "groups", "odds", "prior", ...(plan.version === 2 ? ["public"] : [])]);
  const schema = readSchema(plan.schema);
  const groups = await readGroups(plan.groups, schema);
  const odds = productOfRatios(groups.map(({ mechanism }) => mechanism.odds));
  checkPromise(plan.odds, odds);
  checkPrior(plan.prior);
  const inOrder = (parts) => groups.flatMap(parts).sort(([a], [b]) => a - b).map(([, part]) => part);
  const reports = inOrder(({ firstColumns, reported }) => withColumns(firstColumns, reported));
  const names = reports.map(({ name }) => name);
  require(new Set(names).size === reports.length, "a report's name twice");
  if (plan.version === 2) checkPublic(plan.public, [...schema.keys(), ...names]);
  return {
    coins: groups.flatMap(({ mechanism }) => mechanism.coins),
    groups,
    odds,
    reports,
    reportSizes: reports.flatMap(sizes),
    respond(truth, shown) {
      let used = 0;
      return inOrder(({ columns, mechanism }) => {
        const sides = shown.slice(used, (used += mechanism.coins.length));
        return withColumns(columns, mechanism.respond(columns.map((column) => truth[column]), sides));
      }).flat();
    },
  };
}

// Refuse versions that this page cannot read.
function requireVersion(version, newest) {
  require(Number.isSafeInteger(version) && version > 0, "an unknown version");
  require(version <= newest, `written by a newer version of Sottovoce (document version ${version})`);
}

// Public columns: at least one, with categories or a number, none of them disguised.
function checkPublic(columns, disguised) {
  const names = list(columns).map((column) => {
    require(isObject(column) && column.kind !== "items", "no public column");
    if (column.kind === "number") requireKeys(column, ["kind", "name"]);
    sizes(column.kind === "number" ? category(column.name, [0, 1]) : column);
    return column.name;
  });
  require(names.length, "no public columns");
  require(new Set([...disguised, ...names]).size === new Set(disguised).size + names.length, "a public column twice");
}

// Attributes by their names, with the sizes and the indices of their columns.
function readSchema(schema) {
  const byName = new Map();
  let used = 0;
  for (const attribute of list(schema)) {
    require(isObject(attribute), "no attribute");
    require(!byName.has(attribute.name), "an attribute twice");
    const columnSizes = sizes(attribute);
    byName.set(attribute.name, { attribute, columnSizes, columns: columnSizes.map(() => used++) });
  }
  return byName;
}

function readGroups(groups, schema) {
  list(groups).forEach((group) => requireKeys(group, ["attributes", "scheme", "mechanism"]));
  const named = groups.flatMap((group) => list(group.attributes));
  require(named.length && named.length === schema.size && new Set(named).size === named.length, "attributes not once");
  require(named.every((name) => schema.has(name)), "an attribute that is not in the schema");
  return Promise.all(groups.map(async ({ attributes, mechanism: json }) => {
    const known = attributes.map((name) => schema.get(name));
    const mechanism = await readMechanism(known.flatMap(({ columnSizes }) => columnSizes), json);
    return {
      attributes,
      columns: known.flatMap(({ columns }) => columns),
      firstColumns: known.map(({ columns }) => columns[0]),
      mechanism,
      reported: mechanism.columns(known.map(({ attribute }) => attribute)),
    };
  }));
}

// Read a mechanism for columns with these numbers of codes; its kind has a module of its own. A mechanism has `coins`
// (their sides), `odds`, `respond(codes, shown)`, which gives a list of codes for each column or a single list,
// `columns(attributes)`, the attributes of the report, and `reportsAnswers`: whether a report's codes are those of truths.
export async function readMechanism(columnSizes, json) {
  require(isObject(json) && MECHANISMS.includes(json.kind), "an unknown mechanism");
  const { mechanism } = await import(`./mechanisms/${json.kind}.js`).catch((reason) => {
    throw new NotLoaded(String(reason));
  });
  const made = await mechanism(columnSizes, json);
  require(made.coins.every((sides) => sides >= 1n && sides <= 2n ** 64n), "coins of other than 1 to 2^64 sides");
  return made;
}

// Each part with the index of its column, or a single one with the first index.
function withColumns(columns, parts) {
  const indices = parts.length === columns.length ? columns : [Math.min(...columns)];
  return parts.map((part, i) => [indices[i], part]);
}

function checkPromise(promise, odds) {
  if (promise === null) return;
  const match = typeof promise === "string" && promise.match(/^(0|[1-9][0-9]*)\/([1-9][0-9]*)$/);
  require(match, "a promise that is no ratio of integers");
  const [above, below] = [integer(match[1]), integer(match[2])];
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

// Questions that are asked, given the answers so far: a map from each question to the ids of the chosen answers.
export function askedQuestions(survey, answers) {
  const asked = [];
  for (const question of survey.questions) {
    const holds = ({ question: id, is }) =>
      asked.some((other) => other.id === id) && (answers.get(id) ?? []).some((chosen) => is.includes(chosen));
    if (question.when.every(holds)) asked.push(question);
  }
  return asked;
}

// Label of "prefer not to say", as the plan calls it.
export const declineLabel = (survey, question) =>
  labels(survey.plan.schema[survey.questions.indexOf(question)])[question.answers.length];

// Codes of all columns: what the person chose, "no answer", or "not asked" where branching left a question out.
export function truthOf(survey, answers) {
  const asked = askedQuestions(survey, answers);
  return survey.questions.flatMap((question, i) => {
    const known = labels(survey.plan.schema[i]);
    const chosen = asked.includes(question) ? answers.get(question.id) ?? [] : [known[known.length - 1]];
    const codes = chosen.map((id) => known.indexOf(id));
    if (question.kind === "several") return known.map((_, code) => Number(codes.includes(code)));
    require(codes.length === 1 && codes[0] >= 0, `no answer to ${question.id}`);
    return codes;
  });
}
