// The form of a draft: everything about the survey but its questions.

const LEAST_ODDS = 2;
const MOST_ODDS = 1000;
const SLIDER = 100;

function buildForm() {
  const panel = document.querySelector("#panel-form");
  if (!draft.tree || !isMapping(draft.tree)) {
    return panel.replaceChildren(h("p", { class: "card" }, "The YAML cannot be read as a definition yet, so there is no form. ",
      "What is wrong is said beside its lines."));
  }
  const form = h("fieldset", { disabled: !draft.editable }, h("legend", { class: "hidden" }, "Definition"),
    aboutSection(), privacySection(), questionsSection(), crossedSection(), pageSection(), runningSection(), otherSection());
  panel.replaceChildren(h("form", { onsubmit: (event) => event.preventDefault() }, form));
}

// Build the form again after its structure has changed. `focus` finds the element to go on from; without it, that is the
// one in the same place.
function rebuild(focus = null) {
  const [top, controls] = [scrollY, () => [...document.querySelectorAll("#panel-form :is(input, select, textarea, button, summary)")]];
  const place = controls().indexOf(document.activeElement);
  const { selectionStart: start, selectionEnd: end } = document.activeElement;
  buildForm();
  placeMistakes();
  showQuestionNumbers();
  scrollTo({ top, behavior: "instant" });
  if (focus) focusOn(document.querySelector(focus));
  else if (place >= 0) {
    const found = controls()[place];
    found?.focus({ preventScroll: true });
    if (typeof start === "number" && typeof found?.selectionStart === "number") found.setSelectionRange(start, end);
  }
}

// Words that stand for others yet to be written are selected, so that typing replaces them.
function focusOn(element) {
  element?.focus();
  if (element?.matches("input")) element.select();
}

// The same after the event that is being handled: the focus has moved by then. While a button is pressed it must stay where
// it is, or the press is lost: leaving a field changes the form before the button is released.
let pressed = false;
let rebuildsAtRelease = false;

function rebuildLater() {
  if (pressed) rebuildsAtRelease = true;
  else setTimeout(rebuild);
}

document.addEventListener("pointerdown", () => (pressed = true), true);
for (const released of ["pointerup", "pointercancel"]) {
  document.addEventListener(released, () => {
    if (rebuildsAtRelease) setTimeout(rebuild);
    pressed = rebuildsAtRelease = false;
  }, true);
}

const section = (title, name, ...children) =>
  h("section", { class: "card", "data-field": name, "aria-label": title }, h("h2", {}, title), children);

const changeTop = (key) => (value) => (putOrDrop(draft.tree, key, value, TOP_ORDER), changed());

function aboutSection() {
  const tree = draft.tree;
  return section("What it is about", "survey",
    texts("Title", "title", tree, "title"),
    texts("Who asks", "asker", tree, "asker"),
    texts("Purpose", "purpose", tree, "purpose", { long: true, note: "Say what you want to learn, and that you do not want to learn who." }),
    field("Contact", "contact", input(textAt(tree, "contact"), changeTop("contact")), { note: "An address for questions. Optional." }),
    languagesField());
}

function languagesField() {
  const [tree, languages] = [draft.tree, languagesOf(draft.tree)];
  const names = new Intl.DisplayNames("en", { type: "language", fallback: "code" });
  const nameOf = (tag) => { try { return names.of(tag); } catch { return tag; } };
  const store = (tags) => (putOrDrop(tree, "languages", tags.length === 1 && tags[0] === "en" ? null : tags, TOP_ORDER), changed());
  const remove = (tag) => {
    tree.pairs = withoutLanguage({ pairs: tree.pairs.filter(([key]) => key !== "languages") }, tag, languages).pairs;
    store(languages.filter((known) => known !== tag));
    rebuild("#add-language");
  };
  const add = () => {
    const tag = document.querySelector("#add-language").value.trim();
    if (!tag || languages.includes(tag)) return;
    for (const question of questionsOf()) {
      const answers = get(question, "answers"); // several languages need a name for each answer
      if (Array.isArray(answers) && textAt(question, "kind") !== "yes_no") put(question, "answers", { pairs: answers.map((text) => [text, text]) });
    }
    store([...languages, tag]);
    rebuild("#add-language");
  };
  const adding = input("", () => null, { list: "known-languages", id: "add-language", dir: "ltr",
    onkeydown: (event) => { if (event.key === "Enter") (event.preventDefault(), add()); } });
  return h("div", { class: "field", "data-field": "languages", role: "group", "aria-label": "Languages" },
    h("p", { class: "label" }, "Languages"),
    h("ul", { class: "tags" }, languages.map((tag, index) => h("li", {}, h("bdi", {}, `${nameOf(tag)} (${tag})`), index ? null : " first",
      languages.length > 1 && button("Remove", () => remove(tag), { class: "small", "aria-label": `Remove ${nameOf(tag)}` })))),
    h("div", { class: "adding" }, h("label", { for: "add-language" }, "Another language, as a tag such as de or pt-BR"), adding, button("Add", add)),
    h("datalist", { id: "known-languages" }, draft.languages.map((tag) => h("option", { value: tag }, nameOf(tag)))));
}

function privacySection() {
  const tree = draft.tree;
  const epsilon = textAt(tree, "epsilon");
  const shown = textAt(tree, "odds") || (epsilon && Number(epsilon) ? `${Math.exp(Number(epsilon)).toPrecision(4)}` : "");
  const words = h("p", { class: "note", id: "odds-words", role: "status" });
  const slider = h("input", { type: "range", min: 0, max: SLIDER, step: 1, id: "odds-slider", "aria-describedby": "odds-words" });
  const number = input(shown, (text) => (store(text), follow(text)), { id: "odds", inputmode: "text", dir: "ltr", class: "short" });
  const store = (text) => {
    drop(tree, "epsilon");
    put(tree, "odds", text, TOP_ORDER);
    if ((oddsFrom(text) ?? 0) <= draft.ceilings.accepted) drop(tree, "weak");
    accepted.hidden = (oddsFrom(text) ?? 0) <= draft.ceilings.accepted && !has(tree, "weak");
    changed();
  };
  const follow = (text) => {
    const odds = oddsFrom(text);
    if (odds > 0) slider.value = (SLIDER * Math.log(odds / LEAST_ODDS)) / Math.log(MOST_ODDS / LEAST_ODDS);
    slider.setAttribute("aria-valuetext", odds ? `${text}` : "");
    words.textContent = strengthInWords(odds);
    words.classList.toggle("warning", odds > draft.ceilings.survey);
  };
  slider.oninput = () => {
    const odds = LEAST_ODDS * (MOST_ODDS / LEAST_ODDS) ** (slider.value / SLIDER);
    const text = `${odds < 10 ? odds.toFixed(1).replace(".0", "") : Number(odds.toPrecision(2))}:1`;
    number.value = text;
    store(text);
    follow(text);
  };
  const accepted = check("I accept that protection is very weak, and that respondents are told so", "weak", get(tree, "weak") === "accepted",
    (on) => (on ? put(tree, "weak", "accepted", TOP_ORDER) : drop(tree, "weak"), changed()));
  accepted.hidden = !has(tree, "weak") && (oddsFrom(shown) ?? 0) <= draft.ceilings.accepted;
  follow(shown);
  return section("Privacy", "privacy",
    h("p", {}, "One budget protects all answers together: no report shifts anybody's odds about a person by more than this."),
    h("div", { class: "odds" },
      h("div", { class: "field grow" }, h("label", { for: "odds-slider" }, "More private … more precise"), slider),
      field("Odds of all questions together", has(tree, "epsilon") ? "epsilon" : "odds", number)),
    words, accepted,
    check("Divide the budget equally among all questions", "split", get(tree, "split") === "true",
      (on) => (on ? put(tree, "split", "true", TOP_ORDER) : drop(tree, "split"), changed()),
      "Otherwise, where that is more precise, each device picks a few questions at random and sends nothing about the others."));
}

function strengthInWords(odds) {
  const { question, survey, accepted } = draft.ceilings;
  if (odds === null) return "Odds are written as 100:1 or 9:1.";
  if (odds <= survey) return `Deniable: up to ${survey} : 1 for all questions together, and ${question} : 1 for each of them.`;
  if (odds <= accepted) return `Weak: above ${survey} : 1, respondents are told that their protection is weak.`;
  return `Very weak: above ${accepted.toLocaleString("en")} : 1, respondents are told to answer as if nothing protected them.`;
}

function crossedSection() {
  const tree = draft.tree;
  const pairs = listAt(tree, "together");
  const names = questionsOf().filter((question) => get(question, "public") !== "true").flatMap(idsOf).map((id) => [id, id]);
  const store = (list) => (putOrDrop(tree, "together", list.length ? list : null, TOP_ORDER), changed());
  if (names.length < 2 && !pairs.length) return null;
  return section("Questions to be crossed", "together",
    h("p", { class: "note" }, "Tables of two questions need reports that tell about both. Name the pairs that you want to compare."),
    h("ul", { class: "pairs" }, pairs.map((pair, index) => h("li", { "data-field": `together[${index}]` },
      (Array.isArray(pair) ? pair : []).map((name, at) => select(name, names, (value) => ((pair[at] = value), changed()),
        { "aria-label": `Pair ${index + 1}, question ${at + 1}` })),
      button("Remove", () => (store(pairs.filter((_, other) => other !== index)), rebuild("#add-pair")), { class: "small", "aria-label": `Remove pair ${index + 1}` })))),
    button("Add a pair", () => (store([...pairs, names.slice(0, 2).map(([id]) => id)]), rebuild("#add-pair")), { id: "add-pair" }));
}

function pageSection() {
  const tree = draft.tree;
  const colour = textAt(tree, "colour") || "#0f6b7c";
  return section("The respondents' page", "page",
    texts("Consent", "consent", tree, "consent", { long: true, optional: true, note: "Shown before the first question, with a button to agree. Optional." }),
    texts("Thanks", "thanks", tree, "thanks", { long: true, optional: true, note: "Shown at the end. Optional." }),
    check("Ask whether the coins were understood", "comprehension_check", get(tree, "comprehension_check") === "true",
      (on) => (on ? put(tree, "comprehension_check", "true", TOP_ORDER) : drop(tree, "comprehension_check"), changed()),
      "One question before the first one; its answer stays on the device."),
    h("div", { class: "columns" },
      field("Colour", "colour", h("input", { type: "color", value: /^#[0-9a-f]{6}$/i.test(colour) ? colour : "#0f6b7c",
        oninput: ({ target }) => changeTop("colour")(target.value) }), { note: "Of buttons and links; dark enough to be read." }),
      has(tree, "colour") && button("Use the usual colour", () => (drop(tree, "colour"), changed(), rebuild()), { class: "small" })),
    logoField());
}

function logoField() {
  const tree = draft.tree;
  const choose = h("input", { type: "file", accept: "image/png,image/webp", onchange: ({ target }) => chooseLogo(target.files[0]) });
  return h("div", {}, field("Logo", "logo", choose, { note: "PNG or WebP, at most 100 KB." }),
    has(tree, "logo") && h("div", { class: "row" },
      draft.logo || draft.hasLogo ? h("img", { class: "logo", alt: "The logo", src: draft.logo ?? `${draft.home}/logo?${draft.revision}` }) : null,
      button("Remove the logo", () => (drop(tree, "logo"), (draft.logo = null), changed(), rebuild()), { class: "small" })));
}

function chooseLogo(file) {
  if (!file) return;
  const reader = new FileReader();
  reader.onload = () => {
    draft.logo = reader.result;
    put(draft.tree, "logo", file.name || "logo", TOP_ORDER);
    changed();
    rebuild();
  };
  reader.readAsDataURL(file);
}

function runningSection() {
  const tree = draft.tree;
  const open = get(tree, "invitation") === "open";
  const choice = (value, label, note) => {
    const id = `invitation-${value}`;
    return h("div", { class: "choice" }, h("input", { type: "radio", name: "invitation", id, checked: open === (value === "open"),
      "aria-describedby": `${id}-note`, onchange: () => (put(tree, "invitation", value, TOP_ORDER), changed()) }),
    h("label", { for: id }, label), h("p", { class: "note", id: `${id}-note` }, note));
  };
  return section("Running it", "running",
    h("div", { class: "columns" },
      field("Last day", "until", input(textAt(tree, "until"), (value) => (put(tree, "until", value, TOP_ORDER), changed()), { type: "date", dir: "ltr" }), { note: "In UTC." }),
      field("Reports before any result is shown", "minimum", input(textAt(tree, "minimum"), changeTop("minimum"), { type: "number", min: 1, placeholder: "100" }), { note: "100 if empty." }),
      field("Send interval, in seconds", "send_interval", input(textAt(tree, "send_interval"), changeTop("send_interval"), { type: "number", min: 0, placeholder: "600" }),
        { note: "Reports leave at a random moment within such an interval, so that times tell nothing. 600 if empty; 0 sends at once." })),
    h("fieldset", { class: "field", "data-field": "invitation" }, h("legend", {}, "Who may answer"),
      choice("single", "One answer for each invitation", "Every respondent gets a link of their own. Nobody can connect it to the answers."),
      choice("open", "One open link for everybody", "Choose this on purpose: anyone who has the link can answer, and more than once.")));
}

// Parts that only the YAML shows: they are kept as they are.
function otherSection() {
  const parts = [
    has(draft.tree, "groups") && "groups of questions that are disguised together",
    has(draft.tree, "epsilon") && "epsilon instead of odds",
    questionsOf().some(hasOwnScheme) && "schemes of single questions",
    ...keysOf(draft.tree).filter((key) => !TOP_ORDER.includes(key)).map((key) => `"${key}", which is not known`),
  ].filter(Boolean);
  return parts.length ? section("Only in the YAML", "other", h("p", {}, "Kept as they are, and changed in the YAML: ", parts.join("; "), ".")) : null;
}
