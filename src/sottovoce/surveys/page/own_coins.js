// The coins of one question by itself, for trying them: those that are tossed if the device picks the question, and of
// coins that several questions share, what they do to this one.

import { answerColumns } from "./schema.js";

// Coins of one answer, whether they are tossed only if it is picked, and the attribute that they report; null where the
// question's report cannot be told from others'.
export function ownCoins(survey, { id }) {
  const group = survey.mechanisms.groups.find(({ attributes }) => attributes.includes(id));
  const { attributes, mechanism, reported } = group;
  if (attributes.length === 1) return { mechanism, picked: false, reported };
  const at = attributes.indexOf(id);
  const asked = mechanism.ifPicked?.(at) ?? (mechanism.reportsAnswers ? { at, mechanism, count: attributes.length } : null);
  if (!asked) return null;
  const truth = (code) => Array.from({ length: asked.count }, (_, i) => (i === asked.at ? code : 0));
  return {
    mechanism: {
      coins: asked.mechanism.coins,
      respond: ([code], shown) => [asked.mechanism.respond(truth(code), shown)[asked.at]],
    },
    picked: Boolean(mechanism.ifPicked),
    reported: answerColumns([survey.plan.schema.find(({ name }) => name === id)]),
  };
}
