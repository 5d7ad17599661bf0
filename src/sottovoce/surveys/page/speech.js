// The page's own words. The server joins those of a survey's first language to its script; others are loaded if wanted.

import { ar } from "./texts/ar.js";
import { de } from "./texts/de.js";
import { en } from "./texts/en.js";
import { es } from "./texts/es.js";
import { fr } from "./texts/fr.js";

const SPOKEN = ["ar", "de", "en", "es", "fr"];

const WORDS = {};
WORDS.ar = ar;
WORDS.de = de;
WORDS.en = en;
WORDS.es = es;
WORDS.fr = fr;

export const primary = (tag) => tag.split("-")[0];

// Words in a language, or in English where there are none in it.
export async function wordsIn(tag) {
  const spoken = SPOKEN.includes(primary(tag)) ? primary(tag) : "en";
  return WORDS[spoken] ?? (await import(`/assets/texts/${spoken}.js`))[spoken];
}
