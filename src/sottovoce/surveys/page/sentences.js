// Sentences about a survey's coins. Every number in them is computed from the integers of its plan and rounded against
// us: people who send what is not true of them are rounded down, odds are rounded up.

import { factsOf, perHundred, strength } from "./facts.js";
import { ownCoins } from "./own_coins.js";
import { exceeds, largestRatio } from "./rules.js";
import { answerName, fill } from "./view.js";

// A share of people: "25 of 100", "one in 412", or none.
export function shareInWords(share, { language, texts }) {
  const { count, oneIn } = perHundred(share);
  const shown = (number) => new Intl.NumberFormat(language).format(number);
  if (count) return fill(texts.share, { count: shown(count) });
  return oneIn ? fill(texts.rareShare, { people: shown(oneIn) }) : texts.noShare;
}

export const smallest = (shares) => shares.reduce((a, b) => (exceeds(a, b) ? b : a));

// How the words speak of the whole survey: deniable, weak or veryWeak.
export const strengthOfWords = (survey) => strength(survey).replace(" w", "W");

// What the coins do to the answers to a question.
export function factOf(page, question) {
  const { survey, texts } = page;
  if (question.public) return texts.publicNote;
  const facts = spokenFacts(survey, question);
  const { form, grouped, omitted, sampled, shares } = facts;
  const inWords = (found) => shareInWords(smallest([...found]), page);
  const yesNo = ([no, yes]) =>
    ({ first: inWords([shares.get(yes.id)]), second: inWords([shares.get(no.id)]), yes: yes.said, no: no.said });
  const numbers = {
    yes_no: () => yesNo(twoAnswers(page, question)),
    items: () => ({ first: inWords(shares.values()), second: inWords(omitted.values()) }),
  };
  const certain = [...shares.values(), ...(omitted?.values() ?? [])].some(isNever);
  const said = certain ? certainFact(page, question, facts)
    : fill(texts.facts[form], numbers[form]?.() ?? { share: inWords(shares.values()) });
  return [sampled && texts.ifPicked, said, grouped && texts.sharedCoins].filter(Boolean).join(" ");
}

const isNever = ([above]) => above === 0n;

// The same where something is never sent by some people of whom it is not true. Of two answers, it can be said which one.
function certainFact(page, question, { form, grouped, omitted, shares }) {
  const { language, texts } = page;
  if (form === "items") return ofItems(page, [...shares.values()], [...omitted.values()]);
  const sent = [...shares].find(([, share]) => !isNever(share));
  if (form === "symbols" || grouped || shares.size !== 2 || !sent) return texts.never.some;
  const name = (label) => answerName(question, label, language, texts);
  const [only] = [...shares.keys()].filter((label) => label !== sent[0]);
  return fill(texts.never.two, { sent: name(sent[0]), only: name(only), share: shareInWords(sent[1], page) });
}

// How often some items are sent by people who did not choose them, and others left out by people who did.
function ofItems(page, chosen, left) {
  const { texts } = page;
  const told = (found, words, certain) => {
    if (!found.length) return null;
    return found.some(isNever) ? certain : fill(words, { share: shareInWords(smallest(found), page) });
  };
  return [told(chosen, texts.alsoChosen, texts.never.chosen), told(left, texts.alsoLeft, texts.never.left)]
    .filter(Boolean).join(" ");
}

// Only yes and no can be said in words of truth: "it is true" says nothing of two other answers.
function spokenFacts(survey, question) {
  const facts = factsOf(survey, question);
  return facts.form === "yes_no" && question.kind !== "yes_no" ? { ...facts, form: "answers" } : facts;
}

// The answer that says no and the one that says yes, whatever their order and their words.
function twoAnswers({ language }, question) {
  const named = question.answers.map(({ id, text }) => ({ id, said: text[language] }));
  return named[0].id === "yes" ? [named[1], named[0]] : named;
}

// How often what a column of a report says is sent by people of whom it is not true; `labels` are those it names. Of
// people whose devices leave the question out, nobody sends it.
export function alsoSent(page, { column, labels, question }) {
  const { language, survey, texts } = page;
  if (!question) { // a joint report: what holds of each of its questions
    const { attributes } = survey.mechanisms.groups.find(({ reported }) => reported.includes(column));
    const asked = survey.questions.filter(({ id }) => attributes.includes(id));
    return asked.map((one) => `${one.text[language]} ${factOf(page, one)}`).join(" ");
  }
  if (question.public) return texts.publicNote;
  const { form, grouped, omitted, sampled, shares } = spokenFacts(survey, question);
  const named = labels.filter((label) => shares.has(label)).map((label) => shares.get(label));
  if (form === "items") {
    return ofItems(page, named, [...omitted].filter(([label]) => !labels.includes(label)).map(([, share]) => share));
  }
  if (!named.length) return ""; // an empty set, or a question about which nothing was sent
  const [, yes] = form === "yes_no" ? twoAnswers(page, question) : [];
  const words = yes ? (labels[0] === yes.id ? texts.alsoYes : texts.alsoNo) : texts.also[form];
  const certain = form !== "symbols" && shares.size === 2 && !grouped ? texts.never.only : texts.never.rulesOut;
  const said = named.some(isNever) ? certain : fill(words, { share: shareInWords(smallest(named), page) });
  return [sampled && texts.amongPicked, said].filter(Boolean).join(" ");
}

// The answer that fewest people send of whom it is not true, and how many of a hundred do; null below one.
export function rarestAnswer(page, question) {
  const { form, sampled, shares } = factsOf(page.survey, question);
  if (form === "symbols" || form === "items") return null;
  const answers = question.answers.filter(({ id }) => shares.has(id));
  const answer = answers.reduce((a, b) => (exceeds(shares.get(b.id), shares.get(a.id)) ? a : b));
  const { count } = perHundred(shares.get(answer.id));
  return count ? { answer: answer.text, count: Number(count), form, sampled } : null;
}

// Odds of the question that is protected least; null where an answer can be ruled out.
export const worstOdds = (survey) => largestRatio(survey.mechanisms.groups.map(({ mechanism }) => mechanism.odds));

// How often the harmless question stands in for the one that is asked; its text may be given as an element.
export function unrelatedInWords(page, question, write = fill, unrelated = question.unrelated[page.language]) {
  const { survey, texts } = page;
  const { mechanism } = survey.mechanisms.groups.find(({ attributes }) => attributes.includes(question.id));
  return write(texts.unrelated, { share: shareInWords(mechanism.drawn, page), unrelated });
}

// The first question with one answer whose coins can be tried by themselves; null where there is none.
export const exampleQuestion = (survey) =>
  survey.questions.find((one) => one.kind !== "several" && !one.public && ownCoins(survey, one)) ?? null;

// A question, and the last of its answers that chance also sends for people with another one; null where there is none.
export function answerByChance(survey) {
  const disguised = survey.questions.filter((question) => !question.public);
  for (const question of [exampleQuestion(survey), ...disguised]) {
    const { form, shares } = question ? factsOf(survey, question) : { form: "symbols" };
    const answer = form === "symbols" ? null : question.answers.findLast(({ id }) => !perHundred(shares.get(id)).never);
    if (answer) return { question, answer };
  }
  return null;
}
