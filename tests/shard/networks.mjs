// Whole networks under random divisions: the gradients of the divided step against those of the undivided one, on ONNX
// Runtime in float32. A division takes one to four groups of nodes (a layer with its gradients, a run of layers by the
// beginning of their names, all nodes), each along the batch, a parameter's dimension, another one or a sum, in two to
// five parts. The error of a gradient is the largest difference over its largest element; with a floor, since a gradient
// that is zero in exact arithmetic is noise.
//
// With --checker the checker has to prove each divided step equal to the undivided one.
//
//     node networks.mjs MFC FOLDER [--checker DIVIDED] [--divisions N] [--from SEED] [--only NETWORK]
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { generator } from '../gradient/case.mjs';
import { error, feedsOf, makeStep } from '../gradient/network.mjs';
import { openSession } from '../gradient/runtime.mjs';

const TOLERANCE = 1e-5, FLOOR = 1e-4; // of the largest element of all gradients
const DIMENSIONS = ['sample', 'sample', 'sample', 'parameter', 'attribute', 'sum'];

const { values: { divisions, from, only, checker }, positionals: [mfc, folder] } = parseArgs({
  allowPositionals: true, options: { divisions: { type: 'string', default: '20' }, from: { type: 'string', default: '0' }, only: { type: 'string', default: '' }, checker: { type: 'string' } },
});
const scratch = mkdtempSync(join(tmpdir(), 'mfc-shard-'));
const [onnx, whole, text, divided] = ['step.onnx', 'whole.mfc', 'divided.mfc', 'divided.onnx'].map((n) => join(scratch, n));

const opt = (...args) => {
  const r = spawnSync(mfc, ['opt', ...args], { encoding: 'utf8' });
  return { ok: r.status === 0, said: r.stderr };
};

// A layer's name is part of the names of its gradient nodes.
function pattern(names, random) {
  const name = names[Math.floor(random() * names.length)], pick = name.replace(/^grad\//, '');
  return random() < 0.5 ? `*${pick.split('/').slice(0, -1).join('/') || pick}*` : `${name.slice(0, 1 + Math.floor(random() * name.length))}*`;
}

function division(names, random) {
  return Array.from({ length: 1 + Math.floor(4 * random()) }, (_, i) =>
    `${i === 0 && random() < 0.5 ? '*' : pattern(names, random)}:${DIMENSIONS[Math.floor(random() * DIMENSIONS.length)]}:${2 + Math.floor(4 * random())}`);
}

async function outputs(path, want) {
  const session = await openSession(path), have = await session.run(feedsOf(session, want));
  await session.release();
  return have;
}

const largest = (t) => t.data.reduce((m, x) => Math.max(m, Math.abs(Number(x))), 0);

function worstOf(have, base) {
  const grads = Object.keys(base).filter((k) => k.startsWith('grad('));
  const floor = FLOOR * Math.max(...grads.map((k) => largest(base[k])));
  return Math.max(...Object.keys(base).map((k) => error(have[k].data, base[k].data, k.startsWith('grad(') ? floor : 1e-3)));
}

async function check(network, file) {
  const want = await makeStep(mfc, join(folder, file), join(folder, `${network}.ref.onnx`), onnx);
  if (!opt(onnx, '--passes=upgrade,shapes,names', '-o', whole, '--quiet').ok) throw new Error('no step');
  const base = await outputs(onnx, want);
  const names = [...readFileSync(whole, 'utf8').matchAll(/ name=("[^"]*"|\S+)/g)].map((m) => m[1].replace(/"/g, ''));
  let worst = 0, failed = 0, n = 0, n_nodes = 0;
  for (let seed = Number(from); n < Number(divisions); seed++) {
    const given = division(names, generator(`${network} ${seed}`)), args = given.flatMap((x) => ['--shard', x]);
    const { ok, said } = opt(whole, '--passes=shard', ...args, '-o', text);
    if (/can be divided so/.test(said)) continue; // one of the patterns has no such dimension at all
    n++;
    if (ok) opt(text, '--passes=sort', '-o', divided);
    const proof = ok && checker ? spawnSync(checker, ['check', whole, text], { encoding: 'utf8' }) : null;
    if (proof?.status) { failed++; console.log(`UNPROVEN ${network} ${args.join(' ')}: ${proof.stderr.slice(0, 500)}`); }
    const e = ok ? await outputs(divided, want).then((x) => worstOf(x, base), (x) => x.message) : said;
    n_nodes += [...said.matchAll(/(\d+) of \d+ nodes/g)].reduce((sum, m) => sum + Number(m[1]), 0);
    if (e <= TOLERANCE) worst = Math.max(worst, e);
    else { failed++; console.log(`FAIL ${network} ${args.join(' ')}: ${e}`); }
  }
  console.log(`${network.padEnd(12)} ${n} divisions, of ${names.length} nodes ${Math.round(n_nodes / n)} divided on average, worst ${worst.toExponential(1)}${failed ? `, ${failed} failed` : ''}`);
  return failed;
}

let failed = 0;
for (const file of readdirSync(folder).filter((f) => /-op17\.onnx$/.test(f) && f.includes(only)).sort())
  failed += await check(file.replace('-op17.onnx', ''), file);
rmSync(scratch, { recursive: true });
process.exit(failed ? 1 : 0);
