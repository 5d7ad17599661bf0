// A survey in Firefox by keyboard alone: `node firefox_states.mjs FOLDER PROGRAM SETTINGS`, where FOLDER has puppeteer-core.
// SETTINGS is a JSON file with `link`, `others` (links to screens that need no walk), `width`, `preferences`, and as sources
// `axe` and `smallTargets`. What was wrong with each screen is printed as JSON, and a picture of it written into the folder
// `pictures`, if there is one.

import { readFileSync } from "node:fs";
import { createRequire } from "node:module";

const [folder, program, file] = process.argv.slice(2);
const { axe, link, others, pictures, preferences, smallTargets, width } = JSON.parse(readFileSync(file, "utf-8"));
const puppeteer = createRequire(`${folder}/`)("puppeteer-core");
const [MOST_SCREENS, MOST_TABS] = [30, 60];

const seen = { dark: null, direction: null, forced: null, mistakes: [], screens: [] };
const browser = await puppeteer.launch({ browser: "firefox", executablePath: program, headless: true,
  extraPrefsFirefox: preferences });
const page = await browser.newPage();

async function look(atHeading = true) {
  await page.bringToFront(); // a window that is not active shows no focus and takes no keys
  const heading = await page.$eval("main h1", (found) => found.innerText);
  await page.evaluate(axe);
  const found = await page.evaluate(async () => {
    const { violations } = await window.axe.run();
    return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(" ")}`);
  });
  found.push(...(await page.evaluate(`(${smallTargets})()`)).map((html) => `a small target: ${html}`));
  const scrolled = await page.evaluate(() => document.documentElement.scrollWidth);
  if (scrolled > width) found.push(`${scrolled} pixels wide`);
  const focused = await page.evaluate(() => document.activeElement === document.querySelector("main h1"));
  if (atHeading && !focused) found.push("the heading has no focus");
  if (pictures) await page.screenshot({ path: `${pictures}-${String(seen.screens.length).padStart(2, "0")}.png`, fullPage: true });
  seen.screens.push({ heading, found });
}

// Go to an element by Tab, and press a key there.
async function press(selector, key) {
  for (let tab = 0; tab < MOST_TABS; tab++) {
    await page.keyboard.press("Tab");
    const [there, outlined] = await page.evaluate((wanted) => {
      const { activeElement } = document;
      const shown = [activeElement, activeElement.closest(".option")].some((element) =>
        element && getComputedStyle(element).outlineStyle !== "none");
      return [activeElement.matches(wanted), shown];
    }, selector);
    if (!there) continue;
    if (!outlined) seen.mistakes.push(`no focus to be seen at ${selector}`);
    return page.keyboard.press(key);
  }
  throw new Error(`${selector} cannot be reached by Tab`);
}

try {
  await page.setViewport({ width, height: 800 });
  page.on("pageerror", (error) => seen.mistakes.push(String(error)));
  await page.goto(link);
  await page.waitForSelector("main .demo table");
  Object.assign(seen, await page.evaluate(() => ({ direction: document.documentElement.dir,
    dark: matchMedia("(prefers-color-scheme: dark)").matches, forced: matchMedia("(forced-colors: active)").matches })));
  for (let screen = 0; screen < MOST_SCREENS; screen++) {
    await look();
    if (await page.$(".receipt, [role=timer]")) break;
    const before = await page.$eval("main", (main) => main.innerText);
    const groups = await page.$$eval("main input", (inputs) => [...new Set(inputs.map(({ name }) => name))]);
    for (const name of groups) await press(`input[name=${name}]`, " ");
    await press("button.primary", "Enter");
    await page.waitForFunction((text) => {
      const main = document.querySelector("main");
      return main.innerText !== text && !main.querySelector("[role=status]:only-of-type:not(.note)") &&
        main.querySelector("button.primary, .receipt, [role=timer]");
    }, {}, before);
  }
  await press("summary", "Enter"); // all bytes that were sent, or how to send them from elsewhere
  await look(false);
  if (await page.$("[role=timer]")) {
    await press("details > button", "Enter"); // not from here
    await page.waitForFunction(() => !document.querySelector("[role=timer]"));
    await look();
  }
  for (const other of others) {
    await page.goto("about:blank");
    await page.goto(other);
    await page.waitForFunction(() => {
      const main = document.querySelector("main"); // the page for respondents, or one that the server has made
      return main && (!main.dataset.survey || document.activeElement.matches("main h1"));
    });
    await look(false);
  }
} catch (reason) {
  seen.mistakes.push(String(reason));
} finally {
  await browser.close();
}
console.log(JSON.stringify(seen));
