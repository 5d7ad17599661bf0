// The coins have fallen: what will be sent, and on demand what each coin did. The report is sealed already, so that nobody
// tosses again until they like it. What was answered is gone when this screen is.

import { factsOf } from "./facts.js";
import { pause } from "./requests.js";
import { decode } from "./submission.js";
import { aboutIn, button, clockTime, fill, filled, h, listed, reportInWords, show } from "./view.js";

// Show the screen until the person goes on, or until the moment at which the report is sent by itself.
export async function coinsFall(page, { body, moment }, given) {
  const { language, survey, texts } = page;
  const codes = decode(JSON.parse(body).report, survey.mechanisms.reportSizes);
  const rows = reportInWords(survey, codes, language, texts);
  const notes = rows.map(() => h("span", { class: "note did" }));
  const told = h("p", { class: "note", role: "status" });
  const reveal = (event) => {
    rows.forEach((row, i) => notes[i].append(...[whatTheyDid(row, given, page)].flat(Infinity)));
    told.textContent = texts.fallenGone;
    event.target.remove();
  };
  const pressed = new Promise((resolve) => show(
    h("h1", {}, texts.fallenTitle),
    h("p", {}, texts.fallen),
    h("ul", { class: "coins" }, rows.map((row, i) =>
      h("li", {}, aboutIn("span", row, language), row.leftOut ? h("i", { class: "left-out" }, texts.leftOut)
        : h("b", { class: row.question?.public ? "plain" : "coin" }, row.children()), notes[i]))),
    h("p", {}, button(texts.fallenAsk, reveal)),
    told,
    moment ? h("p", { class: "note" }, fill(texts.fallenTime, { time: clockTime(moment, language) })) : null,
    h("p", { class: "buttons" }, button(texts.sendThese, () => resolve(true), { class: "primary" }))));
  const left = () => (moment ? (moment - Date.now()) / 1000 : 3600);
  while (left() > 0 && !(await Promise.race([pressed, pause(left())]))) continue;
  given.clear();
}

// Whether a line says what was answered. Chance may also have drawn the very answer that was given. A sign is no answer.
function whatTheyDid({ labels, leftOut, question }, given, { language, survey, texts }) {
  if (!question || leftOut) return "";
  if (question.public) return texts.publicNote;
  const chosen = given.get(question.id);
  const { form } = factsOf(survey, question);
  if (!chosen || form === "symbols") return "";
  const same = question.kind === "several" ? chosen.length === labels.length && chosen.every((id) => labels.includes(id))
    : labels.includes(chosen[0]);
  const [kept, changed] = form === "set" ? [texts.fallenAmong, texts.fallenMissing] : [texts.fallenKept, texts.fallenChanged];
  if (same) return kept;
  const answers = chosen.map((id) => question.answers.find((answer) => answer.id === id)?.text ?? question.decline);
  return filled(changed, { given: listed(answers, language, texts) });
}
