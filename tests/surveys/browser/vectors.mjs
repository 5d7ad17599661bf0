// Hold the script of a page to the conformance vectors: node vectors.mjs SCRIPT CONFORMANCE-FOLDER.
// Prints the names of vectors that fail, and how many there were, as JSON.

import "./blank_page.mjs";

import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { checkVectors } from "./check_vectors.mjs";

const [path, vectors] = process.argv.slice(2);
const script = await import(pathToFileURL(path));

const read = (name) => JSON.parse(readFileSync(`${vectors}/${name}.json`, "utf-8")).vectors;
const found = checkVectors({ coins: read("coins"), reports: read("reports"), refused: read("refused") }, script);

// Lengths around the ends of blocks, against the hash of the platform.
for (let length = 0; length < 300; length++) {
  const bytes = Uint8Array.from({ length }, (_, i) => (7 * i + length) % 256);
  found.checked += 1;
  if (script.sha256(bytes) !== createHash("sha256").update(bytes).digest("hex")) {
    found.failed.push(`sha256 of ${length} bytes`);
  }
}
console.log(JSON.stringify(found));
