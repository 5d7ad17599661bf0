// The same check for Node and for a browser: every vector shown, reported, consumed and refused as it must be.

import { readerOfPlanDocuments } from "./plan_document.mjs";

export function checkVectors({ coins, reports, refused }, script) {
  const { flip, Refused } = script;
  const readPlanDocument = readerOfPlanDocuments(script);
  const failed = [];
  const attempt = (name, check) => {
    try {
      if (!check()) failed.push(name);
    } catch (reason) {
      failed.push(`${name}: ${reason}`);
    }
  };
  for (const vector of coins) attempt(vector.name, () => coinsAgree(vector, flip));
  for (const vector of reports) attempt(vector.name, () => reportsAgree(vector, flip, readPlanDocument));
  for (const vector of refused) attempt(vector.name, () => isRefused(vector, readPlanDocument, Refused));
  return { checked: coins.length + reports.length + refused.length, failed };
}

function counted(words) {
  const stream = { used: 0, next: () => ({ value: words[stream.used++] }) };
  return stream;
}

const same = (a, b) => JSON.stringify(a) === JSON.stringify(b);

function coinsAgree({ sides, words, shown, consumed }, flip) {
  const stream = counted(words);
  const found = shown.map(() => flip(sides.map(BigInt), stream).map(String));
  return same(found, shown) && stream.used === consumed;
}

function reportsAgree({ document, truths, words, reports, consumed }, flip, readPlanDocument) {
  const [plan, stream] = [readPlanDocument(document), counted(words)];
  const found = truths.map((truth) => plan.respond(truth, flip(plan.coins, stream)));
  return same(found, reports) && stream.used === consumed;
}

// A mistake of the page's own must not pass for a refusal.
function isRefused({ document }, readPlanDocument, Refused) {
  try {
    readPlanDocument(document);
  } catch (reason) {
    if (reason instanceof Refused) return true;
    throw reason;
  }
  return false;
}
