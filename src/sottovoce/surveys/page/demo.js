// Try the noise: what would be sent for a pretended answer, once and a hundred times. Nothing is kept or sent.
// Sets hardly ever come twice, so of them is counted how many hold each answer.

import { flip, secureWords } from "./coins.js";
import { button, fill, h } from "./dom.js";
import { reportInWords } from "./words.js";

// With the first question that has coins of its own and one answer; null where there is none.
export function demo(survey, language, texts) {
  const alone = survey.mechanisms.groups.filter(({ attributes }) => attributes.length === 1);
  const coinsOf = ({ id }) => alone.find(({ attributes }) => attributes[0] === id);
  const question = survey.questions.find((candidate) => candidate.kind !== "several" && coinsOf(candidate));
  if (!question) return null;
  const { mechanism, reported } = coinsOf(question);
  const shortened = { ...survey, mechanisms: { reports: reported } };
  const choice = h("select", { id: "pretend" },
    question.answers.map(({ text }, code) => h("option", { value: code }, text[language])));
  const results = h("div", { role: "status", class: "results" });
  const draw = (times) => {
    const words = secureWords();
    const tally = new Map();
    let last;
    for (let i = 0; i < times; i++) {
      const codes = mechanism.respond([Number(choice.value)], flip(mechanism.coins, words)).flat();
      const [{ named, said }] = reportInWords(shortened, codes, language, texts);
      last = said;
      for (const name of named) tally.set(name, (tally.get(name) ?? 0) + 1);
    }
    const rows = [...tally].sort(([, a], [, b]) => b - a).slice(0, 8);
    const pretended = question.answers[Number(choice.value)].text[language];
    const many = reported[0].kind === "items" ? texts.demoSets : texts.demoMany;
    results.replaceChildren(
      h("p", {}, times === 1 ? fill(texts.demoOnce, { said: last }) : fill(many, { times, pretended })),
      times === 1 ? "" : h("table", {}, h("tbody", {}, rows.map(([said, count]) =>
        h("tr", {}, h("th", { scope: "row" }, said), h("td", {}, h("meter", { min: 0, max: times, value: count }, `${count}`)),
          h("td", {}, `${count}`))))));
  };
  return h("details", { class: "demo" },
    h("summary", {}, texts.demoTitle),
    h("p", {}, texts.demoIntro),
    h("p", { class: "question" }, question.text[language]),
    h("p", {}, h("label", { for: "pretend" }, texts.demoPretend), " ", choice),
    h("p", { class: "buttons" }, button(texts.demoSendOnce, () => draw(1)), button(texts.demoSendMany, () => draw(100))),
    results);
}
