// Survey and plan documents: read, checked against their hash and their promise, and the truth that answers amount to.
// The page believes nothing that a document says.

import { strength } from "./facts.js";
import { sha256 } from "./hash.js";
import { exceeds, integer, isObject, list, productOfRatios, ratio, require, requireKeys, requireLowestTerms } from
  "./rules.js";
import { category, labels, sizes } from "./schema.js";

const SURVEY_KEYS = ["version", "title", "asker", "purpose", "contact", "languages", "until", "invitation", "minimum",
  "questions", "plan"];
const KEYS_OF_VERSION_2 = ["send_interval", "admission", "presentation", "rehearsal", "weak"];
const QUESTION_KEYS = ["id", "kind", "text", "help", "answers", "bins", "decline", "when", "unrelated"];
const QUESTION_KEYS_OF_VERSION_2 = ["public", "shuffle", "limits", "scale", "wanted", "matrix"];
const ATTRIBUTE_KINDS = { yes_no: "categories", single: "categories", number: "categories", scale: "categories",
  several: "items" };
const MECHANISMS = ["cut_paste", "diagonal", "flips", "listed", "one_hot", "private_diagonal", "random_set", "replacement",
  "sampling", "subset", "turning"];

// A module of the page that did not arrive, or not as the page's own hash of it says.
export class NotLoaded extends Error {}

// Read the survey in these bytes, if they are what the link promised and their plan keeps its own promise.
export async function readSurvey(bytes, hash) {
  require((await sha256(bytes)) === hash, "these are not the questions that the link was made for");
  const text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  const survey = JSON.parse(text);
  require(canonical(survey) === text, "the questions are not written in the one way that is allowed");
  requireVersion(survey?.version, 2);
  requireKeys(survey, [...SURVEY_KEYS, ...(survey.version === 2 ? KEYS_OF_VERSION_2 : [])]);
  require(list(survey.languages).length, "no language");
  require(["single", "open"].includes(survey.invitation), "an unknown kind of invitation");
  require(/^\d{4}-\d\d-\d\d$/.test(survey.until), "no last day");
  const plan = await readPlan(survey.plan);
  checkStrength(survey, plan);
  const questionsUseVersion2 = readQuestions(survey);
  const missing = [survey.title, survey.asker, survey.purpose].filter((texts) => fillIn(texts, survey)).length > 0;
  const { send_interval: interval = 0, admission = null, presentation = null, rehearsal = false } = survey;
  require(typeof rehearsal === "boolean", "a rehearsal that is neither true nor false");
  if (presentation !== null) (await loaded("./presentation.js")).checkPresentation(presentation, (texts) => fillIn(texts, survey));
  const key = survey.version === 2 ? await readAdmission(interval, admission, survey.invitation) : null;
  const newer = KEYS_OF_VERSION_2.some((name) => survey[name]) || questionsUseVersion2 || missing;
  require(survey.version === 1 || newer, "version 2 without anything that version 1 does not have");
  return { ...survey, mechanisms: withPublic(plan, survey.plan.public ?? []), interval, key };
}

// Public answers come behind the disguised ones.
const withPublic = (plan, columns) => ({ ...plan, reports: [...plan.reports, ...columns],
  reportSizes: [...plan.reportSizes, ...columns.flatMap(sizes)] });

// Very weak odds, and no others, must be accepted by the author; 0.1 had no ceiling, but refused unbounded odds.
function checkStrength(survey, mechanisms) {
  require(survey.version === 2 || survey.plan.odds !== null, "a plan whose reports can rule out answers");
  if (survey.version === 1) return;
  require(typeof survey.weak === "boolean", "weak that is neither true nor false");
  const veryWeak = strength({ plan: survey.plan, mechanisms }) === "very weak";
  require(survey.weak || !veryWeak, "odds above 1000 : 1 that nobody has accepted as weak");
  require(veryWeak || !survey.weak, "odds accepted as weak that are not above 1000 : 1");
}

// What version 2 adds: the length of the intervals in which reports are sent, and the key that admits invitations,
// which is returned.
async function readAdmission(interval, admission, invitation) {
  const whole = Number.isSafeInteger(interval) && (interval === 0 || (interval >= 10 && interval <= 86400));
  require(whole, "a send interval that is not 0 or 10 to 86400 seconds");
  require((admission === null) === (invitation === "open"), "a key for an open survey, or none for invitations");
  return admission === null ? null : (await loaded("./blind_rsa.js")).readKey(admission);
}

const loaded = (path) => import(path).catch((reason) => {
  throw new NotLoaded(String(reason));
});

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

// Check the questions, and tell whether they use anything of version 2. Protected ones are the attributes of the plan, and
// public ones its public columns, in their order.
function readQuestions(survey) {
  const { languages, plan, questions, version } = survey;
  const keys = version === 2 ? [...QUESTION_KEYS, ...QUESTION_KEYS_OF_VERSION_2] : QUESTION_KEYS;
  list(questions).forEach((question) => requireKeys(question, keys));
  const [open, secret] = [questions.filter((question) => question.public), questions.filter((question) => !question.public)];
  const columns = plan.public ?? [];
  require(secret.length === plan.schema.length && open.length === columns.length, "other questions than the plan has");
  const uses = questions.map((question, i) => {
    const column = question.public ? columns[open.indexOf(question)] : plan.schema[secret.indexOf(question)];
    checkQuestion(question, column, questions.slice(0, i));
    if (version === 2) checkVersion2(question, questions.slice(0, i));
    else require(question.kind !== "scale", "a scale in a document of version 1");
    const missing = textsOf(question).filter((texts) => fillIn(texts, survey)).length > 0;
    return missing || question.public || question.shuffle || question.limits || question.scale;
  });
  for (const question of questions.filter(({ matrix }) => matrix)) withItsMatrix(question, languages);
  return uses.some(Boolean);
}

function checkQuestion(question, attribute, earlier) {
  require(question.id === attribute.name, "a question that the plan calls otherwise");
  require(Object.hasOwn(ATTRIBUTE_KINDS, question.kind) && ATTRIBUTE_KINDS[question.kind] === attribute.kind,
    "another kind of question");
  requireKeys(attribute, ["kind", "name", attribute.kind]); // the labels' key is called as the kind
  list(question.answers).forEach((answer) => requireKeys(answer, ["id", "text"]));
  const ids = question.answers.map(({ id }) => id);
  if (question.decline) ids.push(distinct("no answer", ids));
  if (list(question.when).length) ids.push(distinct("not asked", ids));
  const known = labels(attribute);
  require(known.length === ids.length && ids.every((id, i) => id === known[i]), "other answers than the plan");
  for (const condition of question.when) {
    requireKeys(condition, ["question", "is"]);
    list(condition.is);
    require(earlier.some(({ id }) => id === condition.question), "a condition on a question that does not come before");
  }
  if (question.bins === null) return;
  requireKeys(question.bins, ["edges", "closed"]);
  list(question.bins.edges);
}

// A label that the plan adds has as many stars as it takes to differ from the answers.
const distinct = (label, others) => (others.includes(label) ? distinct(`${label}*`, others) : label);

// What version 2 adds to a question. Whether a public question was asked must tell nothing about protected answers.
function checkVersion2(question, earlier) {
  const { answers, kind, limits, matrix, scale } = question;
  const isScale = kind === "scale";
  require(typeof question.public === "boolean" && typeof question.shuffle === "boolean", "neither true nor false");
  if (question.public) {
    require(kind !== "several" && !matrix && !question.unrelated, "a question that cannot be public");
    const secret = earlier.filter((other) => !other.public).map(({ id }) => id);
    require(!question.when.some(({ question: id }) => secret.includes(id)), "a public question after a protected answer");
  }
  require(!question.shuffle || ["yes_no", "single", "several"].includes(kind), "answers in no order of their own");
  require(limits === null || (kind === "several" && areLimits(limits, answers.length)), "limits that cannot be met");
  require((scale !== null) === isScale && (isScale || matrix === null), "a scale, or no scale");
  require(isScale ? ["shares", "mean", "trend"].includes(question.wanted) : question.wanted === null, "something else wanted");
  if (isScale) {
    requireKeys(scale, ["ends"]);
    require(list(scale.ends).length === 2, "a scale without two ends");
    require(answers.length >= 2 && answers.length <= 11, "a scale of other than 2 to 11 steps");
    require(answers.every(({ id }, i) => id === String(i + 1)), "steps that are not counted from 1 on");
  }
  if (matrix !== null) {
    requireKeys(matrix, ["id", "text"]);
    require(typeof matrix.id === "string" && matrix.id, "a matrix without an id");
  }
}

const areLimits = (limits, count) =>
  Array.isArray(limits) && limits.length === 2 && limits.every(Number.isSafeInteger) &&
  limits[0] >= 0 && limits[0] <= limits[1] && limits[1] > 0 && limits[1] <= count;

const textsOf = ({ text, help, decline, unrelated, answers, scale, matrix }) =>
  [text, ...answers.map((answer) => answer.text), ...(scale?.ends ?? []), ...(matrix ? [matrix.text] : []),
    ...[help, decline, unrelated].filter((texts) => texts !== null)];

// An item of a matrix is called by both texts wherever it stands alone.
function withItsMatrix(question, languages) {
  question.item = question.text;
  question.text = Object.fromEntries(languages.map((tag) => [tag, `${question.matrix.text[tag]} ${question.item[tag]}`]));
}

// Languages in which texts are missing: there the text in the first language is shown.
const missingIn = new WeakMap();

// Fill in the languages in which a text is missing, and tell whether there are any.
export function fillIn(texts, { languages, version }) {
  const tags = isObject(texts) ? Object.keys(texts) : [];
  const [first] = languages;
  require(tags.includes(first) && tags.every((tag) => languages.includes(tag)), "a text in other languages than the survey");
  require(tags.every((tag) => typeof texts[tag] === "string"), "a text that is none");
  const missing = languages.filter((tag) => !tags.includes(tag));
  require(version === 2 || !missing.length, "a missing text in a document of version 1");
  for (const tag of missing) texts[tag] = texts[first];
  missingIn.set(texts, { missing, first });
  return missing.length > 0;
}

// Attributes of an element that shows a text: in another language than the page's, it says which.
export function spoken(texts, language) {
  const found = missingIn.get(texts);
  return found?.missing.includes(language) ? { lang: found.first, dir: "auto" } : {};
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
// One that picks columns has their numbers in `picked`; it reports the last code of a column that was not picked.
export async function readMechanism(columnSizes, json) {
  require(isObject(json) && MECHANISMS.includes(json.kind), "an unknown mechanism");
  const { mechanism } = await loaded(`./mechanisms/${json.kind}.js`);
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

// Whether the survey's last day, in UTC, has passed.
export const ended = ({ until }) => new Date().toISOString().slice(0, 10) > until;

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

const attributeOf = ({ plan }, { id }) => [...plan.schema, ...(plan.public ?? [])].find(({ name }) => name === id);

// Label of "prefer not to say", as the plan calls it.
export const declineLabel = (survey, question) => labels(attributeOf(survey, question))[question.answers.length];

// Codes of all columns of protected questions: what the person chose, "no answer", or "not asked" where branching left a
// question out.
export const truthOf = (survey, answers) => codesOf(survey, answers, ({ public: open = false }) => !open);

// The same of public questions, whose codes are sent as they are.
export const publicCodes = (survey, answers) => codesOf(survey, answers, ({ public: open = false }) => open);

function codesOf(survey, answers, wanted) {
  const asked = askedQuestions(survey, answers);
  return survey.questions.filter(wanted).flatMap((question) => {
    const known = labels(attributeOf(survey, question));
    const chosen = asked.includes(question) ? answers.get(question.id) ?? [] : [known[known.length - 1]];
    const codes = chosen.map((id) => known.indexOf(id));
    if (question.kind === "several") return known.map((_, code) => Number(codes.includes(code)));
    require(codes.length === 1 && codes[0] >= 0, `no answer to ${question.id}`);
    return codes;
  });
}
