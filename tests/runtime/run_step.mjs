// The measured process of measure.mjs: one session, a few runs, figures as JSON on standard output. It gets its job as JSON on
// standard input (ONNX Runtime 1.30 reads the command line, and a long one overflows its stack) and must be started by measure.mjs,
// which pins what malloc does.
//
// Peak: the kernel's high-water mark of resident memory, cleared before each run, over what was resident before the first. Pages of
// files (the code of ONNX Runtime's kernels, as they are first used) are left out on both sides. The Node binding copies every output
// when the run is over and ONNX Runtime holds nothing but them. Where those two copies are as much as the run itself may have
// needed, one more run asks for the smallest output alone: the others are computed and held all the same, but not copied.
import { createHash } from 'node:crypto';
import { openSync, readFileSync, writeFileSync, writeSync, closeSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';

const ARRAYS = { float32: Float32Array, float64: Float64Array, float16: Uint16Array, int64: BigInt64Array, int32: Int32Array, int16: Int16Array,
  int8: Int8Array, uint8: Uint8Array, uint16: Uint16Array, uint32: Uint32Array, uint64: BigUint64Array, bool: Uint8Array };
const SETTINGS = { lr: 0.01, momentum: 0.9, beta1: 0.9, beta2: 0.999, epsilon: 1e-8, step: 1, weight_decay: 0.01 };
const N_CLASSES = 10; // integers are drawn below this

const job = JSON.parse(readFileSync(0, 'utf8'));
const ort = createRequire(join(resolve(job.package), 'x.js'))('onnxruntime-node');
const count = (dims) => dims.reduce((a, b) => a * b, 1);

function memory() {
  const status = readFileSync('/proc/self/status', 'utf8');
  const field = (name) => 1024 * Number(status.match(new RegExp(`${name}:\\s+(\\d+)`))[1]);
  return { high: field('VmHWM'), anonymous: field('RssAnon') + field('RssShmem'), file: field('RssFile') };
}

// mulberry32, started from the input's name: the same numbers whatever other inputs there are.
function generator(text) {
  let s = 0x9e3779b9;
  for (const c of text) s = Math.imul(s ^ c.charCodeAt(0), 0x85ebca6b) ^ (s >>> 13);
  return () => {
    s = (s + 0x6d2b79f5) | 0;
    let t = Math.imul(s ^ (s >>> 15), s | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

function draw({ name, type, dims }) {
  const data = new ARRAYS[type](count(dims)), random = generator(name);
  if (name in SETTINGS && data.length === 1) data[0] = SETTINGS[name];
  else if (/^(momentum|adam\.[mv])\(/.test(name)) data.fill(0);
  else if (type === 'float32' || type === 'float64') for (let i = 0; i < data.length; i++) data[i] = 2 * random() - 1;
  else if (type === 'bool') for (let i = 0; i < data.length; i++) data[i] = random() < 0.5 ? 1 : 0;
  else if (type === 'int64' || type === 'uint64') for (let i = 0; i < data.length; i++) data[i] = BigInt(Math.floor(N_CLASSES * random()));
  else if (type === 'float16') for (let i = 0; i < data.length; i++) data[i] = 0x3800 + Math.floor(1024 * random()); // [0.5, 1)
  else for (let i = 0; i < data.length; i++) data[i] = Math.floor(N_CLASSES * random());
  return new ort.Tensor(type, data, dims);
}

async function feedsOf(inputs, initial) {
  const given = initial ? await (await ort.InferenceSession.create(initial, { logSeverityLevel: 3 })).run({}) : {};
  return Object.fromEntries(inputs.map((v) => [v.name, given[v.name] ?? draw(v)]));
}

const outputBytes = job.outputs.reduce((sum, v) => sum + (v.dims && !v.dims.includes(null) ? ARRAYS[v.type].BYTES_PER_ELEMENT * count(v.dims) : 0), 0);
const smallest = job.outputs.reduce((a, b) => (count(b.dims ?? [Infinity]) < count(a.dims ?? [Infinity]) ? b : a)).name;

// Buffers that nothing refers to are freed by a thread in the background.
async function settle() {
  for (let i = 0; i < 3; i++) {
    global.gc();
    await new Promise((done) => { setTimeout(done, 20); });
  }
}

function bytesOf(t) {
  return new Uint8Array(t.data.buffer, t.data.byteOffset, t.data.byteLength);
}

function save(path, outputs) {
  const fd = openSync(path, 'w');
  const index = job.outputs.map(({ name }) => {
    writeSync(fd, bytesOf(outputs[name]));
    return { name, type: outputs[name].type, dims: outputs[name].dims };
  });
  closeSync(fd);
  writeFileSync(path + '.json', JSON.stringify(index));
}

const feeds = await feedsOf(job.inputs, job.initial);
await settle();
const before = memory();
const options = {
  graphOptimizationLevel: job.level, enableCpuMemArena: job.arena, enableMemPattern: job.pattern, executionMode: 'sequential',
  intraOpNumThreads: job.threads, interOpNumThreads: 1, logSeverityLevel: 3,
  ...(job.profile ? { enableProfiling: true, profileFilePrefix: job.profile } : {}),
  ...(job.optimized ? { optimizedModelFilePath: job.optimized } : {}),
  ...(job.extra ? { extra: job.extra } : {}),
};
const loading = process.hrtime.bigint();
const session = await ort.InferenceSession.create(job.step, options);
const load_ms = Number(process.hrtime.bigint() - loading) / 1e6;
await settle();

const start = memory(), runs = [];
let base = start.anonymous;

// One run; nothing of it stays behind but figures. Random operators go on drawing, so that only the first run of one
// process can be compared with that of another: `seen` gets its outputs.
async function run(names, seen) {
  await settle();
  base = Math.min(base, memory().anonymous); // Node gives back some of its own heap as time goes by
  writeFileSync('/proc/self/clear_refs', '5');
  const cpu = process.cpuUsage(), time = process.hrtime.bigint();
  const results = await session.run(feeds, names);
  const ms = Number(process.hrtime.bigint() - time) / 1e6, used = process.cpuUsage(cpu), end = memory();
  runs.push({ peak_bytes: end.high - end.file - base, ms, cpu_ms: (used.user + used.system) / 1e3 });
  seen?.(results);
}

const digests = {}, changed = new Set(), all = job.outputs.map((v) => v.name);
const digest = (tensor) => createHash('sha256').update(bytesOf(tensor)).digest('hex').slice(0, 32);
await run(all, (results) => {
  for (const name of all) digests[name] = digest(results[name]);
  if (job.save) save(job.save, results);
});
for (let i = 1; i < job.runs; i++) {
  await run(all, (results) => {
    for (const name of all) if (digest(results[name]) !== digests[name]) changed.add(name);
  });
}
if (job.profile) session.endProfiling();
let peak_bytes = Math.max(...runs.map((r) => r.peak_bytes));
if (peak_bytes < 2.05 * outputBytes) {
  await run([smallest]);
  peak_bytes = runs.pop().peak_bytes;
}
console.log(JSON.stringify({
  version: ort.env?.versions?.node ?? '', load_ms, session_bytes: start.anonymous - before.anonymous,
  peak_bytes, runs, digests, changed: [...changed],
}));
