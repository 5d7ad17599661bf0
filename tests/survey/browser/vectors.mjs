// Hold the page's own modules to the conformance vectors: node vectors.mjs PAGE-FOLDER CONFORMANCE-FOLDER.
// Prints the names of vectors that fail, and how many there were, as JSON.

import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const [page, vectors] = process.argv.slice(2);
const { flip } = await import(pathToFileURL(`${page}/coins.js`));
const { readPlanDocument } = await import(pathToFileURL(`${page}/plan.js`));
const { Refused } = await import(pathToFileURL(`${page}/rules.js`));
const { sha256 } = await import(pathToFileURL(`${page}/hash.js`));
const { checkVectors } = await import("./check_vectors.mjs");

const read = (name) => JSON.parse(readFileSync(`${vectors}/${name}.json`, "utf-8")).vectors;
const files = { coins: read("coins"), reports: read("reports"), refused: read("refused") };
const found = checkVectors(files, { flip, readPlanDocument, Refused });

// Lengths around the ends of blocks, against the hash of the platform.
const { createHash } = await import("node:crypto");
for (let length = 0; length < 300; length++) {
  const bytes = Uint8Array.from({ length }, (_, i) => (7 * i + length) % 256);
  found.checked += 1;
  if (sha256(bytes) !== createHash("sha256").update(bytes).digest("hex")) found.failed.push(`sha256 of ${length} bytes`);
}
console.log(JSON.stringify(found));
