// What this device keeps of a survey, or of one invitation to it: a single state, which takes the place of the one before.
//
//   prepared {credential, blinded, inverse}   kept before anything is sent, so that a lost answer can be asked for again
//   admitted {credential, signature}          what was blinded and how is erased: with it, a seized device would tell
//                                             which invitation a report belongs to
//   sealed {body, moment, held}               the report as it is sent, at the earliest at this moment (in milliseconds
//                                             since the epoch), and not from this device while it is held
//   answered
//
// Surveys without admission begin with sealed.

// States are in IndexedDB: what one tab has stored, every other one reads, whereas localStorage shows it late. The
// promise is rejected where the browser refuses to store anything.
async function inStates(mode, use) {
  const opening = indexedDB.open("sottovoce");
  opening.onupgradeneeded = () => opening.result.createObjectStore("states");
  const database = await ended(opening, "onsuccess");
  try {
    const transaction = database.transaction("states", mode, { durability: "strict" });
    const request = use(transaction.objectStore("states"));
    await ended(transaction, "oncomplete");
    return request.result;
  } finally {
    database.close();
  }
}

const ended = (work, event) =>
  new Promise((resolve, reject) => {
    work[event] = () => resolve(work.result);
    work.onerror = work.onabort = () => reject(work.error);
  });

// Whether this device has answered the survey by any invitation.
export const answeredHere = (hash) =>
  inStates("readonly", (states) => states.getAll(IDBKeyRange.bound(hash, `${hash}~`)))
    .then((found) => found.some(({ state }) => state === "answered"), () => false);

// Release 0.1 kept the sealed bytes and the fact that they arrived under names in localStorage.
const items01 = (hash) => [`sottovoce sealed ${hash}`, `sottovoce answered ${hash}`];

function kept01(hash) {
  try {
    const [sealed, answered] = items01(hash).map((item) => localStorage.getItem(item));
    return answered ? { state: "answered" } : sealed && { state: "sealed", body: sealed, moment: 0, held: false };
  } catch {
    return null; // the browser refuses
  }
}

const wake = () => dispatchEvent(new Event("changed"));

export class Memory {
  #own = null; // for as long as the page is open, where the device stores nothing
  #key;
  #tabs;

  // Whether what is kept outlasts the page.
  lasting = false;

  // The mark of an invitation gives it a state of its own, so that two people can share a device. Without a hash,
  // nothing is stored.
  static async open(hash, mark) {
    const memory = new Memory();
    if (!hash) return memory;
    memory.#key = mark ? `${hash} ${mark}` : hash;
    const probe = inStates("readwrite", (states) => (states.put("?", "?"), states.delete("?")));
    memory.lasting = await probe.then(() => true, () => false);
    memory.#tabs = globalThis.BroadcastChannel && new BroadcastChannel(memory.#key);
    if (memory.#tabs) memory.#tabs.onmessage = wake;
    return memory;
  }

  async read() {
    if (!this.#key) return this.#own;
    const stored = await inStates("readonly", (states) => states.get(this.#key)).catch(() => null);
    return stored ?? kept01(this.#key) ?? this.#own;
  }

  // Change the state to what `next` makes of it. Tabs take turns, and each reads again what another one has left.
  change(next) {
    const turn = async () => {
      const found = await this.read();
      const state = await next(found);
      if (state !== found) await this.#write(state);
      return state;
    };
    return this.#key && navigator.locks ? navigator.locks.request(this.#key, turn) : turn();
  }

  // Where the new state cannot be stored, the old one must be gone nevertheless. Other tabs, and what waits in this one,
  // look again.
  async #write(state) {
    this.#own = state;
    if (this.#key) {
      const erase = () => inStates("readwrite", (states) => states.delete(this.#key));
      await inStates("readwrite", (states) => states.put(state, this.#key)).catch(erase).catch(() => null);
      if (kept01(this.#key)) items01(this.#key).forEach((item) => localStorage.removeItem(item));
      this.#tabs?.postMessage("changed");
    }
    wake();
  }
}
