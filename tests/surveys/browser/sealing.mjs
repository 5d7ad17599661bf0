// Read a survey with the script of a page, and seal the first answer to everything: node sealing.mjs SCRIPT SURVEY HASH.
// Prints what is sent, or why the survey is refused.

import "./blank_page.mjs";

import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const [path, document, hash] = process.argv.slice(2);
const { readSurvey, Refused, seal } = await import(pathToFileURL(path));

try {
  const survey = readSurvey(readFileSync(document), hash);
  const answers = new Map(survey.questions.map(({ id, answers: [first] }) => [id, [first.id]]));
  console.log(seal(survey, hash, null, answers));
} catch (reason) {
  if (!(reason instanceof Refused)) throw reason;
  console.log(reason.message);
}
