// The page from its link to the first question: checks, where this device is, the welcome screen, and admission.

import "./coins.js"; // needed later, but nobody shall begin if it is not what the page says
import { ended, NotLoaded, readSurvey } from "./documents.js";
import { sha256 } from "./hash.js";
import { answeredHere, Memory } from "./memory.js";
import { post } from "./requests.js";
import { Refused } from "./rules.js";
import { alreadyAnswered, askWhom, button, duration, fill, h, hasWords, primary, show, tell, wordsIn } from "./view.js";
import { welcome as welcomeScreen } from "./welcome.js";

const RIGHT_TO_LEFT = ["ar", "fa", "he", "ur", "ps", "sd", "ug", "yi", "ckb", "dv"];

// Everything else of the survey is below the page's own address.
const home = location.pathname;

// Behind the # of a link: the survey's hash, then an invitation, or "sealed" and the parts of a sealed report.
const [hash, ...parts] = location.hash.slice(1).split(".");
const viaLink = parts[0] === "sealed";
const token = viaLink ? null : parts[0] || null;
let survey;
let memory;
let language;
let texts;
let logo = null;
let presentation;
let agreed = false;
let understood = false;
const banner = h("aside", { class: "rehearsal" }); // on every screen of a rehearsal

const page = () => ({ hash, home, language, logo, memory, survey, texts, token, viaLink });

// Words that do not arrive leave the page's own words in the language they were in; without any, the page stops.
async function speak(tag) {
  language = tag;
  texts = await wordsIn(tag).catch((reason) => {
    if (!texts) throw reason;
    return texts;
  });
  banner.textContent = texts.rehearsal;
  document.documentElement.lang = tag;
  document.documentElement.dir = RIGHT_TO_LEFT.includes(primary(tag)) ? "rtl" : "ltr";
}

async function start() {
  addEventListener("hashchange", () => location.reload()); // another link in the same tab
  await speak(document.documentElement.lang);
  if (!isSecureContext) return stop(() => tell(page(), texts.insecureTitle, texts.insecure));
  if (!/^[0-9a-f]{64}$/.test(hash)) return stop(() => halt(texts.noHash));
  const bytes = await load();
  if (!bytes) return stop(offline);
  try {
    survey = await readSurvey(bytes, hash);
  } catch (reason) {
    return stop(() => (reason instanceof NotLoaded ? offline() : halt(reason.message)));
  }
  if (survey.rehearsal) document.body.prepend(banner);
  const wanted = navigator.languages.map(primary);
  await speak(survey.languages.find((tag) => wanted.includes(primary(tag))) ?? survey.languages[0]);
  await present();
  return viaLink ? sendCarried() : resume();
}

// Where no survey says its languages, the page speaks the reader's, if these words arrive.
async function stop(screen) {
  const tag = navigator.languages.find(hasWords);
  if (tag && (await wordsIn(tag).catch(() => null))) await speak(tag);
  return screen();
}

// The asker's colour and logo, and the screens that come before the first question.
async function present() {
  if (!survey.presentation) return;
  presentation = await import("./presentation.js");
  if (survey.presentation.colour) presentation.useColour(survey.presentation.colour);
  logo = await presentation.logoAddress(home, survey.presentation.logo);
}

// Where this device is with its survey and invitation. What it keeps is looked at before the server is asked: it may
// be this very device that has spent the invitation.
async function resume() {
  const mistake = survey.invitation === "single" ? mistakeIn(token) : null;
  if (survey.key && mistake) return !token && (await answeredHere(hash)) ? alreadyAnswered(page()) : cannotBegin(mistake);
  const mark = survey.key && (await sha256(`device ${hash} ${token}`)).slice(0, 16);
  memory = await Memory.open(hash, mark);
  const state = await memory.read();
  if (["sealed", "answered"].includes(state?.state)) return send();
  if (ended(survey)) return tell(page(), texts.closedTitle, texts.closed);
  if (mistake) return cannotBegin(mistake);
  if (survey.invitation === "single" && !state) {
    let screen = null; // shown only when there is something to wait for
    const waiting = (seconds) => (screen ??= waitingTo(texts.checking))(seconds);
    const { error, reason } = await post(`${home}/check`, JSON.stringify({ token }), waiting);
    if (error) return cannotBegin(error, reason);
  }
  return welcome();
}

function mistakeIn(token) {
  if (!token) return "missing";
  if (/^[A-Za-z0-9_-]{22}$/.test(token)) return null;
  return /^[A-Za-z0-9_-]{1,21}$/.test(token) ? "truncated" : "mistyped";
}

// Send a report that was sealed elsewhere and carried here in a link. This device has not answered, so it keeps nothing.
async function sendCarried() {
  memory = await Memory.open(null);
  return walk(async ({ readSealed, send: sendSealed }) => {
    const sealed = survey.interval || survey.key ? readSealed(survey, hash, parts.slice(1)) : null;
    if (!sealed) return cannotBegin("truncated");
    await memory.change(() => sealed);
    return sendSealed(page());
  });
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

// What is wrong with the link or its invitation, and whom to ask.
function cannotBegin(error, reason = null) {
  if (error === "closed") return tell(page(), texts.closedTitle, texts.closed);
  const known = error === "unknown_invitation" && !survey.key ? "invitation" : error;
  const [title, text] = texts.links[known] ?? [texts.links.invitation[0], texts.errors[known] ?? reason];
  return tell(page(), title, text, askWhom(page()));
}

// Nothing was asked yet: the page stops here, whatever is wrong. Reasons for those who know the rules are in English.
const halt = (reason, told = `${texts.stop} ${texts.askSender}`) => show(h("h1", {}, texts.stopTitle),
  h("p", { role: "alert" }, told), h("p", { class: "note", ...(reason === texts.noHash ? {} : { lang: "en", dir: "auto" }) }, reason));

// Show what the server is asked for; the function that is returned adds that there is no connection yet.
function waitingTo(purpose) {
  const status = h("p", { role: "status" }, purpose);
  show(h("h1", {}, texts.momentTitle), status);
  return (seconds) => (status.textContent = `${purpose} ${fill(texts.waiting, { time: duration(seconds, language) })}`);
}

const offline = () =>
  show(h("h1", {}, texts.offlineTitle), h("p", {}, texts.offline), button(texts.tryAgain, () => location.reload()));

const welcome = () => welcomeScreen(page(), begin, async (tag) => (await speak(tag), welcome()));

// The invitation is spent here, and not at loading, so that programs that look at links spend none.
async function begin() {
  const { consent, comprehension_check: check } = survey.presentation ?? {};
  if (consent && !agreed) return presentation.askConsent(page(), () => ((agreed = true), begin()), welcome);
  if (check && !understood) return presentation.checkUnderstanding(page(), () => ((understood = true), begin()), welcome);
  if (!survey.key || (await memory.read())?.state === "admitted") return ask();
  const waiting = waitingTo(texts.admitting);
  const admission = await import("./admission.js").catch(() => null);
  if (!admission) return offline();
  try {
    const { state, error, reason } = await admission.admit(survey, memory, `${home}/admission`, token, waiting);
    if (error) return cannotBegin(error, reason);
    return state === "admitted" ? ask() : send();
  } catch (reason) {
    if (!(reason instanceof Refused)) throw reason;
    return halt(reason.message, `${texts.falseAdmission} ${askWhom(page())}`);
  }
}

// The modules for questions and sending are loaded when they are needed, all at once: from then on, a lost connection
// loses nothing.
async function walk(use) {
  const modules = await import("./walk.js").catch(() => null);
  return modules ? use(modules) : offline();
}

const ask = () => walk((modules) => modules.ask(page(), welcome));
const send = () => walk((modules) => modules.send(page()));

start();
