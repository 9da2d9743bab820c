// Measures plans on ONNX Runtime, for those who do not believe mfc:
//
//     mfc model.onnx -o plan.onnx
//     mfc model.onnx -o step.onnx --budget none
//     node examples/measure.mjs plan.onnx step.onnx
//
// Each step runs in a process of its own with the default options of ONNX Runtime. The table has what the plan promises (its peak, and
// the session), and per run the peak memory of the process over the loaded library, and the processor time. Node copies every output of a run, which
// comes on top of what ONNX Runtime needs; so the runs ask for the smallest output alone (ONNX Runtime computes all of them
// anyway), and the last column says what copies of all outputs need.
//
// `--web` measures plans for `mfc --runtime web` on onnxruntime-web instead: the size of its WebAssembly memory.
//
// Options: --runs N (5), --level disabled|basic|extended|all (all), --threads N (1), --inputs FILE (as for profile.mjs), --json.
// Memory is read from /proc: on other systems than Linux there are times only.
import { spawnSync } from 'node:child_process';
import { closeSync, existsSync, openSync, readFileSync, readSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const MIB = 2 ** 20, PROC = '/proc/self/clear_refs', METADATA = 14; // the field of metadata_props in a ModelProto

// Fields of a protobuf message in a buffer, as [number, value]: bytes as a Buffer, numbers as such.
function* fields(buffer) {
  let at = 0;
  const varint = () => {
    let x = 0, scale = 1, byte;
    do {
      byte = buffer[at++];
      x += (byte & 127) * scale;
      scale *= 128;
    } while (byte & 128);
    return x;
  };
  while (at < buffer.length) {
    const tag = varint(), kind = tag % 8, n = kind === 0 ? 0 : kind === 1 ? 8 : kind === 5 ? 4 : varint();
    yield [Math.floor(tag / 8), kind === 0 ? varint() : buffer.subarray(at, at + n)];
    at += n;
  }
}

// The metadata of a model. The graph, which may be large, is passed over.
function metadataOf(path) {
  const fd = openSync(path, 'r'), found = {}, head = Buffer.alloc(20);
  for (let at = 0, n; (n = readSync(fd, head, 0, head.length, at)) > 1;) {
    let size = 0, scale = 1, k = 0;
    const number = head[0] >> 3, kind = head[0] & 7;
    do {
      size += (head[++k] & 127) * scale;
      scale *= 128;
    } while (head[k] & 128);
    at += k + 1;
    if (kind !== 2) continue; // a number
    if (number === METADATA) {
      const entry = Buffer.alloc(size);
      readSync(fd, entry, 0, size, at);
      const { 1: key, 2: value } = Object.fromEntries(fields(entry));
      found[String(key)] = String(value);
    }
    at += size;
  }
  closeSync(fd);
  return found;
}

function memory() {
  const status = readFileSync('/proc/self/status', 'utf8');
  const field = (name) => 1024 * Number(status.match(new RegExp(`${name}:\\s+(\\d+)`))[1]);
  return { peak: field('VmHWM') - field('RssFile'), now: field('RssAnon') + field('RssShmem') };
}

// The measured process.
async function child(job) {
  if (job.web) {
    const { measureWeb } = await import('./measure_web.mjs');
    console.log(JSON.stringify(await measureWeb(job)));
    return;
  }
  const { feedsOf, load } = await import('./feeds.mjs'), ort = load('onnxruntime-node');
  const has_proc = existsSync(PROC);
  const collect = async () => {
    for (let i = 0; i < 3; i++) {
      global.gc();
      await new Promise((done) => { setTimeout(done, 20); });
    }
  };
  await collect();
  const base = has_proc ? memory().now : 0;
  const session = await ort.InferenceSession.create(job.step, {
    graphOptimizationLevel: job.level, intraOpNumThreads: job.threads, logSeverityLevel: 3,
  });
  const feeds = feedsOf(ort, session, job.inputs), sizes = session.outputMetadata.map((m) => m.shape.reduce((a, b) => a * b, 1));
  const smallest = [session.outputMetadata[sizes.indexOf(Math.min(...sizes))].name], runs = [];
  for (let i = 0; i < job.runs; i++) {
    await collect();
    if (has_proc) writeFileSync(PROC, '5');
    const cpu = process.cpuUsage();
    await session.run(feeds, smallest);
    const used = process.cpuUsage(cpu);
    runs.push({ peak_bytes: has_proc ? memory().peak - base : null, cpu_s: (used.user + used.system) / 1e6 });
  }
  const bits = { float32: 4, float64: 8, int64: 8, uint64: 8, float16: 2, int16: 2, uint16: 2, bool: 1, int8: 1, uint8: 1 };
  const output_bytes = session.outputMetadata.reduce((sum, m, i) => sum + sizes[i] * (bits[m.type] ?? 4), 0);
  console.log(JSON.stringify({ runs, output_bytes }));
}

function measure(step, job) {
  const done = spawnSync(process.execPath, ['--expose-gc', fileURLToPath(import.meta.url), '--child'],
    { input: JSON.stringify({ ...job, step }), encoding: 'utf8', maxBuffer: 1 << 26 });
  if (done.status !== 0) throw new Error(`${step} does not run: ${done.stderr.trim().slice(-2000)}`);
  const claims = metadataOf(step), peak = Number(claims['dev.mfc.peak_bytes'] ?? NaN), session = claims['dev.mfc.session'] === 'apart' ? Number(claims['dev.mfc.session_bytes'] ?? 0) : 0;
  return { step, promised_bytes: Number.isNaN(peak) ? null : peak + session, ...JSON.parse(done.stdout) };
}

function print(results) {
  const mib = (n) => (n === null ? '-' : (n / MIB).toFixed(0));
  const rows = [['MiB', 'promised', ...results[0].runs.map((_, i) => `run ${i + 1}`), 'seconds', 'copies of outputs'],
    ...results.map((r) => [r.step, mib(r.promised_bytes), ...r.runs.map((x) => mib(x.peak_bytes)),
      Math.min(...r.runs.map((x) => x.cpu_s)).toFixed(2), mib(r.output_bytes)])];
  const wide = rows[0].map((_, k) => Math.max(...rows.map((row) => row[k].length)));
  for (const row of rows) console.log(row.map((cell, k) => (k ? cell.padStart(wide[k]) : cell.padEnd(wide[k]))).join('  '));
}

function main() {
  const { values: given, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      runs: { type: 'string', default: '5' }, level: { type: 'string', default: 'all' }, threads: { type: 'string', default: '1' },
      inputs: { type: 'string' }, web: { type: 'boolean', default: false }, json: { type: 'boolean', default: false },
    },
  });
  const job = { runs: Number(given.runs), level: given.level, threads: Number(given.threads), web: given.web,
    inputs: given.inputs ? JSON.parse(readFileSync(given.inputs, 'utf8')) : {} };
  if (!positionals.length || !(job.runs >= 1) || !(job.threads >= 1)) {
    console.error('usage: node measure.mjs STEP.onnx... [--runs N] [--level LEVEL] [--threads N] [--inputs FILE] [--web] [--json]');
    process.exit(2);
  }
  let results;
  try {
    results = positionals.map((step) => measure(step, job));
  } catch (error) {
    console.error(`error: ${error.message}`);
    process.exit(1);
  }
  if (given.json) console.log(JSON.stringify(results, null, 1));
  else print(results);
}

if (process.argv[2] === '--child') await child(JSON.parse(readFileSync(0, 'utf8')));
else main();
