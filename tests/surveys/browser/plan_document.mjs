// Plan documents, as docs/format.md has them, read with the page's modules.

const INSIDE_TEXTS = /"(?:[^"\\]|\\.)*"|true|false|null/gs;

export const readerOfPlanDocuments = ({ canonical, readPlan, Refused, require, requireKeys, sha256 }) => async (text) => {
  // Readers differ in what they make of 1.0 and 1e0.
  require(!/[.eE]|-0(?![0-9])/.test(text.replace(INSIDE_TEXTS, "")), "a number that is no plain integer");
  const document = parsed(text, Refused);
  requireKeys(document, ["plan", "sha256"]);
  const found = await sha256(canonical(document.plan));
  require(document.sha256 === found, "another hash than is stated");
  return readPlan(document.plan);
};

function parsed(text, Refused) {
  try {
    return JSON.parse(text);
  } catch (reason) {
    throw new Refused(String(reason));
  }
}
