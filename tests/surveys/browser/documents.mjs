// Which documents the page reads: node documents.mjs FOLDER LIST, a JSON list of texts. Prints JSON: of each null, or why
// it is refused.

import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const [folder, documents] = process.argv.slice(2);
const { readSurvey } = await import(pathToFileURL(`${folder}/documents.js`));

const found = [];
for (const text of JSON.parse(readFileSync(documents, "utf8"))) {
  const bytes = Buffer.from(text, "utf8");
  const hash = createHash("sha256").update(bytes).digest("hex");
  found.push(await readSurvey(bytes, hash).then(() => null, (reason) => `${reason.name}: ${reason.message}`));
}
console.log(JSON.stringify(found));
