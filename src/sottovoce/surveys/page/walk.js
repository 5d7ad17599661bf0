// The walk through the questions: one screen after another, the review, and the coins, which are tossed once.

import { coinsFall } from "./coins_fall.js";
import { askedQuestions, declineLabel, ended } from "./documents.js";
import { ask as askOnScreen } from "./questions.js";
import { picksInReview } from "./sampling_words.js";
import { send } from "./sending.js";
import { newKey, seal, sendMoment } from "./submission.js";
import { button, h, listed, said, show, tell } from "./view.js";

export { send } from "./sending.js";
export { readSealed } from "./submission.js";

const answers = new Map();

// Answers are only on this screen: those who leave are asked first.
addEventListener("beforeunload", (event) => answers.size && event.preventDefault());

// Ask from the first question on; `welcome` is what comes before it.
export const ask = (page, welcome) => screen({ ...page, welcome }, 0);

const screen = (page, step, changing = false) =>
  askOnScreen({ ...page, answers, before: page.welcome, after: () => review(page), changing }, step);

function review(page) {
  const { language, survey, texts } = page;
  const rows = askedQuestions(survey, answers).map((question) => {
    const chosen = answers.get(question.id);
    const given = question.answers.filter(({ id }) => chosen.includes(id)).map(({ text }) => text);
    if (question.decline && chosen.includes(declineLabel(survey, question))) given.push(question.decline);
    const change = () => screen(page, survey.questions.indexOf(question), true);
    return h("li", {}, said("span", question.text, language), h("strong", {}, listed(given, language, texts)),
      button(texts.change, change, { "aria-label": `${texts.change}: ${question.text[language]}` }));
  });
  const picked = picksInReview(survey, texts);
  show(
    h("h1", {}, texts.reviewTitle),
    h("p", {}, texts.review),
    picked ? h("p", {}, picked) : null,
    h("ol", { class: "answers" }, rows),
    h("p", { class: "buttons" }, button(texts.back, () => screen(page, survey.questions.length - 1)),
      button(texts.send, () => finish(page), { class: "primary" })));
}

// Another tab may have sealed a report in the meantime: then that one is the only one. What the coins did can be shown
// until the report is on its way.
async function finish(page) {
  const { memory, survey, texts } = page;
  if (ended(survey)) return tell(page, texts.closedTitle, texts.closed);
  const given = new Map(askedQuestions(survey, answers).map(({ id }) => [id, answers.get(id)]));
  let sealed = null;
  await memory.change((state) => {
    if (["sealed", "answered"].includes(state?.state)) return state;
    return (sealed = sealedNow(page, state));
  });
  answers.clear();
  if (sealed) await coinsFall(page, sealed, given);
  return send(page);
}

function sealedNow({ hash, survey, token }, admitted) {
  const proof = survey.key ? { credential: admitted.credential, signature: admitted.signature }
    : { key: newKey(), token: survey.invitation === "open" ? null : token };
  return { state: "sealed", body: seal(survey, hash, answers, proof), moment: sendMoment(survey.interval), held: false };
}
