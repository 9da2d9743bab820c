// Measures every node of a model on ONNX Runtime and writes the profile for `mfc --profile`:
//
//     mfc model.onnx -o step.onnx --budget none
//     node examples/profile.mjs step.onnx -o profile.json
//     mfc model.onnx -o plan.onnx --profile profile.json
//
// Options: -o FILE (profile.json), --runs N (5; one more comes first and does not count), --level disabled|basic|extended|all
// (disabled: no node is fused), --threads N (default: ONNX Runtime's), --inputs FILE (a JSON object from names of inputs to flat
// lists of numbers). Other inputs are made up: small random floats, integers 0 and 1. `onnxruntime-node` is loaded from the
// folder in MFC_NODE_MODULES, or from here.
import { mkdtempSync, readFileSync, readdirSync, rmSync, copyFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { feedsOf, load } from './feeds.mjs';

const ort = load('onnxruntime-node');

const { values: given, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    output: { type: 'string', short: 'o', default: 'profile.json' },
    runs: { type: 'string', default: '5' },
    level: { type: 'string', default: 'disabled' },
    threads: { type: 'string' },
    inputs: { type: 'string' },
  },
});
const runs = Number(given.runs), threads = given.threads === undefined ? undefined : Number(given.threads);
if (positionals.length !== 1 || !Number.isInteger(runs) || runs < 1 || (threads !== undefined && !(threads >= 1))) {
  console.error('usage: node profile.mjs MODEL.onnx [-o FILE] [--runs N] [--level LEVEL] [--threads N] [--inputs FILE]');
  process.exit(2);
}

const folder = mkdtempSync(join(tmpdir(), 'profile-'));
try {
  const session = await ort.InferenceSession.create(positionals[0], {
    logSeverityLevel: 3, graphOptimizationLevel: given.level, executionMode: 'sequential', enableProfiling: true,
    profileFilePrefix: join(folder, 'p'), ...(threads ? { intraOpNumThreads: threads } : {}),
  });
  const numbers = given.inputs ? JSON.parse(readFileSync(given.inputs, 'utf8')) : {};
  const feeds = feedsOf(ort, session, numbers);
  for (let run = 0; run <= runs; run++) await session.run(feeds);
  session.endProfiling();
  const [file] = readdirSync(folder);
  if (!file) throw new Error('ONNX Runtime wrote no profile; use onnxruntime-node 1.23 or later');
  copyFileSync(join(folder, file), given.output);
  console.log(`${given.output}: ${runs} runs of ${positionals[0]}`);
} finally {
  rmSync(folder, { recursive: true });
}
