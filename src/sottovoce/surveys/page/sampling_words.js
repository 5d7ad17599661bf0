// What the page says where the device picks some of the answers at random and sends nothing about the others.

import { fill } from "./view.js";

// How many answers are picked, at least and at most, and of how many; null where every answer is told.
export function picks(survey) {
  const groups = survey.mechanisms.groups.filter(({ mechanism }) => mechanism.picked);
  if (!groups.length) return null;
  const total = (count) => groups.reduce((sum, group) => sum + count(group), 0);
  return {
    least: total(({ mechanism }) => Math.min(...mechanism.picked)),
    most: total(({ mechanism }) => Math.max(...mechanism.picked)),
    of: total(({ attributes }) => attributes.length),
  };
}

// The sentence about the picks before the first question, or null. It speaks of all answers, or of some of the questions.
export function picksInWords(survey, language, texts) {
  const found = picks(survey);
  if (!found) return null;
  const { least, most, of } = found;
  const numbers = new Intl.NumberFormat(language);
  const picked = least === most ? numbers.format(most) : numbers.formatRange(least, most);
  const whole = most === 1 ? texts.sampledOne : texts.sampled;
  return fill(of === survey.questions.length ? whole : texts.sampledSome, { picked, of: numbers.format(of) });
}

// The sentence about the picks before sending, or null.
export const picksInReview = (survey, texts) => (picks(survey) ? texts.reviewSampled : null);
