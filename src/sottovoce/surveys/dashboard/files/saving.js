// Saving a draft by itself: what is not saved yet is kept in this browser, and nobody's change is overwritten.

const SAVE_AFTER = 600; // milliseconds without a change
const TRY_AGAIN = 5000;
const ORPHANED = 60000; // milliseconds after which what another tab has left unsaved may be taken over

const begun = JSON.parse(document.querySelector("#begun").textContent);
const draft = {
  ...begun,
  hasLogo: begun.has_logo,
  logo: null, // a picture that was chosen and is not saved yet, as a data URL
  source: begun.tree ? "tree" : "text", // what was edited last: the form's tree, or the text
  changes: 0, // made since the page was loaded
  savedChanges: 0,
  paused: null, // why nothing can be saved now
};
let saving = null;
let timer = null;

const tab = (sessionStorage["sottovoce tab"] ??= crypto.randomUUID());
const keptUnder = (name) => `sottovoce draft ${draft.id} ${name}`;
const isDirty = () => draft.changes > draft.savedChanges;

// Something was edited.
function changed(source = "tree") {
  if (!draft.editable) return;
  draft.source = source;
  draft.changes += 1;
  keep();
  tellSaved("Not saved yet");
  clearTimeout(timer);
  timer = setTimeout(save, SAVE_AFTER);
}

function keep() {
  const { revision, source, tree, text, planned, logo } = draft;
  try {
    localStorage[keptUnder(tab)] = JSON.stringify({ revision, source, tree, text, planned, logo, at: Date.now() });
  } catch {
    tellSaved("Not saved yet, and this browser keeps nothing");
  }
}

const forget = () => localStorage.removeItem(keptUnder(tab));

// Take up what this browser has kept of an earlier visit.
function takeUp() {
  const prefix = keptUnder("");
  const names = Object.keys(localStorage).filter((name) => name.startsWith(prefix));
  const read = (name) => { try { return JSON.parse(localStorage[name]); } catch { return null; } };
  const own = names.includes(keptUnder(tab)) ? keptUnder(tab) : names.find((name) => Date.now() - (read(name)?.at ?? 0) > ORPHANED);
  const found = own && read(own);
  if (own) localStorage.removeItem(own);
  if (!found || !draft.editable) return;
  const { revision, source, tree, text, planned, logo } = found;
  Object.assign(draft, { revision, source, tree, text, planned, logo });
  draft.changes += 1;
  keep();
  notice("kept", "status", "What you wrote before was not saved. It is here again, and is being saved now.");
  save();
}

function pictureOf(dataUrl) {
  const [head, data] = dataUrl.split(",");
  return new Blob([Uint8Array.from(atob(data), (letter) => letter.charCodeAt(0))], { type: head.slice(5).split(";")[0] });
}

const asJson = { accept: "application/json" };

// Save now; returns when everything is saved, or when it cannot be.
async function save() {
  clearTimeout(timer);
  while (isDirty() && !draft.paused) {
    saving ??= attempt().finally(() => (saving = null));
    await saving;
  }
}

async function attempt() {
  const sent = draft.changes;
  const body = new FormData();
  body.set("revision", draft.revision);
  body.set("planned", draft.planned);
  if (draft.source === "tree") body.set("tree", JSON.stringify(draft.tree));
  else body.set("text", draft.text);
  if (draft.logo) body.set("logo", pictureOf(draft.logo), "logo");
  tellSaved("Saving …");
  let response;
  try {
    response = await fetch(`${draft.home}/save`, { method: "POST", headers: { ...asJson, "x-csrf-token": draft.csrf }, body });
  } catch {
    return pause("offline", "No connection. What you write is kept in this browser and saved as soon as there is one.");
  }
  const answer = await response.json().catch(() => ({}));
  if (response.ok) return saved(answer, sent);
  return notSaved(response.status, answer);
}

function saved(answer, sent) {
  draft.revision = answer.revision;
  draft.hasLogo = answer.has_logo;
  draft.savedChanges = sent;
  dismiss("kept", "mistake");
  if (isDirty()) return void keep();
  forget();
  draft.logo = null;
  if (draft.source === "tree") draft.text = answer.text;
  else draft.tree = answer.tree;
  tellSaved("Saved");
  showSaved();
}

function notSaved(status, answer) {
  if (status === 401) {
    return pause("session", "You are logged out. Nothing is lost: what you write is kept in this browser until it is saved.",
      h("a", { class: "button primary", href: `${draft.home.split("/drafts")[0]}/login`, target: "_blank" }, "Log in in another tab"),
      button("Save now", resume));
  }
  if (answer.error === "cross_site") return resume(); // another session: its token is another one
  if (answer.error === "conflict" || answer.error === "frozen") return showConflict(answer);
  if (answer.error === "deleted") return showDeleted(answer.reason);
  if (answer.error === "mistake") {
    draft.paused = "mistake"; // until the next change
    tellSaved("Not saved");
    return notice("mistake", "alert", `This cannot be saved: ${answer.reason} It is kept in this browser.`);
  }
  return pause("offline", "The server does not answer as it should. What you write is kept in this browser and saved later.");
}

function pause(reason, told, ...actions) {
  draft.paused = reason;
  tellSaved("Not saved yet: kept in this browser");
  notice("paused", "alert", told, ...actions);
  setTimeout(() => draft.paused === reason && resume(), TRY_AGAIN);
}

// Look whether saving works again: after a login in another tab there is another token.
async function resume() {
  const was = draft.paused;
  if (was && was !== "offline" && was !== "session") return;
  try {
    const response = await fetch(`${draft.home}/state`, { headers: asJson });
    if (response.ok) {
      const { csrf, account } = await response.json();
      const same = csrf === draft.csrf && !was;
      Object.assign(draft, { csrf, account });
      if (same) return void pause("offline", "The server does not take changes now. What you write is kept in this browser.");
    } else if (response.status === 401) {
      return void (was ? setTimeout(() => draft.paused === was && resume(), TRY_AGAIN) : notSaved(401, {}));
    } else if (response.status !== 404) throw new Error("later"); // a deleted draft is told when saving
  } catch {
    return void setTimeout(() => draft.paused === was && resume(), TRY_AGAIN);
  }
  draft.paused = null;
  dismiss("paused");
  if (isDirty()) setTimeout(save); // not at once: this may be part of an attempt to save
}

for (const event of ["focus", "online"]) addEventListener(event, () => draft.paused && resume());

// Somebody else has saved in between: both versions, and a choice.
function showConflict(answer) {
  draft.paused = "conflict";
  tellSaved("Not saved: choose a version");
  const frozen = answer.error === "frozen";
  const who = answer.editor === draft.account ? "You, in another tab or browser," : answer.editor;
  const kinds = { both: ["", "in both"], mine: ["+", "only in yours"], theirs: ["−", "only in theirs"] };
  const lines = answer.lines.map(([kind, line]) => h("li", { class: kind }, h("span", { class: "no", "aria-hidden": "true" }, kinds[kind][0]),
    kind !== "both" && h("span", { class: "hidden" }, `${kinds[kind][1]}: `), h("code", { dir: "auto" }, line)));
  const mine = () => {
    Object.assign(draft, { revision: answer.revision, paused: null });
    dismiss("conflict");
    keep();
    save();
  };
  const theirs = () => {
    const { revision, text, tree, planned, editor } = answer;
    Object.assign(draft, { revision, text, tree, planned, editor, hasLogo: answer.has_logo, logo: null, paused: null, savedChanges: draft.changes });
    forget();
    dismiss("conflict");
    tellSaved("Saved");
    showSaved(true);
  };
  notice("conflict", "alert",
    h("strong", {}, frozen ? `${who} froze this draft while you were editing it.` : `${who} saved this draft while you were editing it.`),
    frozen ? " It cannot be changed any more. Your version can become a new draft." : " Nothing is overwritten: compare both, and choose one.",
    h("p", { class: "key-line" }, h("span", { class: "mine" }, "+ only in yours"), " ", h("span", { class: "theirs" }, "− only in theirs")),
    h("ol", { class: "lines compared", tabindex: "0", "aria-label": "Both versions" }, lines),
    h("div", { class: "buttons" }, frozen ? newDraftButton(answer.mine) : button("Keep mine", mine, { class: "primary" }), button("Take theirs", frozen ? () => (forget(), location.reload()) : theirs)));
  document.querySelector("#notice-conflict").scrollIntoView({ block: "nearest" });
}

function showDeleted(reason) {
  draft.paused = "deleted";
  tellSaved("Not saved: deleted");
  notice("deleted", "alert", h("strong", {}, reason), " What you wrote is still here, and can become a new draft.",
    h("div", { class: "buttons" }, newDraftButton(null)));
}

// A form that makes a new draft of the text, or of what was edited last.
function newDraftButton(text) {
  const value = (name, content) => h("input", { type: "hidden", name, value: content });
  const content = text !== null ? ["text", text] : draft.source === "tree" ? ["tree", JSON.stringify(draft.tree)] : ["text", draft.text];
  return h("form", { method: "post", action: `${draft.home.split("/drafts")[0]}/drafts`, onsubmit: () => forget() }, value("csrf", draft.csrf), value("kind", "text"),
    value("anyway", "yes"), value(...content), h("button", { class: "primary" }, "Make a new draft of it"));
}

// Messages above the editor, by name.
function notice(name, role, ...children) {
  dismiss(name);
  document.querySelector("#notices").append(h("div", { class: `notice ${name}`, id: `notice-${name}`, role }, children));
}

const dismiss = (...names) => names.forEach((name) => document.querySelector(`#notice-${name}`)?.remove());
const tellSaved = (text) => (document.querySelector("#saved").textContent = text);
