// What the page shows: elements without a framework, the page's own words, and reports in the words of the survey.

import { asText, labels } from "./schema.js";

const LANGUAGES = ["ar", "de", "en", "es", "fr"];

const present = (children) => children.flat().filter((child) => child !== null);

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

// Show a step: its heading is focused, so that screen readers begin there and the keyboard goes on from there.
export function show(...children) {
  const main = document.querySelector("main");
  main.replaceChildren(...present(children));
  const heading = main.querySelector("h1");
  heading.tabIndex = -1;
  heading.focus({ preventScroll: true });
  scrollTo(0, 0);
}

// Text with each {name} replaced by its value.
export const fill = (text, values) => text.replace(/\{(\w+)\}/g, (_, name) => values[name]);

export const primary = (tag) => tag.split("-")[0];

// The page's own words in a language, or in English where there are none in it.
export async function wordsIn(tag) {
  const language = LANGUAGES.includes(primary(tag)) ? primary(tag) : "en";
  return (await import(`./texts/${language}.js`)).words;
}

// Odds as people read them, rounded up to a tenth: a promise must not be made smaller than it is.
export function oddsInWords([above, below], language) {
  const tenths = (10n * above + below - 1n) / below;
  return new Intl.NumberFormat(language, { maximumFractionDigits: 1 }).format(Number(tenths) / 10);
}

// Every column of a report: what it is about, the answers it names, and what it says. A set for a question that has
// one answer says that the answer is one of these.
export function reportInWords(survey, codes, language, texts) {
  let used = 0;
  return survey.mechanisms.reports.map((column) => {
    const question = survey.questions.find(({ id }) => id === column.name);
    const known = labels(column);
    const name = (label) => answerText(question, label, language, texts);
    const reported = codes.slice(used, (used += column.kind === "items" ? known.length : 1));
    const named = column.kind === "items" ? known.filter((_, i) => reported[i]).map(name) : [name(known[reported[0]])];
    const said = inOneLine(named, language) || texts.nothing;
    const isSet = column.kind === "items" && named.length > 0 && question?.kind !== "several";
    const about = question ? question.text[language] : column.name;
    return { about, named, said: isSet ? fill(texts.oneOf, { said }) : said };
  });
}

// Several answers in one line, as the language writes lists.
export const inOneLine = (answers, language) =>
  new Intl.ListFormat(language, { style: "short", type: "unit" }).format(answers);

// Text of an answer by its label, which may also be one of the labels that the plan adds.
function answerText(question, label, language, texts) {
  const answer = question?.answers.find(({ id }) => id === label);
  if (answer) return answer.text[language];
  const text = asText(label);
  if (question?.decline && text.startsWith("no answer")) return question.decline[language];
  return text.startsWith("not asked") ? texts.notAsked : text;
}
