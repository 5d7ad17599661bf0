// Facts of every question of plans, from the page's modules: node facts.mjs FOLDER FILE-OF-PLANS. Prints JSON.

import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const [folder, file] = process.argv.slice(2);
const module = (name) => import(pathToFileURL(`${folder}/${name}.js`));
const [{ readPlan }, { factsOf, perHundred, strength }] = await Promise.all(["documents", "facts"].map(module));

const ratioText = (ratio) => ratio && ratio.join("/");
const numbers = (share) => {
  const { count, oneIn, never } = perHundred(share);
  return never ? { never } : count === undefined ? { one_in: String(oneIn) } : { count };
};
const listed = (shares) => shares && [...shares].map(([label, share]) =>
  ({ label, share: ratioText(share), ...numbers(share) }));

// Milliseconds of processor time since then: on a busy machine the clock says nothing.
const spent = (start) => {
  const { user, system } = process.cpuUsage(start);
  return (user + system) / 1000;
};

const found = [];
for (const plan of JSON.parse(readFileSync(file, "utf-8"))) {
  const survey = { plan, mechanisms: await readPlan(plan) };
  const start = process.cpuUsage();
  const questions = plan.schema.map(({ name }) => {
    const { odds, shares, omitted, ...facts } = factsOf(survey, { id: name });
    return { ...facts, odds: ratioText(odds), shares: listed(shares), omitted: listed(omitted) };
  });
  found.push({ strength: strength(survey), questions, milliseconds: spent(start) });
}
console.log(JSON.stringify(found));
