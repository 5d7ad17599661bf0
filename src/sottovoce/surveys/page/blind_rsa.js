// Blind RSA signatures, RSABSSA-SHA384-PSS-Deterministic of RFC 9474: the server signs a credential without seeing it.
// Numbers are BigInt; what is kept and sent is written in hexadecimal digits.

import { gcd, require, requireKeys } from "./rules.js";

const KIND = "RSABSSA-SHA384-PSS-Deterministic";
const [BITS, EXPONENT, SALT_BYTES, CREDENTIAL_BYTES, HASH_BYTES] = [2048, 65537, 48, 32, 48];
const HASH = "SHA-384";

const toHex = (bytes) => [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
const toBytes = (digits) => Uint8Array.from(digits.match(/../g) ?? [], (pair) => parseInt(pair, 16));
const toNumber = (bytes) => BigInt(`0x${toHex(bytes)}`);
const toDigits = (number, { length }) => number.toString(16).padStart(2 * length, "0");

const random = (length) => crypto.getRandomValues(new Uint8Array(length));

async function hash(...parts) {
  const bytes = Uint8Array.from(parts.flatMap((part) => [...part]));
  return new Uint8Array(await crypto.subtle.digest(HASH, bytes));
}

// Key of a survey's document: an odd modulus of exactly 2048 bits, with the exponent 65537.
export function readKey(admission) {
  requireKeys(admission, ["exponent", "kind", "modulus"]);
  const { exponent, kind, modulus } = admission;
  require(kind === KIND, "an unknown kind of admission");
  require(exponent === EXPONENT, `another exponent than ${EXPONENT}`);
  return publicKey(modulus);
}

// Size and salt are parameters because the RFC's test vectors have others.
export function publicKey(digits, bits = BITS, saltBytes = SALT_BYTES) {
  const length = bits / 8;
  requireDigits(digits, length, "modulus");
  const modulus = BigInt(`0x${digits}`);
  require(modulus % 2n === 1n, "an even modulus");
  require(modulus >> BigInt(bits - 1) === 1n, `a modulus of less than ${bits} bits`);
  return { modulus, length, saltBytes };
}

function requireDigits(digits, length, name) {
  const written = typeof digits === "string" && digits.length === 2 * length && /^[0-9a-f]+$/.test(digits);
  require(written, `${name} without ${2 * length} hexadecimal digits`);
}

// Draw a credential and blind it. All of this is secret, but for what is blinded, which is sent.
export async function prepare(key) {
  const credential = random(CREDENTIAL_BYTES);
  const { blinded, inverse } = await blind(key, credential, random(key.saltBytes), drawFactor(key));
  return { credential: toHex(credential), blinded, inverse };
}

// Make the server's answer a signature of the credential, and verify it.
export async function finalize(key, { credential, inverse }, signature) {
  requireDigits(credential, CREDENTIAL_BYTES, "credential");
  return { credential, signature: await unblind(key, toBytes(credential), signature, inverse) };
}

// EM(message) factor^e mod n (RFC 9474, section 4.2).
export async function blind(key, message, salt, { factor, inverse }) {
  const encoded = await encode(key, message, salt);
  require(gcd(encoded, key.modulus) === 1n, "a modulus that shares a divisor with a message");
  const blinded = (encoded * power(factor, key.modulus)) % key.modulus;
  return { blinded: toDigits(blinded, key), inverse: toDigits(inverse, key) };
}

// signature inverse mod n (RFC 9474, section 4.4).
export async function unblind(key, message, blindSignature, inverse) {
  requireDigits(blindSignature, key.length, "signature");
  requireDigits(inverse, key.length, "inverse");
  const signature = toDigits((BigInt(`0x${blindSignature}`) * BigInt(`0x${inverse}`)) % key.modulus, key);
  require(await verify(key, message, signature), "a signature that is not by the key of the survey");
  return signature;
}

// A factor that is uniform among the invertible numbers, and its inverse.
export function drawFactor({ modulus, length }) {
  for (;;) {
    const factor = toNumber(random(length));
    const inverse = factor < modulus ? invert(factor, modulus) : null;
    if (inverse !== null) return { factor, inverse };
  }
}

// Inverse by the extended Euclidean algorithm, or null where there is none.
export function invert(number, modulus) {
  let [a, b, u, v] = [modulus, number, 0n, 1n];
  while (b) {
    const quotient = a / b;
    [a, b, u, v] = [b, a - quotient * b, v, u - quotient * v];
  }
  return a === 1n ? (u + modulus) % modulus : null;
}

// base^65537: squared sixteen times, and once more times itself.
function power(base, modulus) {
  let squared = base;
  for (let i = 0; i < 16; i++) squared = (squared * squared) % modulus;
  return (squared * base) % modulus;
}

// EMSA-PSS-ENCODE (RFC 8017, section 9.1.1), into one bit less than the modulus has.
async function encode({ length }, message, salt) {
  const digest = await hash(new Uint8Array(8), await hash(message), salt);
  const block = new Uint8Array(length - HASH_BYTES - 1);
  block.set([1, ...salt], block.length - salt.length - 1);
  const mask = await mgf1(digest, block.length);
  const masked = block.map((byte, i) => byte ^ mask[i]);
  masked[0] &= 0x7f;
  return toNumber([...masked, ...digest, 0xbc]);
}

// Hashes of a seed and a counter, one after the other (RFC 8017, section B.2.1).
async function mgf1(seed, length) {
  const counters = Array.from({ length: Math.ceil(length / HASH_BYTES) }, (_, i) => [0, 0, 0, i]);
  const hashes = await Promise.all(counters.map((counter) => hash(seed, counter)));
  return hashes.flatMap((part) => [...part]);
}

// RSASSA-PSS-VERIFY, by the browser.
async function verify({ modulus, length, saltBytes }, message, signature) {
  const base64 = btoa(String.fromCharCode(...toBytes(toDigits(modulus, { length }))));
  const n = base64.replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
  const algorithm = { name: "RSA-PSS", hash: HASH, saltLength: saltBytes };
  const key = await crypto.subtle.importKey("jwk", { kty: "RSA", n, e: "AQAB" }, algorithm, false, ["verify"]);
  return crypto.subtle.verify(algorithm, key, toBytes(signature), message);
}
