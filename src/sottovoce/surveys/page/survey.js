// The frozen survey: read, checked against its hash and its plan, and the truth that answers to it amount to.

import { canonical, readPlan } from "./plan.js";
import { sha256 } from "./hash.js";
import { list, require, requireKeys } from "./rules.js";
import { labels } from "./schema.js";

const KEYS = ["version", "title", "asker", "purpose", "contact", "languages", "until", "invitation", "minimum",
  "questions", "plan"];
const QUESTION_KEYS = ["id", "kind", "text", "help", "answers", "bins", "decline", "when", "unrelated"];
const KINDS = { yes_no: "categories", single: "categories", number: "categories", several: "items" };

// The survey in these bytes, if they are what the link promised, and their plan keeps its own promise.
export function readSurvey(bytes, hash) {
  require(sha256(bytes) === hash, "these are not the questions that the link was made for");
  const text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  const survey = JSON.parse(text);
  require(canonical(survey) === text, "the questions are not written in the one way that is allowed");
  requireKeys(survey, KEYS);
  require(survey.version === 1, "an unknown version");
  require(list(survey.languages).length, "no language");
  require(["single", "open"].includes(survey.invitation), "an unknown kind of invitation");
  require(/^\d{4}-\d\d-\d\d$/.test(survey.until), "no last day");
  const plan = readPlan(survey.plan);
  require(plan.odds !== null && survey.plan.odds !== null, "a plan whose reports cannot be denied");
  require(list(survey.questions).length === survey.plan.schema.length, "other questions than the plan has");
  survey.questions.forEach((question, i) => checkQuestion(question, survey.plan.schema[i], survey.questions.slice(0, i)));
  for (const named of [survey.title, survey.asker, survey.purpose]) requireKeys(named, survey.languages);
  return { ...survey, mechanisms: plan };
}

function checkQuestion(question, attribute, earlier) {
  requireKeys(question, QUESTION_KEYS);
  require(question.id === attribute.name, "a question that the plan calls otherwise");
  require(Object.hasOwn(KINDS, question.kind) && KINDS[question.kind] === attribute.kind, "another kind of question");
  const ids = list(question.answers).map(({ id }) => id);
  const extras = (question.decline ? 1 : 0) + (list(question.when).length ? 1 : 0);
  const known = labels(attribute);
  require(known.length === ids.length + extras && ids.every((id, i) => id === known[i]), "other answers than the plan");
  for (const { question: id } of question.when) {
    require(earlier.some((other) => other.id === id), "a condition on a question that does not come before");
  }
}

// Questions that are asked, given the answers so far: a map from question to its chosen answer ids.
export function reached(survey, answers) {
  const found = [];
  for (const question of survey.questions) {
    const holds = ({ question: id, is }) =>
      found.some((other) => other.id === id) && (answers.get(id) ?? []).some((chosen) => is.includes(chosen));
    if (question.when.every(holds)) found.push(question);
  }
  return found;
}

// Label of "prefer not to say", as the plan calls it.
export const declined = (survey, question) =>
  labels(survey.plan.schema[survey.questions.indexOf(question)])[question.answers.length];

// Codes of all columns: what the person chose, "no answer", or "not asked" where branching left a question out.
export function truthOf(survey, answers) {
  const asked = reached(survey, answers);
  return survey.questions.flatMap((question, i) => {
    const known = labels(survey.plan.schema[i]);
    const chosen = asked.includes(question) ? answers.get(question.id) ?? [] : [known[known.length - 1]];
    const codes = chosen.map((id) => known.indexOf(id));
    if (question.kind === "several") return known.map((_, code) => Number(codes.includes(code)));
    require(codes.length === 1 && codes[0] >= 0, `no answer to ${question.id}`);
    return codes;
  });
}
