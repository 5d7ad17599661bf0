// What an author may show beside the questions: colour, logo, consent, and a check whether the coins were understood. Nothing
// of it is sent.

import { spoken } from "./documents.js";
import { sha256 } from "./hash.js";
import { require, requireKeys } from "./rules.js";
import { answerByChance, factOf } from "./sentences.js";
import { button, filled, h, said, show } from "./view.js";

// The colour must be one that can be read on the page.
export function checkPresentation(presentation, checkTexts) {
  requireKeys(presentation, ["consent", "thanks", "comprehension_check", "colour", "logo"]);
  const { consent, thanks, comprehension_check: check, colour, logo } = presentation;
  for (const texts of [consent, thanks]) if (texts !== null) checkTexts(texts);
  require(typeof check === "boolean", "a check of understanding that is neither true nor false");
  require(colour === null || (/^#[0-9a-f]{6}$/.test(colour) && contrast(colour, PAPER) >= 4.5), "a colour that cannot be read");
  if (logo === null) return;
  requireKeys(logo, ["type", "sha256"]);
  require(["image/png", "image/webp"].includes(logo.type) && /^[0-9a-f]{64}$/.test(logo.sha256), "a logo that is no picture");
}

const PAPER = "#faf8f3";
const [DARK_CARD, DARK_INK] = ["#18252a", "#06262c"];

const channels = (colour) => [1, 3, 5].map((start) => parseInt(colour.slice(start, start + 2), 16));

function luminance(colour) {
  const [red, green, blue] = channels(colour).map((c) => (c / 255 <= 0.04045 ? c / 255 / 12.92 : ((c / 255 + 0.055) / 1.055) ** 2.4));
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

// Contrast as WCAG 2.2 defines it.
function contrast(a, b) {
  const [darker, lighter] = [luminance(a), luminance(b)].sort((x, y) => x - y);
  return (lighter + 0.05) / (darker + 0.05);
}

// The colour, with as much white as it needs to be read in the dark.
function lightened(colour) {
  for (let white = 0; ; white += 5) {
    const mixed = channels(colour).map((c) => Math.round(c + ((255 - c) * white) / 100).toString(16).padStart(2, "0"));
    const shown = `#${mixed.join("")}`;
    if (white >= 100 || Math.min(contrast(shown, DARK_CARD), contrast(shown, DARK_INK)) >= 4.5) return shown;
  }
}

// Give buttons and links the author's colour; the style sheet chooses between light and dark.
export function useColour(colour) {
  const { style } = document.documentElement;
  style.setProperty("--own", colour);
  style.setProperty("--own-dark", lightened(colour));
  style.setProperty("--soft", "color-mix(in srgb, var(--accent) 12%, var(--card))");
}

// Address of the logo, if its bytes are those that the survey names; else null.
export async function logoAddress(home, logo) {
  if (!logo) return null;
  const bytes = await fetch(`${home}/logo`).then((response) => response.arrayBuffer()).catch(() => new ArrayBuffer(0));
  const same = (await sha256(new Uint8Array(bytes))) === logo.sha256;
  return same ? URL.createObjectURL(new Blob([bytes], { type: logo.type })) : null;
}

export function askConsent({ language, survey, texts }, goOn, back) {
  const { consent } = survey.presentation;
  const paragraphs = consent[language].split(/\n\s*\n/);
  show(
    h("h1", {}, texts.consentTitle),
    h("div", { class: "consent" }, paragraphs.map((text) => h("p", spoken(consent, language), text))),
    h("p", { class: "buttons" }, button(texts.back, back), button(texts.agree, goOn, { class: "primary" })));
}

// What a report would tell of somebody. Those who choose wrongly read why, and may go on. Where every report tells
// something for certain, there is nothing to check.
export function checkUnderstanding(page, goOn, back) {
  const { language, survey, texts } = page;
  const found = answerByChance(survey);
  if (!found) return goOn();
  const example = found.question;
  const answer = said("bdi", found.answer.text, language);
  const told = h("p", { role: "status" });
  const next = button(texts.next, goOn, { class: "primary" });
  const choose = (right) => {
    told.textContent = `${right ? texts.understood : texts.misunderstood} ${factOf(page, example)}`;
    next.hidden = false;
  };
  const option = (text, right) => h("label", { class: "option" },
    h("input", { type: "radio", name: "understanding", onchange: () => choose(right) }), h("span", {}, text));
  next.hidden = true;
  show(
    h("fieldset", { class: "consent" },
      h("legend", {}, h("h1", {}, filled(texts.understandingTitle, { answer }))),
      said("p", example.text, language, { class: "question" }),
      option(filled(texts.understandingWrong, { answer: answer.cloneNode(true) }), false),
      option(texts.understandingRight, true)),
    told,
    h("p", { class: "note" }, texts.onDevice),
    h("p", { class: "buttons" }, button(texts.back, back), next));
}
