// What happens to a sealed report: it waits for its moment, is sent from here or carried elsewhere, and is shown.

import { receiptCheck } from "./receipts.js";
import { pause, post } from "./requests.js";
import { alsoSent, strengthOfWords } from "./sentences.js";
import { decode, receiptOf, sealedFragment, sendMoment, withToken } from "./submission.js";
import { aboutIn, alreadyAnswered, askWhom, auditLink, button, clockTime, duration, fill, h, reportInWords, said, show,
  timeLeft } from
  "./view.js";

// Wait for the moment at which the report is to be sent. Another tab may send it, or hold it back, in the meantime.
export async function send(page) {
  const { memory, survey } = page;
  let screen = null;
  for (;;) {
    const state = await memory.change((found) => withPossibleMoment(found, survey.interval));
    if (state.state === "answered") return alreadyAnswered(page);
    const left = (state.moment - Date.now()) / 1000;
    if (!state.held && left <= 0) return deliver(page, state.body);
    if (screen?.held !== state.held) screen = (state.held ? holdingScreen : waitingScreen)(page, state);
    screen.tick?.(left);
    await pause(state.held ? 3600 : left % 60 || 60); // until the next minute, or the moment
  }
}

// A moment that no clock could have given belongs to a clock that was set since: another one is drawn.
const withPossibleMoment = (state, interval) =>
  state.moment > Date.now() + 2000 * interval ? { ...state, moment: sendMoment(interval) } : state;

// Minutes are counted in words that screen readers do not call out by themselves.
function waitingScreen(page, state) {
  const { language, memory, texts, viaLink } = page;
  const timer = h("p", { role: "timer" });
  const stay = viaLink || !memory.lasting ? texts.stay : `${texts.stay} ${texts.stayOrReturn}`;
  show(
    h("h1", {}, texts.waitTitle),
    h("p", {}, texts.sealed),
    h("p", {}, texts.wait),
    timer,
    h("p", {}, stay),
    viaLink ? null : h("details", {}, h("summary", {}, texts.carryTitle), carried(page, state),
      h("p", {}, texts.hold), button(texts.holdHere, () => hold(memory, true))));
  const time = clockTime(state.moment, language);
  return {
    held: false,
    tick(seconds) {
      const told = fill(texts.leaves, { time, left: timeLeft(seconds, language) });
      if (timer.textContent !== told) timer.textContent = told;
    },
  };
}

function holdingScreen(page, state) {
  const { memory, texts } = page;
  show(h("h1", {}, texts.heldTitle), h("p", {}, texts.held), carried(page, state),
    button(texts.sendHere, () => hold(memory, false), { class: "primary" }));
  return { held: true };
}

const hold = (memory, held) => memory.change((state) => (state.state === "sealed" ? { ...state, held } : state));

// The sealed report as a link and as a file that has the link in it, to be sent from elsewhere.
function carried({ hash, home, language, survey, texts }, state) {
  const link = `${location.origin}${home}#${sealedFragment(hash, state)}`;
  const shown = h("input", { id: "carried", dir: "ltr", readonly: true, value: link, onfocus: () => shown.select() });
  const told = h("p", { role: "status", class: "note" });
  const copy = () => navigator.clipboard.writeText(link).then(() => (told.textContent = texts.copied), () => shown.focus());
  const file = new Blob([fileWith(link, survey.title[language], language, texts)], { type: "text/html" });
  return h("div", {},
    h("p", {}, texts.carry),
    h("p", {}, h("label", { for: "carried" }, texts.carriedLink), " ", shown),
    h("p", { class: "buttons start" }, button(texts.copy, copy),
      h("a", { class: "button", download: "sealed-report.html", href: URL.createObjectURL(file) }, texts.save)),
    told);
}

function fileWith(link, title, language, texts) {
  const file = document.implementation.createHTMLDocument(title);
  file.head.prepend(h("meta", { charset: "utf-8" }));
  file.body.append(h("h1", {}, title), h("p", {}, h("a", { href: link }, texts.openToSend)));
  Object.assign(file.documentElement, { lang: language, dir: document.documentElement.dir });
  return `<!doctype html>${file.documentElement.outerHTML}`;
}

async function deliver(page, body) {
  const { hash, home, language, memory, texts, token, viaLink } = page;
  const status = h("p", { role: "status" }, texts.sending);
  const later = viaLink || memory.lasting ? ` ${texts.comeBack}` : "";
  show(h("h1", {}, texts.sendingTitle), status, h("p", { class: "note" }, texts.sealed));
  const answer = await post(`${home}/reports`, body, (seconds) => {
    status.textContent = fill(texts.waiting, { time: duration(seconds, language) }) + later;
  });
  if (answer.error === "invitation" && token && token !== JSON.parse(body).token) {
    await memory.change((state) => ({ ...state, body: withToken(body, token) }));
    return send(page);
  }
  const error = answer.error ?? (answer.receipt === (await receiptOf(body)) ? null : "receipt");
  if (error) return refused(page, error, answer.reason);
  await memory.change(() => ({ state: "answered" }));
  history.replaceState(null, "", `#${hash}`);
  return thanks(page, body, answer.receipt);
}

// Fresh coins after a refusal would let a server average them away, so only the same bytes can be sent again.
function refused(page, error, reason) {
  const { texts } = page;
  show(
    h("h1", {}, texts.refusedTitle),
    h("p", { role: "alert" }, texts.errors[error] ?? reason),
    h("p", {}, texts.refused),
    h("p", {}, askWhom(page)),
    button(texts.tryAgain, () => send(page), { class: "primary" }));
}

// Each line says how often it is sent by people of whom it is not true, so that none can be read as a confession.
function thanks(page, body, receipt) {
  const { language, memory, survey, texts } = page;
  const { report } = JSON.parse(body);
  const rows = reportInWords(survey, decode(report, survey.mechanisms.reportSizes), language, texts);
  const line = (row) => [aboutIn("dt", row, language),
    h("dd", { class: row.leftOut ? "left-out" : null }, row.children(), h("span", { class: "note" }, alsoSent(page, row)))];
  show(
    h("h1", {}, texts.thanksTitle),
    h("p", {}, texts.thanks),
    survey.presentation?.thanks ? said("p", survey.presentation.thanks, language) : null,
    h("section", { class: "card sent", "aria-labelledby": "sent" },
      h("h2", { id: "sent" }, texts.sentTitle),
      h("p", { class: "note" }, strengthOfWords(survey) === "deniable" ? texts.sent : texts.sentWeak,
        survey.questions.some((question) => question.public) ? ` ${texts.sentPublic}` : null),
      h("dl", {}, rows.flatMap(line)),
      h("p", {}, texts.sentBytes, " ", h("code", {}, report)),
      h("details", {}, h("summary", {}, texts.sentWhole), requests(page, body).flatMap(([told, sent]) =>
        [h("p", {}, told), h("pre", { dir: "ltr" }, JSON.stringify(sent, null, 1))]))),
    h("p", {}, texts.receipt, " ", h("code", { class: "receipt" }, receipt)),
    receiptCheck(page, receipt),
    memory.lasting ? h("p", { class: "note" }, survey.key ? texts.keptInvitation : texts.kept) : null,
    auditLink(page));
}

// The bodies of all requests of this device, in their order.
function requests({ survey, texts, token }, body) {
  const report = JSON.parse(body);
  if (!token || survey.invitation === "open") return [[texts.sentOnly, report]];
  const check = [texts.sentCheck, { token }];
  if (!survey.key) return [check, [texts.sentOnly, report]];
  return [check, [texts.sentAdmission, { token, blinded: texts.erased }], [texts.sentReport, report]];
}
