// Codes of reports in the words of the survey.

import { fill } from "./dom.js";
import { asText, labels } from "./schema.js";

// Odds as people read them, rounded up to a tenth: a promise must not be made smaller than it is.
export function oddsInWords([above, below], language) {
  const tenths = (10n * above + below - 1n) / below;
  return new Intl.NumberFormat(language, { maximumFractionDigits: 1 }).format(Number(tenths) / 10);
}

// Every column of a report: what it is about, the answers it names, and what it says. A set for a question that has
// one answer says that it is one of these.
export function reportInWords(survey, codes, language, texts) {
  let used = 0;
  return survey.mechanisms.reports.map((column) => {
    const question = survey.questions.find(({ id }) => id === column.name);
    const known = labels(column);
    const name = (label) => answerText(question, label, language, texts);
    const own = codes.slice(used, (used += column.kind === "items" ? known.length : 1));
    const named = column.kind === "items" ? known.filter((_, place) => own[place]).map(name) : [name(known[own[0]])];
    const said = inOneLine(named, language) || texts.nothing;
    const isSet = column.kind === "items" && named.length > 0 && question?.kind !== "several";
    const about = question ? question.text[language] : column.name;
    return { about, named, said: isSet ? fill(texts.oneOf, { said }) : said };
  });
}

// Several answers in one line, as the language puts them.
export const inOneLine = (said, language) =>
  new Intl.ListFormat(language, { style: "short", type: "unit" }).format(said);

// Text of an answer by its label, which may also be one of the labels that the plan adds.
function answerText(question, label, language, texts) {
  const answer = question?.answers.find(({ id }) => id === label);
  if (answer) return answer.text[language];
  const text = asText(label);
  if (question?.decline && text.startsWith("no answer")) return question.decline[language];
  return text.startsWith("not asked") ? texts.notAsked : text;
}
