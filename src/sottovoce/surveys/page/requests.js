// Requests that are repeated with the same bytes until they are answered.

// Wait, but not when something may have changed: the connection, another tab, or the person who comes back.
export const pause = (seconds) =>
  new Promise((resume) => {
    const woken = new AbortController();
    const wake = () => (clearTimeout(timer), woken.abort(), resume());
    const timer = setTimeout(wake, 1000 * seconds);
    for (const event of ["online", "changed", "visibilitychange"]) addEventListener(event, wake, { signal: woken.signal });
  });

// Send a body until the server answers; `waiting` is called before each pause.
export async function post(address, body, waiting) {
  for (let wait = 1; ; wait = Math.min(2 * wait, 60)) {
    const answer = await attempt(address, body);
    if (!answer.again) return answer;
    const seconds = answer.after ?? wait;
    waiting(seconds);
    await pause(seconds);
  }
}

// The server's answer; one that it may give differently later is asked for again.
async function attempt(address, body) {
  try {
    const response = await fetch(address, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body,
      credentials: "omit",
      referrerPolicy: "no-referrer",
      cache: "no-store",
    });
    const later = response.status === 408 || response.status === 429 || response.status >= 500;
    const answer = await response.json().catch(() => null);
    if (answer && !later) return answer;
    return { again: true, after: Number(response.headers.get("Retry-After")) || null };
  } catch {
    return { again: true };
  }
}
