// The walk through a survey: checks, the promise, one question at a time, sealing and sending.

import { askedQuestions, declineLabel, NotLoaded, readSurvey } from "./documents.js";
import { decode, Memory, receiptOf, seal, send, tokenOf, withToken } from "./submission.js";
import { button, fill, h, inOneLine, oddsInWords, primary, reportInWords, show, wordsIn } from "./view.js";

const RIGHT_TO_LEFT = ["ar", "fa", "he", "ur", "ps", "sd", "ug", "yi", "ckb", "dv"];
const TOKEN = /^[A-Za-z0-9_-]{22}$/;

const main = document.querySelector("main");
const home = `/s/${main.dataset.survey}`;
const [hash, token = null] = location.hash.slice(1).split(".");
const memory = new Memory(hash);
const answers = new Map();
let survey;
let language;
let texts;

// Words that do not arrive leave the page's own words in the language they were in; without any, the page stops.
async function speak(tag) {
  language = tag;
  texts = await wordsIn(tag).catch((reason) => {
    if (!texts) throw reason;
    return texts;
  });
  document.documentElement.lang = tag;
  document.documentElement.dir = RIGHT_TO_LEFT.includes(primary(tag)) ? "rtl" : "ltr";
}

async function start() {
  await speak(document.documentElement.lang);
  if (!/^[0-9a-f]{64}$/.test(hash)) return halt(texts.noHash);
  const bytes = await load();
  if (!bytes) return offline();
  try {
    survey = await readSurvey(bytes, hash);
  } catch (reason) {
    return reason instanceof NotLoaded ? offline() : halt(reason.message);
  }
  const wanted = navigator.languages.map(primary);
  await speak(survey.languages.find((tag) => wanted.includes(primary(tag))) ?? survey.languages[0]);
  if (memory.answered) return alreadyAnswered();
  if (memory.sealed) return sending();
  if (new Date().toISOString().slice(0, 10) > survey.until) return tell(texts.closedTitle, texts.closed);
  if (survey.invitation === "single" && !TOKEN.test(token ?? "")) return tell(texts.invitationTitle, texts.invitation);
  return welcome();
}

// Exact bytes of the survey, or null without a connection or without an answer of the server. The page has asked for
// them before this module ran, so the request here must be the very same.
async function load() {
  try {
    const response = await fetch(`${home}/survey.json`);
    return response.ok ? new Uint8Array(await response.arrayBuffer()) : null;
  } catch {
    return null;
  }
}

const tell = (title, text) => show(h("h1", {}, title), h("p", {}, text), auditLink());

// Nothing was asked yet: the page stops here, whatever is wrong.
const halt = (reason) =>
  show(h("h1", {}, texts.stopTitle), h("p", { role: "alert" }, texts.stop), h("p", { class: "note" }, reason));

const offline = () =>
  show(h("h1", {}, texts.offlineTitle), h("p", {}, texts.offline), button(texts.tryAgain, () => location.reload()));

const auditLink = () => h("p", { class: "note" }, h("a", { href: `${home}/audit` }, texts.audit));

function languagePicker() {
  if (survey.languages.length < 2) return null;
  const named = (tag) => new Intl.DisplayNames([tag], { type: "language" }).of(tag);
  const choose = async (event) => (await speak(event.target.value), welcome());
  return h("p", { class: "languages" }, h("label", { for: "language" }, texts.language), " ",
    h("select", { id: "language", onchange: choose }, survey.languages.map((tag) =>
      h("option", { value: tag, lang: tag, selected: tag === language }, named(tag)))));
}

function welcome() {
  const until = new Date(`${survey.until}T12:00Z`).toLocaleDateString(language, { dateStyle: "long" });
  const odds = oddsInWords(survey.mechanisms.odds, language);
  document.title = survey.title[language];
  show(
    languagePicker(),
    h("h1", {}, survey.title[language]),
    h("p", { class: "asker" }, fill(texts.asks, { asker: survey.asker[language] })),
    h("p", {}, survey.purpose[language]),
    h("p", { class: "note" }, fill(texts.until, { until }), survey.contact ? ` ${fill(texts.contact, survey)}` : ""),
    h("section", { class: "promise", "aria-labelledby": "promise" },
      h("h2", { id: "promise" }, texts.promiseTitle),
      h("p", {}, texts.promise),
      h("p", {}, fill(texts.promiseOdds, { odds })),
      h("p", { class: "note" }, texts.checked)),
    window.isSecureContext ? null : h("p", { class: "warning" }, texts.insecure),
    demoSection(),
    button(texts.begin, () => ask(0), { class: "primary" }),
    auditLink());
}

// Try the coins with the first question that has coins of its own and one answer; null where there is none.
function demoSection() {
  const alone = survey.mechanisms.groups.filter(({ attributes }) => attributes.length === 1);
  const groupOf = ({ id }) => alone.find(({ attributes }) => attributes[0] === id);
  const question = survey.questions.find((candidate) => candidate.kind !== "several" && groupOf(candidate));
  if (!question) return null;
  const content = h("div", {});
  const fillIn = async () => {
    if (content.hasChildNodes()) return;
    const { demo } = await import("./demo.js").catch(() => ({ demo: () => [h("p", {}, texts.offline)] }));
    content.replaceChildren(...demo(survey, question, groupOf(question), language, texts));
  };
  return h("details", { class: "demo", ontoggle: fillIn }, h("summary", {}, texts.demoTitle), content);
}

// Questions that are asked, given what was answered before them.
const asked = () => askedQuestions(survey, answers);

function ask(step) {
  const question = asked()[step];
  if (!question) return review();
  const several = question.kind === "several";
  const left = survey.questions.length - survey.questions.indexOf(question);
  const chosen = answers.get(question.id) ?? [];
  const options = question.answers.map(({ id, text }) => option(question, id, text[language], chosen));
  if (question.decline) options.push(option(question, declineLabel(survey, question), question.decline[language], chosen, true));
  const warning = h("p", { class: "warning", role: "alert" });
  const next = (event) => {
    event.preventDefault();
    const ticked = [...main.querySelectorAll("input:checked")].map((input) => input.value);
    if (!ticked.length && !several) return void (warning.textContent = texts.choose);
    answers.set(question.id, ticked);
    return ask(step + 1);
  };
  const back = () => (step ? ask(step - 1) : welcome());
  show(
    h("p", { class: "steps" }, fill(texts.step, { step: step + 1, most: step + left })),
    h("form", { onsubmit: next, onchange: () => (warning.textContent = ""), autocomplete: "off", novalidate: true },
      h("fieldset", { "aria-describedby": question.help ? "help" : null },
        h("legend", {}, h("h1", {}, question.text[language])),
        question.help ? h("p", { class: "note", id: "help" }, question.help[language]) : null,
        several ? h("p", { class: "note" }, texts.several) : null,
        question.unrelated ? h("p", { class: "note" }, fill(texts.unrelated, { unrelated: question.unrelated[language] })) : null,
        options),
      warning,
      h("p", { class: "buttons" }, button(texts.back, back), h("button", { class: "primary" }, texts.next))),
    h("p", { class: "note" }, texts.onDevice));
}

// Choosing "prefer not to say" and choosing answers exclude each other.
function option(question, value, text, chosen, declines = false) {
  const type = question.kind === "several" ? "checkbox" : "radio";
  const clear = (event) => {
    if (type === "radio" || !event.target.checked) return;
    for (const other of main.querySelectorAll("input")) {
      if (other !== event.target && (declines || other.dataset.declines)) other.checked = false;
    }
  };
  return h("label", { class: "option" },
    h("input", { type, name: "answer", value, checked: chosen.includes(value), onchange: clear,
      "data-declines": declines ? "yes" : null }),
    h("span", {}, text));
}

function review() {
  const rows = asked().map((question, step) => {
    const chosen = answers.get(question.id);
    const said = question.answers.filter(({ id }) => chosen.includes(id)).map(({ text }) => text[language]);
    if (question.decline && chosen.includes(declineLabel(survey, question))) said.push(question.decline[language]);
    return h("li", {}, h("span", {}, question.text[language]), h("strong", {}, inOneLine(said, language) || texts.nothing),
      button(texts.change, () => ask(step), { "aria-label": `${texts.change}: ${question.text[language]}` }));
  });
  show(
    h("h1", {}, texts.reviewTitle),
    h("p", {}, texts.review),
    h("ol", { class: "answers" }, rows),
    h("p", { class: "buttons" }, button(texts.back, () => ask(rows.length - 1)),
      button(texts.send, finish, { class: "primary" })));
}

// Another tab may have sealed a report in the meantime: then that one is the only one.
function finish() {
  if (memory.answered) return alreadyAnswered();
  if (!memory.sealed) memory.sealed = seal(survey, hash, survey.invitation === "open" ? null : token, answers);
  answers.clear();
  return sending();
}

async function sending() {
  const sealed = memory.sealed;
  const state = h("p", { role: "status" }, texts.sending);
  show(h("h1", {}, texts.sendingTitle), state, h("p", { class: "note" }, texts.sealed));
  const waiting = (seconds) => (state.textContent = fill(texts.waiting, { seconds: Math.round(seconds) }));
  const answer = await send(`${home}/reports`, sealed, waiting);
  if (answer.error === "invitation" && token && token !== tokenOf(sealed)) {
    memory.sealed = withToken(sealed, token);
    return sending();
  }
  if (answer.error) return refused(answer);
  memory.acknowledge();
  history.replaceState(null, "", `#${hash}`);
  return thanks(sealed);
}

// Fresh coins after a refusal would let a server average them away, so only the same bytes can be sent again.
function refused({ error, reason }) {
  show(
    h("h1", {}, texts.refusedTitle),
    h("p", { role: "alert" }, texts.errors[error] ?? reason),
    h("p", {}, texts.refused),
    button(texts.tryAgain, sending, { class: "primary" }));
}

function thanks(sealed) {
  const { report } = JSON.parse(sealed);
  const rows = reportInWords(survey, decode(report, survey.mechanisms.reportSizes), language, texts);
  show(
    h("h1", {}, texts.thanksTitle),
    h("p", {}, texts.thanks),
    h("section", { class: "sent", "aria-labelledby": "sent" },
      h("h2", { id: "sent" }, texts.sentTitle),
      h("p", { class: "note" }, texts.sent),
      h("dl", {}, rows.flatMap(({ about, said }) => [h("dt", {}, about), h("dd", {}, said)])),
      h("p", {}, texts.sentBytes, " ", h("code", {}, report))),
    h("p", {}, texts.receipt, " ", h("code", { class: "receipt" }, receiptOf(sealed))),
    h("p", { class: "note" }, texts.kept),
    auditLink());
}

const alreadyAnswered = () => tell(texts.answeredTitle, texts.answered);

start();
