// Try the coins: what a hundred people who all pretend the same answer would send. Nothing is kept or sent.
// The same set hardly ever comes twice, so for sets the page counts how many contain each answer.

import { flip, secureWords } from "./coins.js";
import { button, fill, h, reportInWords, said } from "./view.js";

const PEOPLE = 100;
const MOST_ROWS = 8;

// The elements of the demo for a question with one answer, given its own coins.
export function demo(survey, question, { mechanism, picked, reported }, language, texts) {
  const shortened = { ...survey, mechanisms: { reports: reported } };
  const choice = h("select", { id: "pretend", onchange: () => draw() },
    question.answers.map(({ text }, code) => said("option", text, language, { value: code })));
  choice.value = question.answers.findIndex(({ id }) => id === "yes") > 0 ? 1 : 0;
  const results = h("div", { role: "status" });
  const draw = () => {
    const words = secureWords();
    const pretended = question.answers[Number(choice.value)].text[language];
    const sent = Array.from({ length: PEOPLE }, () => {
      const codes = mechanism.respond([Number(choice.value)], flip(mechanism.coins, words)).flat();
      return reportInWords(shortened, codes, language, texts)[0].named;
    });
    const tally = new Map();
    for (const name of sent.flat()) tally.set(name, (tally.get(name) ?? 0) + 1);
    const rows = [...tally].sort(([, a], [, b]) => b - a).slice(0, MOST_ROWS);
    const isSet = reported[0].kind === "items";
    const dot = (named) => h("i", { class: named.includes(pretended) ? null : "chance" });
    results.replaceChildren(
      h("div", { class: "dots", "aria-hidden": "true" }, sent.map(dot)),
      h("p", { class: "note", "aria-hidden": "true" }, h("i", { class: "key" }), ` ${texts.demoSame} `,
        h("i", { class: "key chance" }), ` ${texts.demoOther}`),
      h("p", {}, picked ? `${texts.ifPicked} ` : null, fill(isSet ? texts.demoSets : texts.demoMany, { pretended })),
      h("table", {}, h("tbody", {}, rows.map(([name, count]) =>
        h("tr", {}, h("th", { scope: "row" }, h("bdi", {}, name)), h("td", {}, `${count}`))))));
  };
  draw();
  return [
    h("p", {}, texts.demoIntro),
    said("p", question.text, language, { class: "question" }),
    h("p", {}, h("label", { for: "pretend" }, texts.demoPretend), " ", choice),
    results,
    h("p", { class: "buttons" }, button(texts.demoAgain, draw)),
  ];
}
