// The editor of a draft: form and text of one document, its mistakes, its numbers, and its preview.

const LATER = 500; // milliseconds without a change after which slow numbers are asked for
const at = (selector) => document.querySelector(selector);
const yaml = at("#yaml");
let mistakes = [];
let questionNumbers = {};
let previewed = null; // address and hash of the survey in the preview
let asking = null;
let askedAgain = false;

// The document as it was saved; `anew` builds the form again, also if it was not the text that changed.
function showSaved(anew = false) {
  if (draft.source === "tree" || anew) showText();
  if (draft.source === "text" || anew) rebuild();
  at("#planned").value = draft.planned;
  const title = draft.tree && isMapping(draft.tree) ? textIn(get(draft.tree, "title"), languagesOf(draft.tree)[0], languagesOf(draft.tree)) : "";
  at("#title bdi").textContent = title || "Untitled survey";
  examine();
}

function showText() {
  if (yaml.value !== draft.text) yaml.value = draft.text;
  showGutter();
}

// Numbers of the lines, with marks at those that are wrong.
function showGutter() {
  const wrong = new Set(mistakes.map(({ line }) => line));
  const count = yaml.value.split("\n").length;
  const numbers = Array.from({ length: count }, (_, index) => index + 1);
  const parts = numbers.map((number) => (wrong.has(number) ? [h("mark", {}, `${number}`), "\n"] : `${number}\n`));
  at("#gutter").replaceChildren(...parts.flat());
  at("#gutter").scrollTop = yaml.scrollTop;
}

function goToLine(line) {
  const lines = yaml.value.split("\n");
  const start = lines.slice(0, line - 1).join("\n").length + (line > 1 ? 1 : 0);
  openTab("yaml");
  yaml.focus();
  yaml.setSelectionRange(start, start + (lines[line - 1]?.length ?? 0));
  yaml.scrollTop = Math.max(0, (line - 5) * (yaml.scrollHeight / lines.length));
}

// Mistakes beside their fields and at their lines, and all of them above the form.
function placeMistakes() {
  showMistakes(mistakes);
  const goTo = (mistake) => () => {
    if (!mistake.place || at("#panel-form").hidden) return goToLine(mistake.line ?? 1);
    for (let part = mistake.place; part; part = part.parentElement) if (part.matches("details")) part.open = true;
    (mistake.place.querySelector("[aria-invalid], input, textarea, select, summary") ?? mistake.place).focus();
    mistake.place.scrollIntoView({ block: "center" });
  };
  const list = () => h("ul", {}, mistakes.map((mistake) => h("li", {}, button(mistake.line ? `Line ${mistake.line}` : "Show", goTo(mistake), { class: "small" }), " ", mistake.text)));
  at("#yaml-mistakes").replaceChildren(...(mistakes.length ? [list()] : []));
  dismiss("mistakes");
  if (mistakes.length) {
    const title = mistakes.length === 1 ? "One thing is not right yet" : `${mistakes.length} things are not right yet`;
    notice("mistakes", "group", h("details", {}, h("summary", {}, title), list()));
    at("#notice-mistakes").setAttribute("aria-label", "Mistakes");
  }
  showGutter();
}

function showQuestionNumbers() {
  for (const chip of document.querySelectorAll(".chip.numbers")) {
    const found = JSON.parse(chip.dataset.questions).map((id) => questionNumbers[id]).filter(Boolean);
    const worst = found.sort((a, b) => b.margin - a.margin)[0];
    chip.textContent = worst ? `${worst.odds} · ± ${(100 * worst.margin).toFixed(1)}` : "";
    chip.hidden = !worst;
    chip.classList.toggle("alarming", Boolean(worst) && (worst.margin > 0.1 || worst.strength !== "deniable"));
  }
}

async function ask(path) {
  try {
    const response = await fetch(`${draft.home}/${path}`, { headers: asJson });
    return response.ok ? await response.json() : null;
  } catch {
    return null;
  }
}

// Ask for mistakes and numbers of what is saved, one request at a time.
async function examine() {
  askedAgain = true;
  if (asking) return;
  while (askedAgain) {
    askedAgain = false;
    asking = examineOnce();
    await asking;
    asking = null;
  }
}

async function examineOnce() {
  at("#computing").textContent = "Computing …";
  at("#panel-numbers").setAttribute("aria-busy", "true");
  const found = await ask("check");
  if (found && !askedAgain) showChecked(found);
  if (found?.html && !askedAgain) {
    await new Promise((resolve) => setTimeout(resolve, LATER));
    if (askedAgain) return;
    const later = await ask("outlook");
    if (later && !askedAgain) at("#outlook").innerHTML = later.html; // made and escaped by the server
  }
  if (askedAgain) return;
  at("#computing").textContent = found ? (found.html ? "" : "Numbers follow when nothing is wrong any more.") : "The numbers could not be computed now.";
  at("#panel-numbers").removeAttribute("aria-busy");
}

function showChecked(found) {
  mistakes = found.mistakes;
  placeMistakes();
  at("#numbers").classList.toggle("stale", !found.html);
  at("#outlook").classList.toggle("stale", !found.html);
  const count = mistakes.length ? `${mistakes.length} ${mistakes.length === 1 ? "mistake" : "mistakes"}` : "";
  if (found.html) {
    at("#numbers").innerHTML = found.html;
    questionNumbers = found.questions;
    showQuestionNumbers();
    showPreview(found.preview);
  }
  at("#no-preview").hidden = Boolean(found.html);
  const { odds, worst } = found.summary ?? {};
  at("#bar-numbers").textContent = [found.summary && `${odds} · ± ${(100 * worst).toFixed(1)} points`, count].filter(Boolean).join(" · ");
}

// The respondents' page of the draft as it is now. What this device remembers of the one before is removed.
async function showPreview(preview) {
  if (previewed?.hash === preview.hash) return;
  if (previewed) await forgetAnswer(previewed.hash);
  previewed = preview;
  await startAgain();
}

async function startAgain() {
  if (!previewed) return;
  await forgetAnswer(previewed.hash);
  const frame = document.createElement("iframe"); // another one, so that nothing is added to the browser's history
  frame.id = "preview";
  frame.title = "Preview of the respondents' page";
  frame.src = `${previewed.address}#${previewed.hash}`;
  at("#preview").replaceWith(frame);
}

// Remove the preview's own entry from what respondents' pages keep on this device, and no other one.
function forgetAnswer(hash) {
  return new Promise((resolve) => {
    const opening = indexedDB.open("sottovoce");
    opening.onupgradeneeded = () => opening.result.createObjectStore("states");
    opening.onerror = resolve;
    opening.onsuccess = () => {
      const removing = opening.result.transaction("states", "readwrite");
      removing.objectStore("states").delete(hash);
      removing.oncomplete = removing.onerror = removing.onabort = () => (opening.result.close(), resolve());
    };
  });
}

function openTab(name) {
  const tab = at(`#tab-${name}`);
  for (const other of tab.parentElement.querySelectorAll("[role=tab]")) {
    const chosen = other === tab;
    other.setAttribute("aria-selected", String(chosen));
    other.tabIndex = chosen ? 0 : -1;
    at(`#${other.getAttribute("aria-controls")}`).hidden = !chosen;
  }
  if (name === "yaml") showGutter();
}

for (const list of document.querySelectorAll("[role=tablist]")) {
  const tabs = [...list.querySelectorAll("[role=tab]")];
  for (const [index, tab] of tabs.entries()) {
    tab.onclick = () => openTab(tab.id.slice("tab-".length));
    tab.onkeydown = ({ key }) => {
      const step = { ArrowRight: 1, ArrowLeft: -1 }[key];
      if (!step) return;
      const next = tabs[(index + step + tabs.length) % tabs.length];
      next.click();
      next.focus();
    };
  }
}

yaml.oninput = () => {
  draft.text = yaml.value;
  if (draft.paused === "mistake") draft.paused = null;
  showGutter();
  changed("text");
};
yaml.onscroll = () => (at("#gutter").scrollTop = yaml.scrollTop);
at("#panel-form").addEventListener("input", () => draft.paused === "mistake" && (draft.paused = null));
at("#planned").oninput = ({ target }) => {
  if (!target.validity.valid || !target.value) return;
  draft.planned = Number(target.value);
  changed(draft.source);
};
at("#again").onclick = startAgain;

// Leaving for a page that shows what is saved waits until everything is.
for (const link of document.querySelectorAll("#freeze, #download")) {
  link.onclick = async (event) => {
    if (!isDirty()) return;
    event.preventDefault();
    await save();
    if (!isDirty()) link.click();
  };
}

const copying = at("form[action$='/copy']");
if (copying) {
  copying.onsubmit = async (event) => {
    if (!isDirty()) return;
    event.preventDefault();
    await save();
    if (!isDirty()) copying.submit();
  };
}

at("#editor").hidden = at("#bar").hidden = false;
takeUp();
draft.text ??= "";
showText();
buildForm();
at("#planned").value = draft.planned;
if (!isDirty()) {
  tellSaved(draft.editable ? "Saved" : "");
  examine();
}
