// Try the noise: what would be sent for a pretended answer, once and a hundred times. Nothing is kept or sent.
// The same set hardly ever comes twice, so for sets the page counts how many contain each answer.

import { flip, secureWords } from "./coins.js";
import { button, fill, h, reportInWords } from "./view.js";

// The elements of the demo for a question with one answer, given the group of the plan that it alone makes up.
export function demo(survey, question, { mechanism, reported }, language, texts) {
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
  return [
    h("p", {}, texts.demoIntro),
    h("p", { class: "question" }, question.text[language]),
    h("p", {}, h("label", { for: "pretend" }, texts.demoPretend), " ", choice),
    h("p", { class: "buttons" }, button(texts.demoSendOnce, () => draw(1)), button(texts.demoSendMany, () => draw(100))),
    results,
  ];
}
