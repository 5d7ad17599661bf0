// Sealing a report, the moment at which it is sent, and the link that carries it elsewhere.

import { flip, secureWords } from "./coins.js";
import { publicCodes, truthOf } from "./documents.js";
import { hex, sha256 } from "./hash.js";

// Codes of a report as bytes: one for each column, two where it has more than 256 codes.
export const encode = (codes, sizes) =>
  hex(codes.flatMap((code, column) => (sizes[column] > 256 ? [code >> 8, code & 255] : [code])));

export function decode(report, sizes) {
  const bytes = report.match(/../g).map((pair) => parseInt(pair, 16));
  return sizes.map((size) => (size > 256 ? 256 * bytes.shift() + bytes.shift() : bytes.shift()));
}

// Toss the coins and make the body of the one report there will ever be. Answers and coins are gone when this returns.
// It is sent with `proof`: credential and signature where there is admission, else a key and the invitation or null.
export function seal(survey, hash, answers, proof) {
  const { mechanisms } = survey;
  const disguised = mechanisms.respond(truthOf(survey, answers), flip(mechanisms.coins, secureWords()));
  const codes = [...disguised, ...publicCodes(survey, answers)];
  answers.clear();
  return bodyOf(hash, encode(codes, mechanisms.reportSizes), proof);
}

const bodyOf = (hash, report, proof) => JSON.stringify({ survey: hash, report, ...proof });

// A key for a report that has no credential, by which the server knows it again when it comes twice.
export const newKey = () => hex(crypto.getRandomValues(new Uint8Array(16)));

export async function receiptOf(body) {
  const { survey, report, credential, key } = JSON.parse(body);
  return (await sha256(survey + report + (credential ?? key))).slice(0, 16);
}

// A random moment, in milliseconds, within the next whole interval of the clock. Intervals are the same for everybody:
// a moment at a fixed distance from loading the page would tell who sends. Without an interval it is always time.
export function sendMoment(interval) {
  if (!interval) return 0;
  const [word] = crypto.getRandomValues(new Uint32Array(1));
  const next = Math.floor(Date.now() / 1000 / interval) + 1;
  return Math.floor(1000 * interval * (next + word / 2 ** 32));
}

// What follows the # in a link that carries a sealed report; it is never part of a request's address.
export function sealedFragment(hash, { body, moment }) {
  const { report, credential, signature, key } = JSON.parse(body);
  return [hash, "sealed", moment, report, ...(credential ? [credential, signature] : [key])].join(".");
}

// The sealed report of such a link, the very bytes as they were sealed; null where something is missing.
export function readSealed(survey, hash, [moment, report, ...digits]) {
  const sizes = survey.mechanisms.reportSizes;
  const expected = [encode(sizes.map(() => 0), sizes).length, ...(survey.key ? [64, 512] : [32])];
  const parts = [report, ...digits];
  const whole = (part, i) => part?.length === expected[i] && /^[0-9a-f]*$/.test(part);
  if (!/^\d{1,15}$/.test(moment) || parts.length !== expected.length || !parts.every(whole)) return null;
  if (decode(report, sizes).some((code, column) => code >= sizes[column])) return null;
  const [first, signature] = digits;
  const proof = survey.key ? { credential: first, signature } : { key: first, token: null };
  return { state: "sealed", body: bodyOf(hash, report, proof), moment: Number(moment), held: false };
}

// The same report under another invitation, where the first one was refused: no coin is tossed again. In surveys frozen
// by 0.1 the invitation travels with the report.
export const withToken = (body, token) => JSON.stringify({ ...JSON.parse(body), token });
