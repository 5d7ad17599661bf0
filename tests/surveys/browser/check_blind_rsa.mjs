// The same check for Node and for a browser: RFC 9474's vectors, and everything that must be refused.

export async function checkVectors(vectors, { blind, invert, publicKey, unblind }) {
  const failed = [];
  const digits = (text) => text.replace(/^0x/, "");
  const bytes = (text) => Uint8Array.from(text.match(/../g) ?? [], (pair) => parseInt(pair, 16));
  for (const { name, n, input_msg, sLen, salt, inv, blinded_msg, blind_sig, sig } of vectors) {
    const key = publicKey(digits(n), 4096, Number(sLen));
    const [message, inverse] = [bytes(input_msg), BigInt(inv)];
    const found = await blind(key, message, bytes(salt), { factor: invert(inverse, key.modulus), inverse });
    if (found.blinded !== blinded_msg) failed.push(`${name}: blinded`);
    if (BigInt(`0x${found.inverse}`) !== inverse) failed.push(`${name}: inverse`);
    if ((await unblind(key, message, blind_sig, found.inverse)) !== sig) failed.push(`${name}: signature`);
  }
  return { checked: vectors.length, failed };
}

// Text of a refusal; a mistake of the page's own must not pass for one.
export async function refusal(call, { Refused }) {
  try {
    await call();
  } catch (reason) {
    if (reason instanceof Refused) return reason.message;
    throw reason;
  }
  return null;
}

// A key with a small divisor, as only a dishonest or broken server has one: factors without inverse are drawn again,
// and messages that share the divisor are refused.
export async function checkDivisor(modulus, page) {
  const key = page.publicKey(modulus);
  const factors = Array.from({ length: 60 }, () => page.drawFactor(key));
  const fair = factors.every(({ factor, inverse }) =>
    0n < factor && factor < key.modulus && (factor * inverse) % key.modulus === 1n);
  const refused = new Set();
  for (let i = 0; i < 60; i++) refused.add(await refusal(() => page.prepare(key), page));
  return { fair, without: page.invert(3n, key.modulus), refused: [...refused].sort() };
}

// Milliseconds that a respondent waits: preparing, and finishing with a signature that turns out wrong only at the end.
export async function time(admission, signature, page) {
  const start = performance.now();
  const key = page.readKey(admission);
  const prepared = await page.prepare(key);
  await refusal(() => page.finalize(key, prepared, signature), page);
  return performance.now() - start;
}

// One call by name: its result, or why it was refused. "each" makes several.
export async function called(name, values, page) {
  const checks = { checkVectors, checkDivisor, time };
  if (name === "each") return Promise.all(values.map(([each, others]) => called(each, others, page)));
  if (name in checks) return checks[name](...values, page);
  let result = "read";
  const refused = await refusal(async () => {
    const [admission, ...others] = values;
    const key = page.readKey(admission);
    if (name !== "readKey") result = await page[name](key, ...others);
  }, page);
  return refused === null ? { result } : { refused };
}
