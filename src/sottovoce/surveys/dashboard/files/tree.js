// Trees of definitions: a mapping is {pairs: [[key, value], ...]}, a list is an array, a scalar is a string or null.

const TOP_ORDER = ["title", "asker", "purpose", "contact", "languages", "until", "invitation", "minimum", "send_interval",
  "odds", "epsilon", "weak", "split", "comprehension_check", "consent", "thanks", "colour", "logo", "questions", "groups",
  "together"];
const QUESTION_ORDER = ["id", "kind", "text", "help", "answers", "items", "edges", "closed", "labels", "steps", "ends",
  "wanted", "least", "most", "shuffle", "decline", "public", "when", "odds", "epsilon", "scheme", "unrelated"];

const mapping = (...pairs) => ({ pairs });
const isMapping = (value) => value !== null && typeof value === "object" && Array.isArray(value.pairs);
const isText = (value) => typeof value === "string";
const keysOf = (map) => map.pairs.map(([key]) => key);
const has = (map, key) => map.pairs.some(([known]) => known === key);
const get = (map, key) => map.pairs.find(([known]) => known === key)?.[1] ?? null;
const textAt = (map, key) => (isText(get(map, key)) ? get(map, key) : "");
const listAt = (map, key) => (Array.isArray(get(map, key)) ? get(map, key) : []);
const copyOf = (value) => JSON.parse(JSON.stringify(value));

// Set a key where it belongs in the order that definitions usually have.
function put(map, key, value, order = QUESTION_ORDER) {
  const known = map.pairs.find(([name]) => name === key);
  if (known) return void (known[1] = value);
  const later = order.slice(order.indexOf(key) + 1);
  const place = map.pairs.findIndex(([name]) => later.includes(name));
  map.pairs.splice(place < 0 ? map.pairs.length : place, 0, [key, value]);
}

const drop = (map, ...keys) => (map.pairs = map.pairs.filter(([key]) => !keys.includes(key)));

// Set an optional key, which goes when its value is empty.
const putOrDrop = (map, key, value, order) => (value === "" || value === null ? drop(map, key) : put(map, key, value, order));

// A text in a language: texts that are no mappings are in the first one.
const textIn = (value, tag, languages) =>
  isMapping(value) ? textAt(value, tag) : isText(value) && tag === languages[0] ? value : "";

function withText(value, tag, text, languages) {
  const found = languages.map((known) => [known, known === tag ? text : textIn(value, known, languages)]);
  const given = found.filter(([, words]) => words !== "");
  if (given.every(([known]) => known === languages[0])) return given[0]?.[1] ?? "";
  return { pairs: given };
}

const languagesOf = (tree) => {
  const found = listAt(tree, "languages").filter(isText);
  return found.length ? found : ["en"];
};

// Remove a language from all texts, which are mappings of languages only.
function withoutLanguage(value, tag, languages) {
  if (Array.isArray(value)) return value.map((part) => withoutLanguage(part, tag, languages));
  if (!isMapping(value)) return value;
  const keys = keysOf(value);
  if (keys.includes(tag) && keys.every((key) => languages.includes(key))) {
    const kept = value.pairs.filter(([key]) => key !== tag);
    return kept.length === 1 && kept[0][0] === languages.find((known) => known !== tag) ? kept[0][1] : { pairs: kept };
  }
  return { pairs: value.pairs.map(([key, part]) => [key, withoutLanguage(part, tag, languages)]) };
}

// Odds such as 9:1, 7/2 or 3 as a number; null if they cannot be read.
function oddsFrom(text) {
  const [, above, below] = /^\s*(\d+(?:\.\d+)?)(?:\s*[:/]\s*(\d+(?:\.\d+)?))?\s*$/.exec(text ?? "") ?? [];
  return above === undefined ? null : Number(above) / Number(below ?? 1);
}

// Ids of a question in reports: those of the items of a matrix are joined to its own.
const idsOf = (question) => (textAt(question, "kind") === "matrix" && isMapping(get(question, "items"))
  ? keysOf(get(question, "items")).map((item) => `${textAt(question, "id")}_${item}`) : [textAt(question, "id")]);

// Answers by which conditions may name them; null where they cannot be listed here.
function answersOf(question) {
  const [kind, answers, labels] = [textAt(question, "kind"), get(question, "answers"), get(question, "labels")];
  const declined = get(question, "decline") !== null && get(question, "decline") !== "false" ? ["no answer"] : [];
  const numbered = (count) => Array.from({ length: count }, (_, index) => String(index + 1));
  const found = { yes_no: () => ["no", "yes"], single: () => (isMapping(answers) ? keysOf(answers) : answers),
    number: () => (Array.isArray(labels) && labels.every(isText) ? labels : null),
    scale: () => numbered(Number(textAt(question, "steps")) || labels?.length || 0) };
  const known = (found[kind === "several" ? "single" : kind === "matrix" ? "scale" : kind] ?? (() => null))();
  return Array.isArray(known) && known.every(isText) ? [...known, ...declined] : null;
}

// Change a name in all conditions, pairs and groups; `rename` returns the new name of each.
function renameQuestions(tree, rename) {
  for (const question of listAt(tree, "questions").filter(isMapping)) {
    const when = get(question, "when");
    if (isMapping(when)) when.pairs.forEach((pair) => (pair[0] = rename(pair[0])));
  }
  const renamed = (names) => (Array.isArray(names) ? names.map((name) => (isText(name) ? rename(name) : name)) : names);
  if (has(tree, "together")) put(tree, "together", listAt(tree, "together").map(renamed));
  for (const group of listAt(tree, "groups").filter(isMapping)) put(group, "questions", renamed(get(group, "questions")));
}

// Change the name of an answer in all conditions about its question.
function renameAnswer(tree, id, before, after) {
  for (const question of listAt(tree, "questions").filter(isMapping)) {
    const when = get(question, "when");
    for (const pair of isMapping(when) ? when.pairs : []) {
      if (pair[0] !== id) continue;
      pair[1] = Array.isArray(pair[1]) ? pair[1].map((name) => (name === before ? after : name)) : pair[1] === before ? after : pair[1];
    }
  }
}
