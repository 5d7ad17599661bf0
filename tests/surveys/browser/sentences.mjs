// Sentences about a survey's coins, from the page's modules: node sentences.mjs FOLDER SURVEY HASH. Prints JSON: by
// language and question the fact, what is said below a report that names one label, and the unrelated question; by
// language and joint report what is said below it.

import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const [folder, document, hash] = process.argv.slice(2);
const module = (name) => import(pathToFileURL(`${folder}/${name}.js`));
const [{ readSurvey }, { labels }, sentences] = await Promise.all(["documents", "schema", "sentences"].map(module));

const survey = await readSurvey(readFileSync(document), hash);
const found = {};
for (const language of survey.languages) {
  const texts = (await module(`texts/${language}`)).words;
  const page = { language, survey, texts };
  found[language] = Object.fromEntries(survey.questions.map((question) => {
    const column = survey.mechanisms.reports.find(({ name }) => name === question.id);
    const also = column ? labels(column).map((label) => sentences.alsoSent(page, { column, labels: [label], question })) : null;
    const unrelated = question.unrelated ? sentences.unrelatedInWords(page, question) : null;
    return [question.id, { fact: sentences.factOf(page, question), also, unrelated }];
  }));
  for (const column of survey.mechanisms.reports.filter(({ name }) => !(name in found[language]))) {
    found[language][column.name] = sentences.alsoSent(page, { column, labels: [], question: undefined });
  }
}
console.log(JSON.stringify(found));
