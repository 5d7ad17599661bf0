// Every state of the page in Firefox, over WebDriver BiDi: `node firefox_states.mjs FOLDER PROGRAM SETTINGS`, where FOLDER
// has puppeteer-core. SETTINGS is a JSON file with the `steps` of states.py, the `preferences` of the browser, and what is
// looked for: `axe` and `looks` as sources, `rules`, `colours`, `direction`, `language` and `widths`; `start` is the address of
// any page. The states that were seen, and what was wrong with them, are printed as JSON; pictures are written under the
// name `pictures`, if there is one.

import { readFileSync } from "node:fs";
import { createRequire } from "node:module";

const [folder, program, file] = process.argv.slice(2);
const { axe, colours, direction, language, looks, pictures, preferences, rules, start, steps, widths } =
  JSON.parse(readFileSync(file, "utf-8"));
const puppeteer = createRequire(`${folder}/`)("puppeteer-core");
const MOST_TABS = 60;
const PATIENCE = 120_000; // milliseconds, on a machine that is busy

// While the address bar has the focus, a page shows no focus and is not said to have any. A browser that starts with an empty
// page puts it there, sooner or later, so this one starts with a page of the server, and has no other one.
const UNDISTURBED = {
  "focusmanager.testmode": true, // windows count as active, whatever else is on the machine's screen
  "browser.aboutwelcome.enabled": false,
  "browser.preonboarding.enabled": false,
  "browser.shell.checkDefaultBrowser": false,
  "browser.translations.automaticallyPopup": false,
  "datareporting.policy.dataSubmissionPolicyBypassNotification": true,
  "termsofuse.bypassNotification": true,
};
const ELSEWHERE = { "network.dns.localDomains": "survey.test", "dom.security.https_first": false };

const seen = { browser: null, faults: [], states: [] };
const browser = await puppeteer.launch({ browser: "firefox", executablePath: program, headless: true,
  timeout: PATIENCE, args: [start], extraPrefsFirefox: { ...UNDISTURBED, ...ELSEWHERE, ...preferences } });
const [page] = await browser.pages();
const answers = new Map();
const scripts = []; // that run in every page that is opened
let leapt = 0; // milliseconds

// Wait until an expression is true in the page, which may be replaced by another one while it is asked.
async function until(expression) {
  for (const end = Date.now() + PATIENCE; Date.now() < end;) {
    if (await page.evaluate(expression).catch(() => false)) return;
    await new Promise((resume) => setTimeout(resume, 20));
  }
  throw new Error(`in vain: ${expression.slice(-200)}`);
}

const inPage = (name, told = {}) => page.evaluate(`(${looks}).${name}(${JSON.stringify(told)})`);

// In the page: a clock that is so many milliseconds ahead.
function setForward(ahead) {
  const Real = (window.RealDate ??= Date);
  window.Date = class extends Real {
    constructor(...told) {
      super(...(told.length ? told : [Real.now() + ahead]));
    }

    static now() {
      return Real.now() + ahead;
    }
  };
}

async function answerRequest(request) {
  if (!request.canBeIntercepted()) return;
  const [, answer] = [...answers].find(([path]) => new URL(request.url()).pathname.endsWith(path)) ?? [];
  if (!answer) return request.continue();
  if (answer === "fails") return request.abort();
  const [status, body] = answer;
  return request.respond({ status, contentType: "application/json", body: JSON.stringify(body) });
}

// Firefox calls it a mistake when a module does not arrive, which is what one of the states is about.
const isMeant = (error) => answers.has("/main.js") && /integrity .*main\.js/s.test(String(error));

const does = {
  async open({ link }) {
    const address = link ?? (await page.$eval("#carried", ({ value }) => value));
    await page.goto("about:blank");
    await page.goto(address);
  },

  async press({ at, key }) {
    for (let tab = 0; tab < MOST_TABS; tab++) {
      await page.keyboard.press("Tab");
      const { there, seen: outlined } = await inPage("focus", { at });
      if (!there) continue;
      if (!outlined) throw new Error(`no focus to be seen at ${at}`);
      return page.keyboard.press(key);
    }
    throw new Error(`${at} cannot be reached by Tab`);
  },

  key: ({ key }) => page.keyboard.press(key),

  // Requests are held up only where one of them has another answer: that takes time.
  async answer({ path, answer }) {
    if (answer) answers.set(path, answer);
    else answers.delete(path);
    await page.setRequestInterception(answers.size > 0);
  },

  run: ({ script }) => page.evaluate(script),

  wait: ({ until: expression }) => until(expression),

  // The device was asleep: its clock is ahead, and the page is looked at again.
  async leap({ seconds }) {
    leapt += Math.round(1000 * seconds);
    scripts.push(await page.evaluateOnNewDocument(setForward, leapt)); // the last one counts
    await page.evaluate(setForward, leapt);
    await page.evaluate(() => document.dispatchEvent(new Event("visibilitychange", { bubbles: true })));
  },

  async forget() {
    scripts.push(await page.evaluateOnNewDocument(() => {
      IDBObjectStore.prototype.put = () => {
        throw new Error("full");
      };
    }));
  },

  async english({ selector, count }) {
    const found = await inPage("count", { selector: `${selector}[lang=en]` });
    if (found !== (language === "en" ? 0 : count)) seen.faults.push(`${selector} in English: ${found}`);
  },
};

async function look({ state, at_heading: atHeading = true, direction: itsOwn = direction }) {
  for (const width of widths) {
    await page.setViewport({ width, height: 800 });
    const found = await inPage("faults", { atHeading, colours, direction: itsOwn, width });
    seen.faults.push(...found.map((fault) => `${state}, ${width} pixels: ${fault}`));
    if (pictures) await page.screenshot({ path: `${pictures}-${String(seen.states.length).padStart(2, "0")}-${state}-${width}.png`, fullPage: true });
  }
  if (!(await inPage("axeIsThere"))) await page.evaluate(axe);
  seen.faults.push(...(await inPage("findings", { rules })).map((fault) => `${state}: ${fault}`));
  seen.states.push(state);
}

try {
  seen.browser = await browser.version();
  page.on("pageerror", (error) => isMeant(error) || seen.faults.push(`a mistake of the page's script: ${error}`));
  page.on("request", (request) => answerRequest(request).catch((reason) => seen.faults.push(String(reason))));
  page.setDefaultTimeout(PATIENCE);
  await until(`location.href === ${JSON.stringify(start)} && document.readyState === "complete" && document.hasFocus()`);
  for (const part of steps) {
    for (const { identifier } of scripts.splice(0)) await page.removeScriptToEvaluateOnNewDocument(identifier);
    leapt = 0;
    for (const step of part) {
      await does[step.do](step);
      if (step.wanted) await until(`(${looks}).visible(${JSON.stringify({ wanted: step.wanted })})`);
      if (step.state) await look(step);
    }
  }
} catch (reason) {
  seen.faults.push(`after "${seen.states.at(-1)}": ${reason}`);
} finally {
  await browser.close();
}
console.log(JSON.stringify(seen));
