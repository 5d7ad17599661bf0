// What the page shows: elements without a framework, the page's own words, and reports in the words of the survey.

import { spoken } from "./documents.js";
import { asText, labels } from "./schema.js";

const LANGUAGES = ["ar", "de", "en", "es", "fr"];

const present = (children) => children.flat(Infinity).filter((child) => child !== null);

// An element: h("p", { class: "note" }, "text", child).
export function h(name, attributes = {}, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (key.startsWith("on")) element[key] = value;
    else if (typeof value === "boolean") element.toggleAttribute(key, value);
    else if (value !== null) element.setAttribute(key, value);
  }
  element.append(...present(children));
  return element;
}

export const button = (text, action, attributes = {}) => h("button", { type: "button", onclick: action, ...attributes }, text);

// An element with a text of the survey, which may be in another language than the page.
export const said = (name, texts, language, attributes = {}) =>
  h(name, { ...attributes, ...spoken(texts, language) }, texts[language]);

// Show a step: its heading is focused, so that screen readers begin there and the keyboard goes on from there.
export function show(...children) {
  const main = document.querySelector("main");
  main.replaceChildren(...present(children));
  const heading = main.querySelector("h1");
  heading.tabIndex = -1;
  heading.focus({ preventScroll: true });
  scrollTo(0, 0);
}

// A screen of text only; `page` has what every screen needs.
export const tell = (page, title, ...told) =>
  show(h("h1", {}, title), told.map((text) => h("p", {}, text)), auditLink(page));

export const alreadyAnswered = (page) => tell(page, page.texts.answeredTitle, page.texts.answered,
  ...(page.survey.key ? [page.texts.otherInvitation] : []));

export const auditLink = ({ home, language, texts }) =>
  h("p", { class: "note link" }, h("a", { href: `${home}/audit?language=${language}` }, texts.audit));

export const askWhom = ({ language, survey, texts }) =>
  fill(texts.askWhom, { whom: survey.contact ?? survey.asker[language] });

// Text with each {name} replaced by its value.
export const fill = (text, values) => text.replace(/\{(\w+)\}/g, (_, name) => values[name]);

// The same as children of an element, with values that may be elements.
export const filled = (text, values) => text.split(/\{(\w+)\}/).map((part, i) => (i % 2 ? values[part] : part));

export const primary = (tag) => tag.split("-")[0];

export const hasWords = (tag) => LANGUAGES.includes(primary(tag));

// The page's own words in a language, or in English where there are none in it.
export async function wordsIn(tag) {
  const language = hasWords(tag) ? primary(tag) : "en";
  return (await import(`./texts/${language}.js`)).words;
}

// Odds as people read them, rounded up to a tenth: a promise must not be made smaller than it is.
export function oddsInWords(odds, language) {
  if (odds === null) return "∞";
  const [above, below] = odds;
  const tenths = (10n * above + below - 1n) / below;
  return new Intl.NumberFormat(language, { maximumFractionDigits: 1 }).format(Number(tenths) / 10);
}

// The largest unit of which there are two, or else the smallest one; rounded up.
function inUnits(seconds, units) {
  const lengths = { second: 1, minute: 60, hour: 3600 };
  const unit = units.findLast((name) => seconds >= 2 * lengths[name]) ?? units[0];
  return [Math.ceil(seconds / lengths[unit]), unit];
}

// A length of time: "10 minutes".
export function duration(seconds, language) {
  const [count, unit] = inUnits(seconds, ["second", "minute", "hour"]);
  return new Intl.NumberFormat(language, { style: "unit", unit, unitDisplay: "long" }).format(count);
}

// How far off something is: "in 6 minutes".
export const timeLeft = (seconds, language) =>
  new Intl.RelativeTimeFormat(language).format(...inUnits(seconds, ["minute", "hour"]));

// A moment of today by its time, of another day with its date.
export function clockTime(moment, language) {
  const [now, then] = [new Date(), new Date(moment)];
  const day = now.toDateString() === then.toDateString() ? {} : { dateStyle: "medium" };
  return then.toLocaleString(language, { timeStyle: "short", ...day });
}

// Every column of a report: its question, what it is about, the answers it names, and what it says, also as `children()`
// of an element. A set for a question
// that has one answer says that the answer is one of these. A question that the device did not pick names no answer.
export function reportInWords(survey, codes, language, texts) {
  let used = 0;
  return survey.mechanisms.reports.map((column) => {
    const question = survey.questions.find(({ id }) => id === column.name);
    const known = labels(column);
    const name = (label) => answerName(question, label, language, texts);
    const reported = codes.slice(used, (used += column.kind === "items" ? known.length : 1));
    if (isPickedFrom(survey, column) && reported[0] === known.length - 1) {
      return { about: question.text[language], column, labels: [], leftOut: true, named: [], question, said: texts.notPicked,
        children: () => texts.notPicked };
    }
    const named = column.kind === "items" ? known.filter((_, i) => reported[i]) : [known[reported[0]]];
    const said = inOneLine(named.map(name), language) || texts.nothing;
    const line = () => listed(named.map((label) => answerTexts(question, label, texts)), language, texts);
    const isSet = column.kind === "items" && named.length > 0 && question?.kind !== "several";
    const about = question ? question.text[language] : column.name;
    return { about, column, labels: named, named: named.map(name), question, said: isSet ? fill(texts.oneOf, { said }) : said,
      children: () => (isSet ? filled(texts.oneOf, { said: line() }) : line()) };
  });
}

// An element that says what a column of a report is about.
export const aboutIn = (name, { about, question }, language) =>
  (question ? said(name, question.text, language) : h(name, {}, about));

const isPickedFrom = (survey, column) =>
  survey.mechanisms.groups?.some(({ mechanism, reported }) => mechanism.picked && reported.includes(column));

const LINE = { style: "short", type: "unit" };

// Several answers in one line, as the language writes lists.
export const inOneLine = (answers, language) => new Intl.ListFormat(language, LINE).format(answers);

// The same as children of an element; each answer is a mapping from languages to texts, or one of the page's own words.
export function listed(answers, language, texts) {
  if (!answers.length) return texts.nothing;
  const parts = new Intl.ListFormat(language, LINE).formatToParts(answers.map((answer) => textOf(answer, language)));
  let used = 0;
  return parts.map(({ type, value }) => {
    if (type === "literal") return value;
    const answer = answers[used++];
    return typeof answer === "string" ? value : said("bdi", answer, language);
  });
}

const textOf = (answer, language) => (typeof answer === "string" ? answer : answer[language]);

export const answerName = (question, label, language, texts) => textOf(answerTexts(question, label, texts), language);

// Texts of an answer by its label, which may also be one of the labels that the plan adds.
function answerTexts(question, label, texts) {
  const answer = question?.answers.find(({ id }) => id === label);
  if (answer) return answer.text;
  const text = asText(label);
  if (question?.decline && text.startsWith("no answer")) return question.decline;
  return text.startsWith("not asked") ? texts.notAsked : text;
}
