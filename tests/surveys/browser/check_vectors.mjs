// The same check for Node and for a browser: every vector shown, reported, consumed and refused as it must be.

import { readerOfPlanDocuments } from "./plan_document.mjs";

export async function checkVectors({ coins, reports, refused }, page) {
  const { flip, Refused } = page;
  const readPlanDocument = readerOfPlanDocuments(page);
  const failed = [];
  const attempt = async (name, check) => {
    try {
      if (!(await check())) failed.push(name);
    } catch (reason) {
      failed.push(`${name}: ${reason}`);
    }
  };
  for (const vector of coins) await attempt(vector.name, () => coinsAgree(vector, flip));
  for (const vector of reports) await attempt(vector.name, () => reportsAgree(vector, flip, readPlanDocument));
  for (const vector of refused) await attempt(vector.name, () => isRefused(vector, readPlanDocument, Refused));
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

async function reportsAgree({ document, truths, words, reports, consumed }, flip, readPlanDocument) {
  const [plan, stream] = [await readPlanDocument(document), counted(words)];
  const found = truths.map((truth) => plan.respond(truth, flip(plan.coins, stream)));
  return same(found, reports) && stream.used === consumed;
}

// A mistake of the page's own must not pass for a refusal.
async function isRefused({ document }, readPlanDocument, Refused) {
  try {
    await readPlanDocument(document);
  } catch (reason) {
    if (reason instanceof Refused) return true;
    throw reason;
  }
  return false;
}
