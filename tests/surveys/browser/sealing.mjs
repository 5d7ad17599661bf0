// Read a survey with the page's modules, and seal the first answer to everything: node sealing.mjs FOLDER SURVEY HASH.
// Prints what is sent, or why the survey is refused.

import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const [folder, document, hash] = process.argv.slice(2);
const module = (name) => import(pathToFileURL(`${folder}/${name}.js`));
const [{ readSurvey }, { Refused }, { seal }] = await Promise.all(["documents", "rules", "submission"].map(module));

try {
  const survey = await readSurvey(readFileSync(document), hash);
  const answers = new Map(survey.questions.map(({ id, answers: [first] }) => [id, [first.id]]));
  console.log(seal(survey, hash, answers, {}));
} catch (reason) {
  if (!(reason instanceof Refused)) throw reason;
  console.log(reason.message);
}
