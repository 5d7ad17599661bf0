// Screens of questions: one question each, or all items of a matrix. What is chosen goes into the map of answers.

import { secureWords } from "./coins.js";
import { askedQuestions, declineLabel, spoken } from "./documents.js";
import { factOf, unrelatedInWords } from "./sentences.js";
import { button, fill, filled, h, inOneLine, said, show } from "./view.js";

const MOST_COLUMNS = 7; // of a matrix; more of them do not fit beside its items

// Order in which the answers of a question are shown, drawn once for each visit, so that going back shows the same one.
const orders = new Map();

// Show the screen of a question by its number. `walk` has survey, language, texts and answers, and what comes before the
// first screen and after the last one. Those who are `changing` an answer go there as soon as everything is answered.
export function ask(walk, step) {
  const screens = screensOf(walk.survey);
  return showScreen(walk, screens, screens.findIndex((screen) => screen.includes(walk.survey.questions[step])));
}

// Everybody sees the same number of screens: a question that is not asked leaves a screen that says so.
function showScreen(walk, screens, index) {
  if (!screens[index]) return index < 0 ? walk.before() : walk.after();
  const { answers, changing, language, survey, texts } = walk;
  const complete = () => askedQuestions(survey, answers).every(({ id }) => answers.has(id));
  const go = (to) => (changing && to > index && complete() ? walk.after() : showScreen(walk, screens, to));
  const steps = [h("progress", { max: screens.length, value: index + 1, "aria-hidden": "true" }),
    h("p", { class: "steps" }, fill(texts.step, { step: index + 1, most: screens.length }))];
  const buttons = h("p", { class: "buttons" }, button(texts.back, () => go(index - 1)),
    h("button", { class: "primary" }, texts.next));
  const asked = askedQuestions(survey, answers).filter((question) => screens[index].includes(question));
  if (!asked.length) {
    const next = (event) => (event.preventDefault(), go(index + 1));
    return show(steps, h("form", { onsubmit: next, class: "unused" }, h("h1", {}, texts.unusedTitle),
      h("p", {}, texts.unused), buttons));
  }
  const warning = h("p", { class: "warning", role: "alert" });
  const groups = asked.map((question, row) => ({ question, options: options(walk, question, `answer${row || ""}`) }));
  const next = (event) => {
    event.preventDefault();
    const mistakes = groups.map(({ question, options }) => mistakeIn(question, chosenOf(options), texts));
    const wrong = mistakes.findIndex(Boolean);
    if (wrong >= 0) return complain(warning, asked.length > 1 ? texts.chooseEach : mistakes[wrong], groups[wrong]);
    for (const { question, options } of groups) answers.set(question.id, chosenOf(options).map(({ value }) => value));
    return go(index + 1);
  };
  const content = asked[0].matrix ? matrixOf(groups, language) : questionWith(walk, groups[0]);
  const note = asked[0].public ? h("p", { class: "note public" }, texts.publicNote)
    : h("p", { class: "note" }, `${texts.onDevice} ${factsInWords(walk, asked)}`);
  return show(steps,
    h("form", { onsubmit: next, onchange: () => (warning.textContent = ""), autocomplete: "off", novalidate: true },
      content, warning, buttons),
    note);
}

// What the coins do to the answers of a screen. Items of a matrix may have different coins: then they are named.
function factsInWords(walk, asked) {
  const items = new Map();
  for (const question of asked) {
    const fact = factOf(walk, question);
    items.set(fact, [...(items.get(fact) ?? []), question.item?.[walk.language]]);
  }
  if (items.size === 1) return [...items.keys()][0];
  return [...items].map(([fact, named]) => `${inOneLine(named, walk.language)}: ${fact}`).join(" ");
}

// Questions by screens: consecutive items of a matrix share one.
function screensOf({ questions }) {
  const screens = [];
  for (const question of questions) {
    const last = screens.at(-1)?.[0];
    if (question.matrix && last?.matrix?.id === question.matrix.id) screens.at(-1).push(question);
    else screens.push([question]);
  }
  return screens;
}

const chosenOf = (options) => options.map((option) => option.querySelector("input")).filter(({ checked }) => checked);

// What is wrong with a choice, in the page's words; null if nothing is.
function mistakeIn({ kind, limits }, chosen, texts) {
  if (kind !== "several") return chosen.length ? null : texts.choose;
  if (!limits || chosen.some(({ dataset }) => dataset.declines)) return null;
  return chosen.length < limits[0] || chosen.length > limits[1] ? howMany(limits, texts) : null;
}

// How many of several answers may be chosen.
function howMany([least, most], texts) {
  const text = least === most ? texts.chooseExactly : least && texts.chooseBetween;
  return fill(text || texts.chooseAtMost, { least, most });
}

// Say what is missing, and go there.
function complain(warning, text, { options }) {
  warning.textContent = text;
  options[0].querySelector("input").focus();
}

// Answers as the page shows them: in their own order or a random one, with "prefer not to say" as the last.
function options({ answers, language, survey }, question, name) {
  const chosen = answers.get(question.id) ?? [];
  const listed = orderOf(question).map(({ id, text }) => option(question, id, text, { chosen, language, name }));
  if (!question.decline) return listed;
  const declines = { chosen, declines: true, language, name };
  return [...listed, option(question, declineLabel(survey, question), question.decline, declines)];
}

function orderOf(question) {
  if (!question.shuffle) return question.answers;
  if (!orders.has(question.id)) orders.set(question.id, shuffled(question.answers));
  return orders.get(question.id);
}

// A random order: words decide which entry comes next. 32 bits are enough for an order that protects nobody.
function shuffled(entries) {
  const words = secureWords();
  const waiting = [...entries];
  return entries.map(() => waiting.splice(words.next().value % waiting.length, 1)[0]);
}

// Choosing "prefer not to say" and choosing answers exclude each other.
function option(question, value, texts, { chosen, declines = false, language, name }) {
  const type = question.kind === "several" ? "checkbox" : "radio";
  const clear = ({ target }) => {
    if (type === "radio" || !target.checked) return;
    for (const other of target.form.querySelectorAll("input")) {
      if (other !== target && (declines || other.dataset.declines)) other.checked = false;
    }
  };
  return h("label", { class: "option" },
    h("input", { type, name, value, checked: chosen.includes(value), onchange: clear, "data-declines": declines ? "yes" : null }),
    h("span", spoken(texts, language), texts[language]));
}

function questionWith(walk, { question, options }) {
  const { language, texts } = walk;
  const note = (given, attributes = {}) => h("p", { class: "note", ...attributes }, given);
  const { help, kind, limits, unrelated } = question;
  return h("fieldset", { "aria-describedby": help ? "help" : null },
    h("legend", {}, h("h1", spoken(question.text, language), question.text[language])),
    help ? note(help[language], { id: "help", ...spoken(help, language) }) : null,
    kind === "several" ? note(limits ? howMany(limits, texts) : texts.several) : null,
    unrelated ? note(unrelatedInWords(walk, question, filled, said("bdi", unrelated, language))) : null,
    options);
}

// Items below each other, and each with its steps: in columns with a common heading where they fit, else below the item.
function matrixOf(groups, language) {
  const [{ question, options }] = groups;
  const { help, matrix } = question;
  const heads = options.map((option) => option.lastChild.cloneNode(true));
  const rows = groups.map(({ question: { item }, options }, row) => h("div", { class: "item", role: "radiogroup",
    "aria-labelledby": `item${row}` }, h("p", { id: `item${row}`, ...spoken(item, language) }, item[language]), options));
  return h("div", {},
    h("h1", spoken(matrix.text, language), matrix.text[language]),
    help ? h("p", { class: "note", ...spoken(help, language) }, help[language]) : null,
    h("div", { class: options.length > MOST_COLUMNS ? "matrix" : "matrix columns" },
      h("div", { class: "item heads", "aria-hidden": "true" }, h("p", {}), heads), rows));
}
