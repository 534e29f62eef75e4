// Drives a real VS Code as a person does: node drive.mjs BASE_URL PLAN OUT. PLAN is a JSON file: {workspace, steps}; each
// step is [what, ...]. Prints one JSON line a step; screenshots go to OUT. Exit code 1 when a step failed.
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { createRequire } from "node:module";

const [, , base, planFile, out] = process.argv;
const { chromium } = createRequire(path.join(process.env.VSCODE_TESTS, "package.json"))("playwright-core");
const plan = JSON.parse(fs.readFileSync(planFile, "utf8"));
fs.mkdirSync(out, { recursive: true });
const profile = fs.mkdtempSync(path.join(os.tmpdir(), "glm-chromium-"));
const browser = await chromium.launchPersistentContext(profile, {
  executablePath: process.env.CHROMIUM,
  headless: true,
  viewport: { width: 1200, height: 600 },
  args: ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync",
         "--disable-background-networking", "--disable-component-update"],
});
const page = browser.pages()[0] ?? (await browser.newPage());
const pause = (ms) => page.waitForTimeout(ms);

// Ghost text is split over several elements, and blanks are written as U+00A0.
const ghost = () =>
  page.evaluate(() =>
    [...document.querySelectorAll(".monaco-editor [class*=ghost-text]")]
      .filter((e) => !e.parentElement?.closest("[class*=ghost-text]"))
      .map((e) => e.textContent).join("").replace(/\u00a0/g, " "));
const bar = () => page.evaluate(() => document.querySelector("#glm-host\\.glm-host\\.glm\\.status")?.textContent ?? "");

async function until(ask, good, ms, what) {
  const end = Date.now() + ms;
  let last;
  while (Date.now() < end) {
    last = await ask();
    if (good(last)) return last;
    await pause(50);
  }
  throw new Error(`${what}; the last was ${JSON.stringify(last)}`);
}

async function open(file) {
  const encoded = plan.workspace.split("/").map(encodeURIComponent).join("/");
  const url = new URL(base);
  const payload = file
    ? `&payload=${encodeURIComponent(JSON.stringify([["openFile", `vscode-remote://${url.host}${encoded}/${encodeURIComponent(file)}`]]))}`
    : "";
  await page.goto(`${base}/?folder=${encoded}${payload}`, { waitUntil: "domcontentloaded" });
  await page.waitForSelector(".statusbar", { timeout: 60000 });
  if (file) {
    await page.waitForSelector(".monaco-editor .view-lines", { timeout: 60000 });
    await page.click(".monaco-editor .view-lines");
  }
  return until(bar, (text) => /GLM/.test(text) && !/%/.test(text), 90000, "the status bar does not show GLM");
}

const steps = {
  open,
  press: async (keys) => { await page.keyboard.press(keys); await pause(150); },
  type: async (text) => { await page.keyboard.type(text, { delay: 60 }); },
  // What is shown when it has come to rest.
  ghost: async (part) => {
    await until(ghost, (text) => text.includes(part) && text !== "", 20000, `no ghost text with ${JSON.stringify(part)}`);
    let last = "";
    for (let same = 0; same < 8; ) {
      const text = await ghost();
      same = text === last ? same + 1 : 0;
      last = text;
      await pause(100);
    }
    return last;
  },
  noGhost: async () => { await until(ghost, (text) => text === "", 5000, "ghost text is still there"); await pause(500); return ghost(); },
  // Types the first N characters of what is shown, and watches that the rest stays.
  typeAlong: async (count) => {
    const text = await ghost();
    const gone = [];
    for (let i = 0; i < count; i++) {
      await page.keyboard.type(text[i]);
      for (let j = 0; j < 6; j++) {
        await pause(25);
        const now = await ghost();
        // The old text, or the same less what was typed; either may have grown at its end.
        const stays = now !== "" && (now.startsWith(text.slice(i)) || now.startsWith(text.slice(i + 1)));
        if (!stays) gone.push(`${i}: ${now}`);
      }
    }
    return { text, rest: await ghost(), gone };
  },
  save: async () => { await page.keyboard.press("Control+S"); await pause(1000); },
  run: async (command) => {
    await page.keyboard.press("F1");
    await page.waitForSelector(".quick-input-widget input");
    await page.keyboard.type(command);
    await pause(500);
    await page.keyboard.press("Enter");
    await pause(1000);
  },
  text: async (part) => until(() => page.evaluate(() => document.body.innerText), (text) => text.includes(part), 10000, `${part} is not shown`).then(() => part),
  bar,
  barHas: async (part) => until(bar, (text) => text.includes(part), 30000, `the status bar does not say ${part}`),
  wait: (ms) => pause(ms),
};

let failed = false;
let number = 0;
for (const [what, ...values] of plan.steps) {
  const name = `${String(++number).padStart(2, "0")}-${what}`;
  try {
    const value = await steps[what](...values);
    console.log(JSON.stringify({ step: name, value: value ?? null }));
    if (["ghost", "noGhost", "typeAlong", "open"].includes(what)) await page.screenshot({ path: path.join(out, `${name}.png`) });
  } catch (error) {
    failed = true;
    console.log(JSON.stringify({ step: name, failed: String(error.message ?? error) }));
    await page.screenshot({ path: path.join(out, `${name}-failed.png`) });
    break;
  }
}
await browser.close();
fs.rmSync(profile, { recursive: true, force: true });
process.exit(failed ? 1 : 0);
