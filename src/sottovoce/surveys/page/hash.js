// SHA-256 (FIPS 180-4), our own because browsers offer theirs on secure connections only; tested against theirs.

const ROOTS = primes(64).map((prime) => fractionBits(Math.cbrt(prime)));
const START = primes(8).map((prime) => fractionBits(Math.sqrt(prime)));

function primes(count) {
  const smaller = [];
  for (let n = 2; smaller.length < count; n++) if (smaller.every((prime) => n % prime)) smaller.push(n);
  return smaller;
}

// First 32 bits of a number's fractional part.
function fractionBits(root) {
  return Math.floor((root - Math.floor(root)) * 2 ** 32) | 0;
}

const rotate = (word, bits) => (word >>> bits) | (word << (32 - bits));

// Hash of some bytes, in hexadecimal digits.
export function sha256(bytes) {
  const blocks = Math.ceil((bytes.length + 9) / 64);
  const padded = new DataView(new ArrayBuffer(64 * blocks));
  bytes.forEach((byte, index) => padded.setUint8(index, byte));
  padded.setUint8(bytes.length, 0x80);
  padded.setBigUint64(64 * blocks - 8, 8n * BigInt(bytes.length));
  const state = Int32Array.from(START);
  for (let block = 0; block < blocks; block++) absorb(state, padded, 64 * block);
  return [...state].map((word) => (word >>> 0).toString(16).padStart(8, "0")).join("");
}

function absorb(state, padded, start) {
  const w = new Int32Array(64);
  for (let t = 0; t < 16; t++) w[t] = padded.getInt32(start + 4 * t);
  for (let t = 16; t < 64; t++) {
    const s0 = rotate(w[t - 15], 7) ^ rotate(w[t - 15], 18) ^ (w[t - 15] >>> 3);
    const s1 = rotate(w[t - 2], 17) ^ rotate(w[t - 2], 19) ^ (w[t - 2] >>> 10);
    w[t] = w[t - 16] + s0 + w[t - 7] + s1;
  }
  let [a, b, c, d, e, f, g, h] = state;
  for (let t = 0; t < 64; t++) {
    const chosen = (e & f) ^ (~e & g);
    const t1 = (h + (rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25)) + chosen + ROOTS[t] + w[t]) | 0;
    const majority = (a & b) ^ (a & c) ^ (b & c);
    const t2 = ((rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22)) + majority) | 0;
    [h, g, f, e, d, c, b, a] = [g, f, e, (d + t1) | 0, c, b, a, (t1 + t2) | 0];
  }
  [a, b, c, d, e, f, g, h].forEach((word, index) => (state[index] += word));
}
