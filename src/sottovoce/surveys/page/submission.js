// Sealing a report, sending those very bytes until they are acknowledged, and remembering no more than that.

import { flip, secureWords } from "./coins.js";
import { truthOf } from "./documents.js";
import { sha256 } from "./hash.js";

const hex = (bytes) => [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");

// Codes of a report as bytes: one for each column, two where it has more than 256 codes.
export const encode = (codes, sizes) =>
  hex(codes.flatMap((code, column) => (sizes[column] > 256 ? [code >> 8, code & 255] : [code])));

export function decode(report, sizes) {
  const bytes = report.match(/../g).map((pair) => parseInt(pair, 16));
  return sizes.map((size) => (size > 256 ? 256 * bytes.shift() + bytes.shift() : bytes.shift()));
}

// Toss the coins and make the one report there will ever be. Answers and coins are gone when this returns.
export function seal(survey, hash, token, answers) {
  const { mechanisms } = survey;
  const codes = mechanisms.respond(truthOf(survey, answers), flip(mechanisms.coins, secureWords()));
  answers.clear();
  const key = hex(crypto.getRandomValues(new Uint8Array(16)));
  return JSON.stringify({ survey: hash, report: encode(codes, mechanisms.reportSizes), key, token });
}

export function receiptOf(sealed) {
  const { survey, report, key } = JSON.parse(sealed);
  return sha256(new TextEncoder().encode(survey + report + key)).slice(0, 16);
}

export const tokenOf = (sealed) => JSON.parse(sealed).token;

// The same report under another invitation, where the first one was refused: no coin is tossed again.
export const withToken = (sealed, token) => JSON.stringify({ ...JSON.parse(sealed), token });

// A browser may refuse to store anything.
function stored(use) {
  try {
    return use(localStorage);
  } catch {
    return null;
  }
}

// What this device keeps of a survey: a sealed report on its way, or the fact that it was answered. Where it stores
// nothing, the page knows it as long as it is open.
export class Memory {
  #sealed = null;
  #answered = null;

  constructor(hash) {
    this.sealedName = `sottovoce sealed ${hash}`;
    this.answeredName = `sottovoce answered ${hash}`;
  }

  get sealed() {
    return stored((storage) => storage.getItem(this.sealedName)) ?? this.#sealed;
  }

  set sealed(text) {
    this.#sealed = text;
    stored((storage) => storage.setItem(this.sealedName, text));
  }

  get answered() {
    return stored((storage) => storage.getItem(this.answeredName)) ?? this.#answered;
  }

  acknowledge() {
    this.#answered = "yes";
    stored((storage) => storage.setItem(this.answeredName, "yes"));
    stored((storage) => storage.removeItem(this.sealedName));
  }
}

const pause = (seconds) =>
  new Promise((resume) => {
    const timer = setTimeout(resume, 1000 * seconds);
    addEventListener("online", () => (clearTimeout(timer), resume()), { once: true });
  });

// Send the sealed bytes until the server says that it has them, or that it never will; `waiting` is called before each pause.
export async function send(url, sealed, waiting) {
  for (let wait = 1; ; wait = Math.min(2 * wait, 60)) {
    const answer = await attempt(url, sealed);
    if (answer.receipt) return answer.receipt === receiptOf(sealed) ? answer : { reason: "receipt", error: "receipt" };
    if (answer.error) return answer;
    const seconds = answer.after ?? wait;
    waiting(seconds);
    await pause(seconds);
  }
}

async function attempt(url, body) {
  try {
    const response = await fetch(url, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body,
      credentials: "omit",
      referrerPolicy: "no-referrer",
      cache: "no-store",
    });
    if (response.status === 429 || response.status >= 500) {
      return { after: Number(response.headers.get("Retry-After")) || null };
    }
    return await response.json();
  } catch {
    return {};
  }
}
