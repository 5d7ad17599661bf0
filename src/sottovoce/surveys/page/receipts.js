// Check that a report is stored. The device downloads many receipts and looks for its own among them by itself.

import { pause } from "./requests.js";
import { button, fill, h } from "./view.js";

// Up to so many receipts, the server lists all: asking for a 256th of fewer would tell which one is meant.
const MOST_WHOLE = 4096;

// Lists may be some seconds old, so a receipt that is missing is looked for once more.
const SECONDS = 3;

// A button that looks for the receipt, and what it found.
export function receiptCheck({ home, language, texts }, receipt) {
  const told = h("p", { role: "status", class: "note" });
  const check = async () => {
    told.textContent = texts.receiptChecking;
    const listed = await search(`${home}/receipts`, receipt);
    const count = new Intl.NumberFormat(language).format(listed?.length ?? 0);
    if (!listed) told.textContent = texts.receiptOffline;
    else told.textContent = listed.includes(receipt) ? fill(texts.receiptStored, { count }) : texts.receiptMissing;
  };
  return h("div", { class: "receipt-check" }, button(texts.receiptCheck, check), told);
}

// The list in which the receipt is or should be; null without a connection, or where there is no such list.
async function search(address, receipt) {
  const listed = await download(address, receipt);
  if (!listed || listed.includes(receipt)) return listed;
  await pause(SECONDS);
  return download(address, receipt);
}

async function download(address, receipt) {
  const whole = await get(address);
  if (whole?.receipts !== null) return listOf(whole?.receipts);
  return whole.count > MOST_WHOLE ? listOf(await get(`${address}/${receipt.slice(0, 2)}`)) : null;
}

const listOf = (found) => (Array.isArray(found) ? found : null);

async function get(address) {
  try {
    const response = await fetch(address, { credentials: "omit", referrerPolicy: "no-referrer", cache: "no-store" });
    return response.ok ? await response.json() : undefined;
  } catch {
    return undefined;
  }
}
