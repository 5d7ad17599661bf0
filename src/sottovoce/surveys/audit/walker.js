// Walks through the page of a survey as a respondent would, under a clock of its own. It runs before the page's
// scripts, and is an expression: a function of its settings. `name` is what the walker is called in the page, `start`
// the time at which the clock stands. With `logs`, random numbers that the page is given are logged; `seed` repeats them,
// or is null for the device's own.
(({ name, start, seed, logs }) => {
  const PATIENCE = 20_000; // milliseconds for a walk, beyond which the page has stopped
  const address = location.href; // a page that has sent its report takes the invitation out of it
  const later = globalThis.setTimeout.bind(globalThis);
  const RealDate = Date;
  const timers = new Map();
  const noted = []; // what could leave without passing the audit's proxy
  let [now, count, stale, acted, deadline] = [start, 0, 0, 0, 0];
  let [pressed, presses, random] = [null, 0, seed];
  const idle = () => {};
  let wake = idle;

  // Put another function in the place of a browser's own: it has the same name, and is the same text.
  const originals = new WeakMap();
  const replace = (owner, key, handler) => {
    const original = owner[key];
    owner[key] = new Proxy(original, handler);
    originals.set(owner[key], original);
  };
  const replaceCall = (owner, key, run) => replace(owner, key, { apply: (target, self, values) => run(values, target, self) });
  replaceCall(Function.prototype, "toString", (values, target, self) =>
    Reflect.apply(target, originals.get(self) ?? self, values));

  // The clock stands still until the walker lets it go on to the next timer.
  const arm = (run, delay, every, values) => {
    timers.set(++count, { due: now + Math.max(0, Number(delay) || 0), every, run: () => run(...values) });
    wake();
    return count;
  };
  replaceCall(globalThis, "setTimeout", ([run, delay, ...values]) => arm(run, delay, 0, values));
  replaceCall(globalThis, "setInterval", ([run, delay, ...values]) => arm(run, delay, Math.max(1, Number(delay) || 0), values));
  for (const key of ["clearTimeout", "clearInterval"]) replaceCall(globalThis, key, ([id]) => void timers.delete(id));
  replaceCall(RealDate, "now", () => now);
  replace(globalThis, "Date", {
    apply: () => new RealDate(now).toString(),
    construct: (target, values, made) => Reflect.construct(target, values.length ? values : [now], made),
  });
  RealDate.prototype.constructor = Date;

  // Timers from before the last button that was pressed belong to a screen that is gone.
  const waiting = () => [...timers].filter(([id]) => id > stale);

  function fire() {
    const [id, timer] = waiting().reduce((first, other) => (other[1].due < first[1].due ? other : first));
    now = Math.max(now, timer.due);
    if (timer.every) timer.due = now + timer.every;
    else timers.delete(id);
    acted = performance.now();
    timer.run();
  }

  for (const kind of ["RTCPeerConnection", "WebTransport"]) {
    const construct = (target, values, made) => (noted.push(kind), Reflect.construct(target, values, made));
    if (globalThis[kind]) replace(globalThis, kind, { construct });
  }

  // Random numbers. A script may give `words`, which arrays of 32-bit numbers hold first, and an `extreme` byte, of which
  // short arrays are full and which says whether Math.random is as small or as large as it can be.
  const SHORT = 16;
  let [guessed, words, extreme] = [0, [], null];
  const draws = []; // presses before each, the kind of its array, and its bytes

  function repeat({ seed: own, words: given, extreme: fill }) {
    [random, words, extreme] = [own ?? seed, [...(given ?? [])], fill ?? null];
  }

  const drawn = () => { // mulberry32
    random = (random + 0x6d2b79f5) | 0;
    let mixed = Math.imul(random ^ (random >>> 15), 1 | random);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return (mixed ^ (mixed >>> 14)) >>> 0;
  };

  function give(array, bytes) {
    bytes.forEach((_, i) => (bytes[i] = drawn() & 0xff));
    if (bytes.length < SHORT && extreme !== null) bytes.fill(extreme);
    else if (array instanceof Uint32Array) array.set(words.splice(0, array.length));
  }

  if (logs) {
    replaceCall(Crypto.prototype, "getRandomValues", (values, target, self) => {
      const array = Reflect.apply(target, self, values);
      const bytes = new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
      if (seed !== null) give(array, bytes);
      const digits = Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
      draws.push([presses, array[Symbol.toStringTag], digits]);
      return array;
    });
    replaceCall(Math, "random", (values, target, self) => {
      guessed++;
      if (extreme !== null) return extreme ? 1 - 2 ** -53 : 0;
      return seed === null ? Reflect.apply(target, self, values) : drawn() / 2 ** 32;
    });
  }

  const found = (selector) => document.querySelector(`main ${selector}`);

  // What a respondent would do on this screen: an element to choose or to press, or a reason why there is none.
  function aim({ screens }) {
    if (found("code.receipt")) return { done: true };
    if (found("[role=alert]:not(:empty)")) return { stopped: true };
    const progress = found("progress");
    const unanswered = progress && !found(".unused") && missing(screens[progress.value - 1]);
    if (unanswered) return { element: unanswered };
    const guesses = [...document.querySelectorAll("main input[name=understanding]")];
    if (guesses.length && !guesses.some(({ checked }) => checked)) return { element: guesses[1] };
    const button = found("button.primary:not([hidden])");
    if (button && !(seed !== null && found(".demo:not(:has(table))"))) return { element: button, presses: true };
    return { waits: Boolean(found("[role=timer]") ?? found("[role=status]")) };
  }

  // An answer of the path that is not chosen yet; rows of a screen are its questions that are asked.
  function missing(rows) {
    for (const [row, values] of rows.entries()) {
      const inputs = [...document.querySelectorAll(`main input[name="answer${row || ""}"]`)];
      for (const value of values) {
        const input = inputs.find((one) => one.value === value);
        if (!input) throw new Error(`the page does not offer ${value}`);
        if (!input.checked) return input;
      }
    }
    return null;
  }

  const heading = () => document.querySelector("main h1");

  // Until the page has changed, or waits for a new timer; looked at again after a moment in any case.
  const change = () =>
    new Promise((resolve) => {
      const finish = () => (watch.disconnect(), wake === finish && (wake = idle), resolve());
      const watch = new MutationObserver(finish);
      watch.observe(document, { attributeFilter: ["hidden"], childList: true, subtree: true });
      wake = finish;
      later(finish, 50);
    });

  // One step of a walk: whatever `use` does to an element, or a wait. True when the walk has come to its end.
  async function step(script, use) {
    const aimed = aim(script);
    if (aimed.done || (script.enters && found("progress"))) return true;
    if (aimed.stopped || performance.now() > deadline) {
      throw new Error(`the page stopped at: ${document.querySelector("main")?.innerText.slice(0, 200)}`);
    }
    if (aimed.element && !(aimed.presses && heading() === pressed)) {
      if (aimed.presses) [pressed, presses, stale, acted] = [heading(), presses + 1, count, performance.now()];
      if (aimed.presses && !found("progress")) repeat(script); // whatever was drawn until now
      await use(aimed.element);
      return false;
    }
    const stays = script.enters || (script.fails && !found("[role=timer]"));
    if (stays && aimed.waits && waiting().length && !(script.again-- > 0)) return true; // the server does not answer
    if (aimed.waits && waiting().length) await leap();
    else await change();
    return false;
  }

  // Let the clock go on to the next timer, at first to shortly before the moment that the page keeps.
  async function leap() {
    const [moment] = (await states()).map(([, state]) => state.moment).filter(Boolean);
    if (moment - now > 120_000) now = moment - 90_000;
    const changed = change();
    if (waiting().length) fire();
    await changed;
  }

  const begin = () => ([deadline, pressed] = [performance.now() + PATIENCE, null]);

  async function walk(script) {
    begin();
    while (!(await step(script, (element) => element.click()))) continue;
    return outcome(script);
  }

  // What came of a walk. The device then keeps what it kept before the walk began, for the next one.
  async function outcome({ restored }) {
    const [elapsed, leftBehind] = [performance.now() - acted, await kept()];
    const left = { draws, elapsed, guessed, kept: leftBehind, noted: [...new Set(noted)], time: now };
    if (restored) await restore(restored);
    history.replaceState(null, "", address);
    return left;
  }

  const ended = (request) =>
    new Promise((resolve, reject) => {
      request.onsuccess = () => resolve(request.result);
      request.onerror = () => reject(request.error);
    });

  async function inStates(mode, use) {
    const opening = indexedDB.open("sottovoce");
    opening.onupgradeneeded = () => opening.result.createObjectStore("states");
    const database = await ended(opening);
    try {
      const transaction = database.transaction("states", mode);
      const complete = new Promise((resolve) => (transaction.oncomplete = transaction.onabort = resolve));
      const result = await use(transaction.objectStore("states"));
      await complete; // what is not complete when the page is loaded again is lost
      return result;
    } finally {
      database.close();
    }
  }

  const states = () =>
    inStates("readonly", async (store) => {
      const [keys, values] = await Promise.all([ended(store.getAllKeys()), ended(store.getAll())]);
      return keys.map((key, i) => [key, values[i]]);
    });

  const restore = (entries) =>
    inStates("readwrite", (store) =>
      Promise.all([ended(store.clear()), ...entries.map(([key, state]) => ended(store.put(state, key)))]));

  // Everything in which a page could leave something behind.
  const kept = async () => ({
    states: await states(),
    databases: (await indexedDB.databases()).map((database) => database.name),
    local: { ...localStorage },
    session: { ...sessionStorage },
    caches: globalThis.caches ? await caches.keys() : [],
    cookies: document.cookie,
    window: globalThis.name,
    history: history.state,
    workers: navigator.serviceWorker ? (await navigator.serviceWorker.getRegistrations()).length : 0,
  });

  const focus = async (script) => {
    let element = null;
    const done = await step(script, async (aimed) => (aimed.focus(), (element = aimed)));
    return done ? "done" : element ? "press" : "wait";
  };

  Object.defineProperty(globalThis, name, { value: { begin, focus, kept, outcome, restore, walk } });
})
