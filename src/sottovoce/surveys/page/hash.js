// SHA-256 by the browser, which offers it on secure connections only; on others the page asks nothing.

export const hex = (bytes) => [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");

// Hash of some bytes, or of a text in UTF-8, in hexadecimal digits.
export async function sha256(content) {
  const bytes = typeof content === "string" ? new TextEncoder().encode(content) : content;
  return hex(new Uint8Array(await crypto.subtle.digest("SHA-256", bytes)));
}
