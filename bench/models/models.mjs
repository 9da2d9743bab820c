// The files of bench/models/packages.json, one after the other: what mfc makes of each, as a table in Markdown. A step is
// made with default options and, where files have open dimensions or inputs that decide branches, with those that
// packages.json gives (a budget, too, of a step that needs more memory than most machines have); where the loss is not
// clear, with --loss vjp. Steps run on ONNX Runtime: gradients are compared with slopes of the loss, and 50 steps of SGD
// on one batch are taken (tests/training/descent.mjs).
//
//     node models.mjs MFC FOLDER [PATTERN]      FOLDER: of the packages, as bench/models/run unpacks them
//
// Without PATTERN the table takes the place of the one in docs/models.md.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import ort from '../../tests/gradient/runtime.mjs';
import { Descent } from '../../tests/training/descent.mjs';

const MAX_STEP_MS = 1400; // processor time; of slower steps 50 are not taken, and the slope is that along all parameters alone

const [mfc, folder, pattern = ''] = process.argv.slice(2);
const here = fileURLToPath(new URL('.', import.meta.url)), page = join(here, '../../docs/models.md');
const { packages, options } = JSON.parse(readFileSync(join(here, 'packages.json'), 'utf8'));
const scratch = mkdtempSync(join(tmpdir(), 'mfc-models-'));
const step = join(scratch, 'step.onnx'), start = join(scratch, 'start.safetensors');

const call = (args) => spawnSync(mfc, args, { encoding: 'utf8', maxBuffer: 1 << 28, timeout: 600000 });

function* onnxFiles(at) {
  for (const e of readdirSync(at).sort()) {
    const path = join(at, e);
    if (statSync(path).isDirectory()) yield* onnxFiles(path);
    else if (e.endsWith('.onnx')) yield path;
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

// What packages.json says of the file, when the model has the inputs and dimensions that it names; else open dimensions
// are 1 for the batch, 3 for channels, 64 for others.
function bindings(path, inspection) {
  const named = new Set(inspection.inputs.flatMap(({ name, type }) => [name, ...(type.match(/\[(.+)\]/)?.[1].split(',') ?? [])]));
  const own = options.map(([part, text]) => [part, text.split(' ')]).find(([part, words]) => path.includes(part) &&
    words.every((w, i) => i % 2 === 0 || words[i - 1] === '--budget' || named.has(w.split(/[:=]/)[0])));
  if (own) return own[1];
  return inspection.inputs.flatMap(({ name, type }) => {
    const dims = type.match(/\[(.+)\]/)?.[1].split(',') ?? [], known = (d) => /^\d+$/.test(d);
    const bound = dims.map((d, i) => (known(d) ? d : i === 0 ? 1 : dims.length === 4 && i === 1 ? 3 : 64));
    return dims.every(known) ? [] : ['--shape', `${name}:${bound.join('x')}`];
  });
}

const reasons = (text) => [...new Set(text.split('\n').filter((l) => l.startsWith('error:'))
  .map((l) => l.replace(/^error: (\S+\.onnx: )?/, '').replace(/[^ ]*\/node \d+ \((\S+)[^)]*\): /, '$1: ').trim()))];
const short = (text) => (text.length > 220 ? `${text.slice(0, 217)}…` : text);
const refused = (stderr) => {
  const why = reasons(stderr);
  return { trained: `refused: ${why.slice(0, 2).map(short).join('; ')}${why.length > 2 ? `; and ${why.length - 2} more` : ''}` };
};

// The step, with default options or with those that a message proposes.
function make(path, inspection) {
  const bound = bindings(path, inspection), at = bound.indexOf('--budget'), how = at < 0 ? [] : [bound.slice(at, at + 2).join(' ')];
  const args = [path, '-o', step, ...(at < 0 ? ['--budget', 'none'] : []), '--weights', 'inputs', '--initial', start, ...bound];
  let made = call(args);
  if (made.status !== 0 && /\[(loss|usage)\]/.test(made.stderr)) {
    how.push('--loss vjp');
    made = call([...args, '--loss', 'vjp']);
  }
  if (/quantized weights stay frozen/.test(made.stderr)) {
    const full = call([...args, ...(how.includes('--loss vjp') ? ['--loss', 'vjp'] : []), '--dequantize']);
    if (full.status === 0 || made.status !== 0) {
      made = full;
      how.push('--dequantize');
    }
  }
  return { made, how };
}

async function train({ made, how }) {
  const session = await ort.InferenceSession.create(step, { logSeverityLevel: 4, intraOpNumThreads: 1, enableCpuMemArena: false, enableMemPattern: false });
  const kind = how.includes('--loss vjp') ? 'vjp' : made.stderr.match(/: loss: (\S+) of/)?.[1] ?? 'output';
  const run = new Descent(ort, session, readFileSync(start), kind), began = process.cpuUsage();
  const { loss, grads } = await run.at(), { user, system } = process.cpuUsage(began), spent = (user + system) / 1000;
  const finite = Object.values(grads).every((g) => g.every(Number.isFinite));
  const facts = { trained: `${run.names.length} gradients${how.length ? `, with ${how.map((h) => `\`${h}\``).join(', ')}` : ''}`, loss: kind };
  if (!finite || !Number.isFinite(loss)) return { ...facts, slopes: 'not finite' };
  if (!run.isFloat) return facts;
  const { worst, n } = await run.differenceError(spent > MAX_STEP_MS);
  facts.slopes = n ? worst.toExponential(0) : 'all 0';
  if (spent < MAX_STEP_MS && kind !== 'vjp') {
    const d = await run.descend(50);
    facts.descent = d.finite ? `${d.first.toPrecision(3)} → ${d.last.toPrecision(3)}` : 'NaN';
  }
  return facts;
}

async function one(path) {
  const seen = call(['inspect', path, '--json', '-']);
  if (seen.status !== 0) return refused(seen.stderr);
  const i = JSON.parse(seen.stdout), domains = new Set(i.operators.map((o) => o.domain).filter((d) => d !== 'ai.onnx'));
  const facts = { exporter: i.producer || '–', opset: [i.opsets.find((o) => o.domain === 'ai.onnx')?.version, ...domains].join(', '), nodes: i.nodes };
  const result = make(path, i);
  if (result.made.status !== 0) return { ...facts, ...refused(result.made.stderr), lines: result.made.stderr.trim().split('\n').length };
  try {
    return { ...facts, ...(await train(result)) };
  } catch (e) {
    return { ...facts, trained: `a step that does not run: ${short(e.message.split('\n')[0])}` };
  }
}

const rows = ['| package | file | exporter | opset | nodes | result | loss | slopes | 50 steps |', '|---|---|---|---|---|---|---|---|---|'];
const hashes = new Set(), say = (row) => { rows.push(row); console.log(row); };
let n = 0, trained = 0, checked = 0, fell = 0, descents = 0, lines = 0;
console.log(rows.join('\n'));
for (const name of packages) {
  const at = join(folder, name.replace(/[/@]/g, '_'));
  if (!existsSync(at) || !name.includes(pattern)) continue;
  for (const path of [...onnxFiles(at), ...assembled(at)]) {
    const hash = createHash('sha1').update(readFileSync(path)).digest('hex');
    if (hashes.has(hash)) continue;
    hashes.add(hash);
    const r = await one(path);
    n++;
    trained += /gradients/.test(r.trained) && r.slopes !== 'not finite';
    checked += Number(r.slopes) < 0.05;
    const [before, after] = (r.descent ?? '').split(' → ').map(Number);
    descents += r.descent !== undefined;
    fell += after < before;
    lines = Math.max(lines, r.lines ?? 0);
    const cells = [name, basename(path), r.exporter ?? '', r.opset ?? '', r.nodes ?? '', r.trained, r.loss ?? '', r.slopes ?? '', r.descent ?? ''];
    say(`| ${cells.map((c) => String(c).replaceAll('|', '\\|')).join(' | ')} |`);
  }
}
rmSync(scratch, { recursive: true });
say('');
say(`${n} distinct files: ${trained} become a training step that runs with finite gradients; of ${checked} the gradients are slopes of the`);
say(`loss within 5 %; of ${descents} steps that were taken 50 times, ${fell} lowered the loss. The longest refusal has ${lines} lines.`);
if (!pattern) {
  const text = readFileSync(page, 'utf8'), end = text.indexOf('\n## ', text.indexOf('| package |'));
  writeFileSync(page, text.slice(0, text.indexOf('| package |')) + rows.join('\n') + '\n' + text.slice(end));
}
