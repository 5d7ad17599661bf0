// Hold the page's modules to the conformance vectors: node vectors.mjs FOLDER CONFORMANCE-FOLDER.
// Prints the names of vectors that fail, and how many there were, as JSON.

import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { checkVectors } from "./check_vectors.mjs";

const [folder, vectors] = process.argv.slice(2);
const parts = await Promise.all(["coins", "documents", "hash", "rules"].map((name) =>
  import(pathToFileURL(`${folder}/${name}.js`))));
const page = Object.assign({}, ...parts);

const read = (name) => JSON.parse(readFileSync(`${vectors}/${name}.json`, "utf-8")).vectors;
const found = await checkVectors({ coins: read("coins"), reports: read("reports"), refused: read("refused") }, page);
console.log(JSON.stringify(found));
