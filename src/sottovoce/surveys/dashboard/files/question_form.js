// The questions of the form: their kinds, answers and conditions, in an order that can be changed.

const KINDS = [
  ["yes_no", "Yes or no"],
  ["single", "One of several answers"],
  ["several", "Any number of answers"],
  ["number", "A number, in ranges"],
  ["scale", "A scale"],
  ["matrix", "Several items on one scale"],
  ["unrelated", "Yes or no, with a harmless question"],
];
const OF_KIND = {
  yes_no: ["answers", "shuffle"], single: ["answers", "shuffle"], several: ["answers", "shuffle", "least", "most"],
  number: ["edges", "closed", "labels"], scale: ["steps", "ends", "labels", "wanted"], matrix: ["items", "steps", "ends", "labels", "wanted"],
  unrelated: ["scheme", "unrelated"],
};
const NEW = {
  single: () => ({ answers: ["First answer", "Second answer"] }), several: () => ({ answers: ["First answer", "Second answer"] }),
  number: () => ({ edges: ["0", "1", "5", "inf"] }), scale: () => ({ steps: "5", ends: ["not at all", "very much"] }),
  matrix: () => ({ items: mapping(["a", "First item"], ["b", "Second item"]), steps: "5", ends: ["not at all", "very much"] }),
  unrelated: () => ({ scheme: mapping(["name", "unrelated_question"], ["known", ["0.5", "0.5"]]),
    unrelated: "Is your mother's birthday in the first half of the year?" }),
};

const opened = new WeakSet(); // questions whose cards are open
const formerFields = new WeakMap(); // what a question loses when its kind changes, for when it changes back

const questionsOf = () => listAt(draft.tree, "questions").filter(isMapping);

const isUnrelated = (question) => isMapping(get(question, "scheme")) && get(get(question, "scheme"), "name") === "unrelated_question";
const hasOwnScheme = (question) => has(question, "scheme") && !isUnrelated(question);
const kindOf = (question) => (isUnrelated(question) && textAt(question, "kind") === "yes_no" ? "unrelated" : textAt(question, "kind"));

function questionsSection() {
  const list = listAt(draft.tree, "questions");
  return h("section", { class: "questions", "data-field": "questions", "aria-label": "Questions" }, h("h2", {}, "Questions"),
    list.map((question, index) => (isMapping(question) ? questionCard(question, index, list) : null)),
    h("div", { class: "buttons" }, button("Add a question", addQuestion, { id: "add-question", class: "primary" })));
}

function storeQuestions(list, focus) {
  put(draft.tree, "questions", list, TOP_ORDER);
  changed();
  rebuild(focus);
}

function freshId(base = "q") {
  const used = new Set(questionsOf().flatMap((question) => [textAt(question, "id"), ...idsOf(question)]));
  for (let number = 1; ; number++) if (!used.has(`${base}${number}`)) return `${base}${number}`;
}

function addQuestion() {
  const list = listAt(draft.tree, "questions");
  const question = mapping(["id", freshId()], ["kind", "yes_no"], ["text", ""]);
  opened.add(question);
  storeQuestions([...list, question], `#question-${list.length} .text textarea`);
}

function questionCard(question, index, list) {
  const name = `questions[${index}]`;
  const title = () => textIn(get(question, "text"), languagesOf(draft.tree)[0], languagesOf(draft.tree)) || "A question without words yet";
  const heading = h("bdi", {}, title());
  const move = (to) => () => {
    const moved = [...list];
    moved.splice(to, 0, ...moved.splice(index, 1));
    storeQuestions(moved, `#question-${to} .${to < index ? "up" : "down"}:enabled, #question-${to} .${to < index ? "down" : "up"}`);
  };
  const duplicate = () => {
    const other = copyOf(question);
    put(other, "id", freshId(`${textAt(question, "id") || "q"}_`));
    opened.add(other);
    storeQuestions(list.toSpliced(index + 1, 0, other), `#question-${index + 1} summary`);
  };
  const remove = () => storeQuestions(list.filter((_, other) => other !== index), list.length > 1 ? `#question-${Math.max(index - 1, 0)} summary` : "#add-question");
  const public_ = get(question, "public") === "true";
  return h("details", { class: "card question", id: `question-${index}`, "data-field": name, open: opened.has(question),
    ontoggle: ({ target }) => (target.open ? opened.add(question) : opened.delete(question)) },
  h("summary", {}, h("span", { class: "no" }, `${index + 1}`), h("span", { class: "asked" }, heading),
    h("span", { class: "chips" }, h("span", { class: "chip" }, KINDS.find(([kind]) => kind === kindOf(question))?.[1] ?? "unknown kind"),
      public_ ? h("span", { class: "chip" }, "public") : h("span", { class: "chip numbers", "data-questions": JSON.stringify(idsOf(question)) }))),
  h("div", { class: "body" },
    h("div", { class: "text" }, texts(textAt(question, "kind") === "matrix" ? "Text above the items" : "Question", `${name}.text`, question, "text",
      { long: true, edited: () => (heading.textContent = title()) })),
    h("div", { class: "columns" },
      field("Kind", `${name}.kind`, select(kindOf(question), KINDS, (kind) => changeKind(question, kind, index))),
      field("Name in results", `${name}.id`, nameInput(question), { note: "Short, such as tax. Respondents do not see it." })),
    kindFields(question, name),
    optionFields(question, name, index),
    h("div", { class: "buttons tools" },
      button("Move up", move(index - 1), { class: "up", disabled: index === 0 }), button("Move down", move(index + 1), { class: "down", disabled: index === list.length - 1 }),
      button("Duplicate", duplicate), button("Remove", remove, { class: "danger" }))));
}

// References follow when a name is changed, at the moment the field is left.
function nameInput(question) {
  let before = textAt(question, "id");
  const element = input(before, (value) => (put(question, "id", value), changed()), { dir: "auto", spellcheck: "false" });
  element.onchange = () => {
    const after = element.value;
    if (before && after && before !== after) {
      const matrix = textAt(question, "kind") === "matrix";
      renameQuestions(draft.tree, (name) => (!matrix ? (name === before ? after : name) : name.startsWith(`${before}_`) ? after + name.slice(before.length) : name));
      changed();
    }
    before = after;
    rebuildLater();
  };
  return element;
}

function changeKind(question, kind, index) {
  const former = formerFields.get(question) ?? {};
  formerFields.set(question, former);
  const wanted = OF_KIND[kind];
  for (const key of new Set(Object.values(OF_KIND).flat())) {
    if (has(question, key) && (!wanted.includes(key) || key === "answers" || key === "scheme")) {
      const kept = key === "answers" && ["single", "several"].includes(kind) && ["single", "several"].includes(kindOf(question));
      if (!kept) (former[key] = get(question, key)), drop(question, key);
    }
  }
  if (["several", "matrix", "unrelated"].includes(kind)) drop(question, "public");
  put(question, "kind", kind === "unrelated" ? "yes_no" : kind);
  for (const [key, value] of Object.entries(NEW[kind]?.() ?? {})) if (!has(question, key)) put(question, key, key in former && key !== "scheme" ? former[key] : value);
  changed();
  rebuild(`#question-${index} select`);
}

function kindFields(question, name) {
  const kind = kindOf(question);
  if (kind === "yes_no") return yesNoFields(question, name);
  if (kind === "single" || kind === "several") return answerFields(question, name, kind);
  if (kind === "number") return numberFields(question, name);
  if (kind === "scale") return scaleFields(question, name);
  if (kind === "matrix") return [itemFields(question, name), scaleFields(question, name)];
  return kind === "unrelated" ? unrelatedFields(question, name) : null;
}

function yesNoFields(question, name) {
  const own = isMapping(get(question, "answers"));
  return [check("Own words for yes and no", `${name}.answers`, own,
    (on) => (on ? put(question, "answers", mapping(["no", "No"], ["yes", "Yes"])) : drop(question, "answers"), changed(), rebuild())),
  own && h("div", { class: "columns" }, keysOf(get(question, "answers")).map((id) => texts(`Instead of ${id}`, `${name}.answers.${id}`, get(question, "answers"), id)))];
}

function answerFields(question, name, kind) {
  const answers = get(question, "answers");
  const named = isMapping(answers);
  const entries = named ? answers.pairs : Array.isArray(answers) ? answers : [];
  const id = textAt(question, "id");
  const store = (list, focus) => (put(question, "answers", named ? { pairs: list } : list), changed(), rebuild(focus));
  const place = `[data-field="${CSS.escape(`${name}.answers`)}"]`;
  const move = (from, to) => {
    const moved = [...entries];
    moved.splice(to, 0, ...moved.splice(from, 1));
    store(moved, `${place} li:nth-child(${to + 1}) button`);
  };
  const rows = entries.map((entry, index) => h("li", { class: named ? "named" : null },
    h("div", { class: "answer" }, named
      ? [texts(`Answer ${index + 1}`, `${name}.answers.${entry[0]}`, answers, entry[0], { hidden: languagesOf(draft.tree).length === 1 }),
        field(`Name of answer ${index + 1} in results`, `${name}.answers`, answerNameInput(question, entry), { hidden: true })]
      : texts(`Answer ${index + 1}`, `${name}.answers[${index}]`, answers, index, { hidden: true, edited: (before, after) => renameAnswer(draft.tree, id, before, after) })),
    button("↑", () => move(index, index - 1), { class: "small", "aria-label": `Move answer ${index + 1} up`, disabled: index === 0 }),
    button("×", () => store(entries.filter((_, other) => other !== index), `${place} .add`), { class: "small", "aria-label": `Remove answer ${index + 1}`, disabled: entries.length < 3 })));
  const fresh = () => { for (let n = entries.length + 1; ; n++) if (!entries.some((entry) => (named ? entry[0] : entry) === `Answer ${n}`)) return `Answer ${n}`; };
  const add = () => store([...entries, named ? [fresh(), fresh()] : fresh()], `${place} li:last-child input`);
  const limit = (key, label) => field(label, `${name}.${key}`, input(textAt(question, key), (value) => (putOrDrop(question, key, value), changed()),
    { type: "number", min: 1, max: entries.length, class: "short" }));
  return h("div", { class: "group", "data-field": `${name}.answers` }, h("p", { class: "label" }, "Answers"),
    named && h("p", { class: "note" }, "The second field is the answer's name in results."),
    h("ol", { class: "answers" }, rows),
    h("div", { class: "buttons" }, button("Add an answer", add, { class: "add" }),
      !named && button("Give the answers short names", () => (put(question, "answers", { pairs: entries.map((text) => [text, text]) }), changed(), rebuild(`${place} input`)))),
    h("div", { class: "columns" }, kind === "several" && [limit("least", "Choose at least"), limit("most", "Choose at most")]),
    check("Shuffle the answers at each visit", `${name}.shuffle`, get(question, "shuffle") === "true",
      (on) => (on ? put(question, "shuffle", "true") : drop(question, "shuffle"), changed())));
}

function answerNameInput(question, entry) {
  const before = { name: entry[0] };
  return input(entry[0], (value) => {
    renameAnswer(draft.tree, textAt(question, "id"), before.name, value);
    before.name = entry[0] = value;
    changed();
  }, { class: "name", spellcheck: "false", onchange: () => rebuildLater() });
}

const listInput = (question, key, attributes = {}) => input(listAt(question, key).join(", "), (value) => {
  put(question, key, value.split(",").map((part) => part.trim()).filter(Boolean));
  changed();
}, attributes);

function numberFields(question, name) {
  const bins = Math.max(listAt(question, "edges").length - 1, 0);
  const labels = Array.isArray(get(question, "labels")) ? get(question, "labels") : null;
  return h("div", { class: "group" },
    h("div", { class: "columns" },
      field("Edges of the ranges", `${name}.edges`, listInput(question, "edges", { dir: "ltr", onchange: () => {
        if (labels) put(question, "labels", Array.from({ length: Math.max(listAt(question, "edges").length - 1, 0) }, (_, at) => labels[at] ?? `Range ${at + 1}`));
        changed();
        rebuildLater();
      } }), { note: "Increasing numbers, such as 0, 1, 5, inf." }),
      field("An edge belongs to the range", `${name}.closed`, select(textAt(question, "closed") || "left", [["left", "above it"], ["right", "below it"]],
        (value) => (value === "left" ? drop(question, "closed") : put(question, "closed", value), changed())))),
    check("Words for the ranges", `${name}.labels`, labels !== null, (on) => {
      if (on) put(question, "labels", Array.from({ length: bins }, (_, at) => `Range ${at + 1}`));
      else drop(question, "labels");
      changed();
      rebuild();
    }),
    labels && h("div", { class: "columns" }, labels.map((_, at) => texts(`Range ${at + 1}`, `${name}.labels[${at}]`, labels, at))));
}

function scaleFields(question, name) {
  const labels = Array.isArray(get(question, "labels")) ? get(question, "labels") : null;
  const ends = Array.isArray(get(question, "ends")) && get(question, "ends").length === 2 ? get(question, "ends") : null;
  const count = Number(textAt(question, "steps")) || labels?.length || 5;
  const resize = (value) => {
    const steps = Math.min(Math.max(Math.round(Number(value)) || 2, 2), 11);
    if (has(question, "steps") || !labels) put(question, "steps", value);
    if (labels) put(question, "labels", Array.from({ length: steps }, (_, at) => labels[at] ?? `Step ${at + 1}`));
    changed();
  };
  return h("div", { class: "group" },
    h("div", { class: "columns" },
      field("Steps", `${name}.steps`, input(String(count), resize, { type: "number", min: 2, max: 11, class: "short", onchange: () => rebuildLater() })),
      field("Results show", `${name}.wanted`, select(textAt(question, "wanted") || "shares",
        [["shares", "the share of each step"], ["mean", "also the mean"], ["trend", "also the shares up to each step"]],
        (value) => (value === "shares" ? drop(question, "wanted") : put(question, "wanted", value), changed())))),
    check("Words for every step", `${name}.labels`, labels !== null, (on) => {
      if (on) put(question, "labels", Array.from({ length: count }, (_, at) => (at === 0 && ends?.[0]) || (at === count - 1 && ends?.[1]) || `Step ${at + 1}`)), drop(question, "ends", "steps");
      else drop(question, "labels"), put(question, "steps", String(count)), put(question, "ends", labels ? [labels[0], labels[labels.length - 1]] : ["not at all", "very much"]);
      changed();
      rebuild();
    }),
    labels ? h("div", { class: "columns" }, labels.map((_, at) => texts(`Step ${at + 1}`, `${name}.labels[${at}]`, labels, at)))
      : ends && h("div", { class: "columns" }, texts("First step", `${name}.ends[0]`, ends, 0), texts("Last step", `${name}.ends[1]`, ends, 1)));
}

function itemFields(question, name) {
  const items = get(question, "items");
  if (!isMapping(items)) return null;
  const store = (pairs, focus) => (put(question, "items", { pairs }), changed(), rebuild(focus));
  const place = `[data-field="${CSS.escape(`${name}.items`)}"]`;
  const fresh = () => { for (let n = items.pairs.length + 1; ; n++) if (!has(items, `item${n}`)) return `item${n}`; };
  return h("div", { class: "group", "data-field": `${name}.items` }, h("p", { class: "label" }, "Items"),
    h("p", { class: "note" }, "The second field is the item's name in results."),
    h("ol", { class: "answers" }, items.pairs.map((entry, index) => h("li", { class: "named" },
      h("div", { class: "answer" }, texts(`Item ${index + 1}`, `${name}.items.${entry[0]}`, items, entry[0], { hidden: languagesOf(draft.tree).length === 1 }),
        field(`Name of item ${index + 1} in results`, `${name}.items`, input(entry[0], (value) => ((entry[0] = value), changed()), { class: "name", onchange: () => rebuildLater() }), { hidden: true })),
      button("×", () => store(items.pairs.filter((_, other) => other !== index), `${place} .add`), { class: "small", "aria-label": `Remove item ${index + 1}`, disabled: items.pairs.length < 2 })))),
    button("Add an item", () => store([...items.pairs, [fresh(), `Item ${items.pairs.length + 1}`]], `${place} li:last-child input`), { class: "add" }));
}

function unrelatedFields(question, name) {
  const scheme = get(question, "scheme");
  const known = listAt(scheme, "known");
  const share = (percent) => {
    const yes = Number(percent);
    const decimal = (value) => String(Number((value / 100).toFixed(6)));
    put(scheme, "known", percent === "" || Number.isNaN(yes) ? [percent, percent] : [decimal(100 - yes), decimal(yes)]);
    changed();
  };
  return h("div", { class: "group" },
    h("p", { class: "note" }, "Chance decides which of two questions a respondent answers, this one or a harmless one. Take a harmless question whose answers nobody can look up, and whose share of yes is known."),
    texts("Harmless question", `${name}.unrelated`, question, "unrelated"),
    field("Of 100 people, so many answer it with yes", `${name}.scheme`, input(known[1] ? String(Number((100 * Number(known[1])).toFixed(4))) : "", share,
      { type: "number", min: 0, max: 100, step: "any", class: "short" })));
}

function optionFields(question, name, index) {
  const kind = kindOf(question);
  const decline = get(question, "decline");
  const declines = decline !== null && decline !== "false";
  const public_ = get(question, "public") === "true";
  return h("details", { class: "options", open: public_ || has(question, "when") || has(question, "help") || declines || has(question, "odds") },
    h("summary", {}, "Help, declining, conditions, and odds of its own"),
    texts("Help", `${name}.help`, question, "help", { optional: true, note: "An explanation below the question. Optional." }),
    check("Respondents may decline to answer", `${name}.decline`, declines, (on) => (on ? put(question, "decline", "true") : drop(question, "decline"), changed(), rebuild()),
      "Declining is disguised like any answer."),
    declines && decline !== "true" && texts("Words for declining", `${name}.decline`, question, "decline"),
    !["several", "matrix", "unrelated"].includes(kind) && check("Public: the answer is sent as it is", `${name}.public`, public_,
      (on) => (on ? (put(question, "public", "true"), drop(question, "odds", "epsilon")) : drop(question, "public"), changed(), rebuild()),
      "For what is not sensitive, such as an age group: no coin protects it, and results can be compared between its answers."),
    conditionFields(question, name, index),
    !public_ && field("Odds of its own", `${name}.odds`, input(textAt(question, "odds"), (value) => (putOrDrop(question, "odds", value), changed()), { class: "short", dir: "ltr", placeholder: "a share of the budget" }),
      { note: "Such as 3:1. Left empty, questions share what the others leave." }),
    hasOwnScheme(question) && h("p", { class: "note" }, "Its scheme is only in the YAML, and is kept."));
}

function conditionFields(question, name, index) {
  const when = isMapping(get(question, "when")) ? get(question, "when") : mapping();
  const earlier = listAt(draft.tree, "questions").slice(0, index).filter(isMapping);
  const known = new Map(earlier.flatMap((other) => idsOf(other).map((id) => [id, other])));
  const store = (pairs) => (putOrDrop(question, "when", pairs.length ? { pairs } : null), changed(), rebuild(`#question-${index} .add-condition`));
  const free = [...known.keys()].filter((id) => !has(when, id));
  const chosen = (answers) => (Array.isArray(answers) ? answers : isText(answers) ? [answers] : []);
  if (!known.size && !when.pairs.length) return null;
  return h("div", { class: "group", "data-field": `${name}.when` }, h("p", { class: "label" }, "Asked only after these answers"),
    when.pairs.map((pair, at) => {
      const options = known.has(pair[0]) ? answersOf(known.get(pair[0])) : null;
      const others = chosen(pair[1]).filter((answer) => !options?.includes(answer));
      const toggle = (answer, on) => {
        pair[1] = on ? [...chosen(pair[1]), answer] : chosen(pair[1]).filter((other) => other !== answer);
        changed();
      };
      return h("fieldset", { class: "condition", "data-field": `${name}.when.${pair[0]}` }, h("legend", {}, "If ",
        select(pair[0], [pair[0], ...free].map((id) => [id, id]), (id) => ((pair[0] = id), (pair[1] = []), store(when.pairs)), { "aria-label": "Earlier question" }), " is"),
      options ? [...options, ...others].map((answer) => check(answer, "", chosen(pair[1]).includes(answer), (on) => toggle(answer, on)))
        : input(chosen(pair[1]).join(", "), (value) => ((pair[1] = value.split(",").map((part) => part.trim()).filter(Boolean)), changed()), { "aria-label": "Answers" }),
      button("Remove", () => store(when.pairs.filter((_, other) => other !== at)), { class: "small", "aria-label": `Remove the condition about ${pair[0]}` }));
    }),
    free.length > 0 && button("Add a condition", () => store([...when.pairs, [free.at(-1), []]]), { class: "add-condition" }));
}
