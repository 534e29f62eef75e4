// The same questions as keystrokes.py asked (its --trace), at the same times, through llama.cpp in the plain way of most
// editor plugins: a key cancels what runs, and 150 ms without a key ask the model, from the text before the cursor.
//
//   npm i node-llama-cpp@3.22.1      anywhere; NODE_LLAMA names that folder
//   node keystrokes_llama.mjs TRACE MODEL.gguf [THREADS]
//
// Prints one JSON object: milliseconds from a key to a whole line, and the tokens of prompts that were computed.
import fs from "node:fs";
import path from "node:path";
import { pathToFileURL } from "node:url";

const [, , traceFile, modelFile, threads = "2"] = process.argv;
const library = path.join(process.env.NODE_LLAMA ?? ".", "node_modules/node-llama-cpp/dist/index.js");
const { getLlama } = await import(pathToFileURL(path.resolve(library)));
const pauseMs = 150;
const mostTokens = 40;

const trace = fs.readFileSync(traceFile, "utf8").trim().split("\n").map((line) => JSON.parse(line));
const llama = await getLlama({ gpu: false, logLevel: "error" });
const model = await llama.loadModel({ modelPath: modelFile });
const context = await model.createContext({ contextSize: 4096, threads: +threads });
const sequence = context.getSequence();

let known = []; // tokens in the sequence's cache
let promptTokens = 0;
let computedTokens = 0;
let requests = 0;
let finished = 0;
const times = [];

// The cache keeps the part that both prompts begin with, as the library's own completion does.
async function complete(prefix, askedAt, signal) {
  const tokens = model.tokenize(prefix);
  let common = 0;
  while (common < known.length && common < tokens.length - 1 && known[common] === tokens[common]) common++;
  await sequence.eraseContextTokenRanges([{ start: common, end: sequence.nextTokenIndex }]);
  known = tokens.slice(0, common);
  requests++;
  promptTokens += tokens.length;
  let fed = tokens.slice(common);
  let text = "";
  let count = 0;
  let first = true;
  for await (const token of sequence.evaluate(fed, { temperature: 0 })) {
    if (first) {
      computedTokens += fed.length;
      known = tokens.slice();
      first = false;
    }
    if (signal.cancelled || model.isEogToken(token)) break;
    known.push(token);
    text += model.detokenize([token]);
    if (text.includes("\n") || ++count >= mostTokens) break;
  }
  if (signal.cancelled) return;
  known = known.slice(0, sequence.nextTokenIndex);
  finished++;
  if (text.trim() !== "") times.push(performance.now() - askedAt);
}

const begin = performance.now();
const zero = trace[0].at;
let running = { cancelled: true };
let work = Promise.resolve();
for (let i = 0; i < trace.length; i++) {
  const at = begin + 1000 * (trace[i].at - zero);
  const next = i + 1 < trace.length ? begin + 1000 * (trace[i + 1].at - zero) : Infinity;
  const wait = (until) => new Promise((resolve) => setTimeout(resolve, Math.max(0, until - performance.now())));
  await wait(at);
  running.cancelled = true;
  if (next - at < pauseMs) continue;
  const signal = { cancelled: false };
  running = signal;
  const { prefix } = trace[i];
  const previous = work;
  work = (async () => {
    await wait(at + pauseMs);
    await previous;
    if (!signal.cancelled) await complete(prefix, at, signal);
  })();
}
await work;
times.sort((a, b) => a - b);
const percentile = (share) => (times.length ? Math.round(times[Math.min(times.length - 1, Math.floor(times.length * share))]) : null);
console.log(JSON.stringify({
  questions: trace.length,
  requests,
  finished,
  shown: times.length,
  share_of_questions_with_text: +(times.length / trace.length).toFixed(3),
  ghost_text_ms_p50: percentile(0.5),
  ghost_text_ms_p95: percentile(0.95),
  prompt_tokens_per_request: Math.round(promptTokens / Math.max(1, requests)),
  prompt_tokens_computed: computedTokens,
}, null, 2));
process.exit(0);
