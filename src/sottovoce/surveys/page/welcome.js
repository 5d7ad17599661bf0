// The first screen: who asks and why, Begin, what the coins do in this survey's own numbers, who can learn what, and the
// coins to try.

import { ownCoins } from "./own_coins.js";
import { picksInWords } from "./sampling_words.js";
import { exampleQuestion, factOf, rarestAnswer, strengthOfWords, worstOdds } from "./sentences.js";
import { auditLink, button, duration, fill, filled, h, oddsInWords, said, show } from "./view.js";

export function welcome(page, begin, speak) {
  const { language, memory, survey, texts } = page;
  const strength = strengthOfWords(survey);
  const example = exampleQuestion(survey);
  const forgets = survey.version > 1 && !memory.lasting;
  document.title = survey.title[language];
  show(
    languagePicker(page, speak),
    asker(page),
    said("h1", survey.title, language),
    said("p", survey.purpose, language),
    strength === "deniable" ? null : h("p", { class: "warning" }, texts.promise[strength][0]),
    forgets ? h("p", { class: "warning" }, texts.forgetful, survey.key ? ` ${texts.forgetfulVote}` : "") : null,
    h("p", { class: "buttons start" }, button(texts.begin, begin, { class: "primary" }),
      example ? h("a", { class: "button", href: "#demo", onclick: scrollToDemo }, texts.demoTitle) : null),
    promise(page, strength, example),
    example ? demoSection(page, example) : null,
    survey.contact ? h("p", { class: "note" }, fill(texts.contact, survey)) : null,
    auditLink(page));
}

// The part behind # of the address is the survey's hash and the invitation: no link may change it.
function scrollToDemo(event) {
  event.preventDefault();
  const heading = document.getElementById("demo");
  heading.scrollIntoView();
  heading.focus({ preventScroll: true });
}

function languagePicker({ language, survey, texts }, speak) {
  if (survey.languages.length < 2) return null;
  const named = (tag) => new Intl.DisplayNames([tag], { type: "language" }).of(tag);
  return h("p", { class: "languages" }, h("label", { for: "language" }, texts.language), " ",
    h("select", { id: "language", onchange: (event) => speak(event.target.value) }, survey.languages.map((tag) =>
      h("option", { value: tag, lang: tag, selected: tag === language }, named(tag)))));
}

function asker({ language, logo, survey, texts }) {
  const until = new Date(`${survey.until}T12:00Z`).toLocaleDateString(language, { dateStyle: "long" });
  const name = survey.asker[language];
  const initials = name.match(/(?<!\p{L})\p{Lu}/gu) ?? [[...name][0]];
  return h("p", { class: "asker" },
    logo ? h("img", { src: logo, alt: "" })
      : h("i", { class: "monogram", "aria-hidden": "true" }, initials.slice(0, 2).join("")),
    h("span", {}, h("b", {}, filled(texts.asks, { asker: said("bdi", survey.asker, language) })),
      fill(texts.about, { count: survey.questions.length, until })));
}

function promise(page, strength, example) {
  const { survey, texts } = page;
  const [title, told] = texts.promise[strength];
  const picked = picksInWords(survey, page.language, texts);
  return h("section", { class: strength === "deniable" ? "card promise" : "card promise weak", "aria-labelledby": "promise" },
    h("h2", { id: "promise" }, title),
    h("p", {}, told),
    picked ? h("p", {}, picked) : null,
    example ? [said("p", example.text, page.language, { class: "question" }), h("p", {}, factOf(page, example)),
      picture(page, example)] : null,
    survey.questions.some((question) => question.public) ? h("p", {}, texts.publicPromise) : null,
    h("dl", { class: "facts" }, learners(page, strength).flatMap(([who, what]) => [h("dt", {}, who), h("dd", {}, what)])),
    h("p", { class: "note" }, texts.checked));
}

// A hundred people with another answer than the one that the fewest of them send.
function picture(page, question) {
  const rarest = rarestAnswer(page, question);
  if (!rarest) return null;
  const { answer, count, form, sampled } = rarest;
  const dots = Array.from({ length: 100 }, (_, i) => h("i", { class: (i * 37) % 100 < count ? "chance" : null })); // spread
  return [h("div", { class: "dots", "aria-hidden": "true" }, dots),
    h("p", { class: "note" }, h("i", { class: "key chance", "aria-hidden": "true" }), " ",
      sampled ? `${page.texts.amongPicked} ` : null,
      filled(form === "set" ? page.texts.dotsSet : page.texts.dots, { answer: said("bdi", answer, page.language), count }))];
}

// Who can learn what.
function learners(page, strength) {
  const { language, memory, survey, texts } = page;
  const { learn } = texts;
  const [each, all] = [worstOdds(survey), survey.mechanisms.odds];
  const odds = all ? fill(learn.odds, { each: oddsInWords(each, language), all: oddsInWords(all, language) }) : learn.noOdds;
  return [
    [learn.team, learn.teamSees[strength]],
    [learn.others, learn.othersSee],
    [learn.suspicious, odds],
    [learn.network, whatTimeTells(page)],
    [learn.device, memory.lasting ? learn.deviceKeeps : learn.deviceForgets],
  ];
}

// What the time and the company of a report give away.
function whatTimeTells({ language, survey, texts }) {
  if (survey.interval) return fill(texts.later, { time: duration(2 * survey.interval, language) });
  return survey.invitation === "single" && !survey.key ? texts.together : texts.atOnce;
}

function demoSection({ language, survey, texts }, question) {
  const section = h("section", { class: "card demo", "aria-labelledby": "demo" },
    h("h2", { id: "demo", tabindex: "-1" }, texts.demoTitle));
  import("./demo.js").then(({ demo }) => section.append(...demo(survey, question, ownCoins(survey, question), language, texts)),
    () => section.append(h("p", {}, texts.offline)));
  return section;
}
