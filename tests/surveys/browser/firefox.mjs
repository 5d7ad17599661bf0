// A respondent in Firefox, driven over WebDriver BiDi: `node firefox.mjs FOLDER PROGRAM LINK`, where FOLDER has
// puppeteer-core. Every question is answered with its first answer; what was seen is printed as JSON.

import { createRequire } from "node:module";

const [folder, program, link] = process.argv.slice(2);
const puppeteer = createRequire(`${folder}/`)("puppeteer-core");
const MOST_SCREENS = 40;

// Bodies of requests, which WebDriver BiDi does not tell.
function recordBodies() {
  const { fetch } = window;
  window.bodies = [];
  window.fetch = (address, options) => {
    if (options?.body) window.bodies.push([address, options.body]);
    return fetch.call(window, address, options);
  };
}

const seen = { addresses: [], bodies: [], browser: null, looked: null, mistakes: [], receipt: null, screens: [] };
const browser = await puppeteer.launch({ browser: "firefox", executablePath: program, headless: true });
try {
  seen.browser = await browser.version();
  const page = await browser.newPage();
  await page.setViewport({ width: 390, height: 844 });
  page.on("pageerror", (error) => seen.mistakes.push(String(error)));
  page.on("request", (request) => request.url().startsWith("data:") || seen.addresses.push(request.url()));
  await page.evaluateOnNewDocument(recordBodies);
  await page.goto(link);
  await page.waitForSelector("main button.primary");
  for (let screen = 0; screen < MOST_SCREENS && !seen.receipt; screen++) {
    const before = await page.$eval("main", (main) => main.innerText);
    seen.screens.push(await page.$eval("main h1", (heading) => heading.innerText));
    const answer = await page.$("fieldset input");
    if (answer) await answer.click();
    await page.click("main button.primary");
    await page.waitForFunction((text) => {
      const main = document.querySelector("main");
      return main.innerText !== text && main.querySelector("button.primary, .receipt");
    }, {}, before);
    seen.bodies = await page.evaluate(() => window.bodies);
    seen.receipt = await page.$eval(".receipt", (receipt) => receipt.innerText).catch(() => null);
  }
  await page.$eval(".receipt-check button", (button) => button.click());
  const told = await page.waitForFunction(() => {
    const { textContent } = document.querySelector(".receipt-check p");
    return /stored:|not in|could not/.exec(textContent)?.[0];
  });
  seen.looked = await told.jsonValue();
} finally {
  await browser.close();
}
console.log(JSON.stringify(seen));
