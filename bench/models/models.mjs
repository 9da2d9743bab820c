// The files of bench/models/packages.json, one after the other: what mfc makes of each. A step that is made is run once on
// ONNX Runtime with random data. Prints a table in Markdown: file, exporter, opset, nodes, and what trains, or what is
// refused and why.
//
//     node models.mjs MFC FOLDER [PATTERN]      FOLDER: of the packages, as bench/models/run unpacks them
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createHash } from 'node:crypto';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { generator } from '../../tests/gradient/case.mjs';
import ort from '../../tests/gradient/runtime.mjs';

const [mfc, folder, pattern = ''] = process.argv.slice(2);
const here = fileURLToPath(new URL('.', import.meta.url));
const { packages, shapes } = JSON.parse(readFileSync(join(here, 'packages.json'), 'utf8'));
const scratch = mkdtempSync(join(tmpdir(), 'mfc-models-'));
const step = join(scratch, 'step.onnx');

const call = (args) => spawnSync(mfc, args, { encoding: 'utf8', maxBuffer: 1 << 28, timeout: 300000 });

function* onnxFiles(at) {
  for (const e of readdirSync(at).sort()) {
    const path = join(at, e);
    if (statSync(path).isDirectory()) yield* onnxFiles(path);
    else if (e.endsWith('.onnx') || e.endsWith('.ort')) yield path;
  }
}

// Packages that keep a model in parts list them in resources.json: name -> chunks of the file.
function* assembled(at) {
  for (const list of [join(at, 'package/dist/resources.json')].filter(existsSync)) {
    for (const [name, r] of Object.entries(JSON.parse(readFileSync(list, 'utf8')))) {
      if (!name.startsWith('/models/')) continue;
      const path = join(at, basename(name) + '.onnx');
      if (!existsSync(path)) writeFileSync(path, Buffer.concat(r.chunks.map((c) => readFileSync(join(at, 'package/dist', c.hash ?? c.name)))));
      yield path;
    }
  }
}

// Open dimensions: what packages.json says of the file, else 1 for the batch and 64 for the others.
function bindings(path, inspection) {
  const names = inspection.inputs.map((x) => x.name);
  const own = shapes.find(([part, ...each]) => path.includes(part) && each.every((s) => names.includes(s.split(':')[0])));
  if (own) return own.slice(1).flatMap((s) => ['--shape', s]);
  return inspection.inputs.flatMap(({ name, type }) => {
    const dims = type.match(/\[(.+)\]/)?.[1].split(',') ?? [], known = (d) => /^\d+$/.test(d);
    const bound = dims.map((d, i) => (known(d) ? d : i === 0 ? 1 : dims.length === 4 && i === 1 ? 3 : 64));
    return dims.every(known) ? [] : ['--shape', `${name}:${bound.join('x')}`];
  });
}

function feed(m, random) {
  const n = m.shape.reduce((a, b) => a * b, 1);
  const make = { float32: Float32Array, float64: Float64Array, int64: BigInt64Array, int32: Int32Array, bool: Uint8Array, uint8: Uint8Array, float16: Uint16Array }[m.type];
  const data = new make(n);
  if (m.type.startsWith('float') && m.type !== 'float16') for (let i = 0; i < n; i++) data[i] = random() * 0.5;
  return new ort.Tensor(m.type, data, m.shape);
}

async function runStep() {
  const session = await ort.InferenceSession.create(step, { logSeverityLevel: 4 });
  const random = generator('models'), feeds = {};
  for (const m of session.inputMetadata) if (m.name.startsWith('grad') || !m.name.startsWith('next(')) feeds[m.name] = feed(m, random);
  // Parameters are inputs with a value of their own: only what the model and the loss ask for is fed.
  const own = call(['inspect', step, '--json', '-']);
  const params = new Set(JSON.parse(own.stdout).inputs.filter((i) => i.initializer).map((i) => i.name));
  const out = await session.run(Object.fromEntries(Object.entries(feeds).filter(([k]) => !params.has(k))));
  const grads = Object.entries(out).filter(([k]) => k.startsWith('grad('));
  const finite = grads.filter(([, t]) => t.type !== 'float32' || t.data.every(Number.isFinite)).length;
  const loss = Number(Object.values(out)[0].data[0]);
  session.release();
  return { n: grads.length, finite, loss };
}

const firstReasons = (text) => [...new Set(text.split('\n').filter((l) => l.startsWith('error:'))
  .map((l) => l.replace(/^error: (\S+\.onnx: )?/, '').replace(/[^ ]*\/node \d+ \((\S+)[^)]*\): /, '$1: ').trim()))];

async function one(path) {
  const seen = call(['inspect', path, '--json', '-']);
  if (seen.status !== 0) return { exporter: '', opset: '', nodes: '', result: `refused: ${firstReasons(seen.stderr)[0]}` };
  const i = JSON.parse(seen.stdout);
  const facts = { exporter: i.producer ?? '', opset: [i.opsets.find((o) => o.domain === 'ai.onnx')?.version, ...new Set(i.operators.map((o) => o.domain).filter((d) => d !== 'ai.onnx'))].join(', '), nodes: i.nodes };
  const args = [path, '-o', step, '--budget', 'none', ...bindings(path, i)];
  let made = call(args), how = '';
  if (made.status !== 0 && /\[(loss|usage)\]/.test(made.stderr)) {
    args.push('--loss', 'vjp');
    how = ', with `--loss vjp`';
    made = call(args);
  }
  if (/quantized weights stay frozen/.test(made.stderr)) {
    const full = call([...args, '--dequantize']);
    if (full.status === 0 || made.status !== 0) {
      made = full;
      how += ', with `--dequantize`';
    }
  }
  if (made.status !== 0) {
    const why = firstReasons(made.stderr);
    return { ...facts, result: `refused: ${why.slice(0, 2).join('; ')}${why.length > 2 ? `; and ${why.length - 2} more` : ''}` };
  }
  try {
    const r = await runStep();
    return { ...facts, result: `${r.n} gradients${r.finite < r.n ? `, ${r.n - r.finite} not finite` : ''}${how}` };
  } catch (e) {
    return { ...facts, result: `a step that ONNX Runtime does not run: ${e.message.split('\n')[0].slice(0, 160)}` };
  }
}

const hashes = new Set();
let n = 0, trained = 0;
console.log('| package | file | exporter | opset | nodes | result |\n|---|---|---|---|---|---|');
for (const name of packages) {
  const at = join(folder, name.replace(/[/@]/g, '_'));
  if (!existsSync(at) || !name.includes(pattern)) continue;
  for (const path of [...onnxFiles(at), ...assembled(at)]) {
    const hash = createHash('sha1').update(readFileSync(path)).digest('hex');
    if (hashes.has(hash)) continue;
    hashes.add(hash);
    const r = await one(path);
    n++;
    trained += /gradients/.test(r.result) && !/not finite/.test(r.result);
    console.log(`| ${name} | ${basename(path)} | ${r.exporter} | ${r.opset} | ${r.nodes} | ${r.result.replaceAll('|', '\\|')} |`);
  }
}
rmSync(scratch, { recursive: true });
console.log(`\n${n} distinct files, ${trained} become a training step that runs with finite gradients.`);
