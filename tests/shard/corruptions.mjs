// The checker on divided steps of the networks of the gradient tests: every division that the pass makes is proven, and
// every single corruption of one is refused (divided.c). Divisions are along the batch, parameters, other dimensions and
// sums, of two kinds in one step, and with sums in pieces.
//
//     node corruptions.mjs MFC DIVIDED FOLDER [--corruptions N]
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { makeStep } from '../gradient/network.mjs';

const NETWORKS = ['resnet', 'encoder', 'unet', 'mobilenet'];
const DIVISIONS = [['*:sample:3'], ['*:attribute:2'], ['*:parameter:2'], ['*:sum:2'], ['*:sample:2', '*Conv*:parameter:3']];

const { values: { corruptions }, positionals: [mfc, divided, folder] } = parseArgs({
  allowPositionals: true, options: { corruptions: { type: 'string', default: '220' } },
});
const scratch = mkdtempSync(join(tmpdir(), 'mfc-shard-'));
const [onnx, whole, parts] = ['step.onnx', 'whole.mfc', 'parts.mfc'].map((n) => join(scratch, n));
const run = (program, ...args) => spawnSync(program, args, { encoding: 'utf8' });
const each = Math.ceil(Number(corruptions) / (NETWORKS.length * DIVISIONS.length));
const kinds = new Map();
let made = 0, accepted = 0, unproven = 0;

// A sum that is large enough to be made in pieces, and what depends on it alone.
const LARGE = `mfc 1
opset 17
graph "large" {
  input %x : f32[520,6]
  input %w : f32[6,510]
  %y = MatMul(%x, %w)
  %z = Tanh(%y)
  output %z
}
`;

function play(network, divisions) {
  for (const [i, division] of divisions.entries()) {
    const said = run(mfc, 'opt', whole, '--passes=shard', ...division.flatMap((x) => ['--shard', x]), '-o', parts, '--quiet').stderr;
    if (/can be divided so|no node has/.test(said)) continue;
    const proof = run(divided, 'check', whole, parts);
    if (proof.status) { unproven++; console.log(`UNPROVEN ${network} ${division}: ${proof.stderr}`); }
    const out = run(divided, 'corrupt', whole, parts, String(each), String(i)).stdout;
    for (const [, kind, refused, n] of out.matchAll(/^(.*\S) +(\d+) of +(\d+) refused$/gm))
      kinds.set(kind, { refused: (kinds.get(kind)?.refused ?? 0) + Number(refused), n: (kinds.get(kind)?.n ?? 0) + Number(n) });
    for (const [line] of out.matchAll(/^accepted: .*$/gm)) console.log(`FAIL ${network} ${division}: ${line}`);
    const [, n, wrong] = out.match(/^(\d+) corruptions, (\d+) accepted$/m) ?? [0, 0, 1];
    made += Number(n);
    accepted += Number(wrong);
  }
}

for (const network of NETWORKS) {
  await makeStep(mfc, join(folder, `${network}-op17.onnx`), join(folder, `${network}.ref.onnx`), onnx);
  run(mfc, 'opt', onnx, '--passes=upgrade,shapes,names', '-o', whole, '--quiet');
  play(network, DIVISIONS);
}
writeFileSync(onnx, LARGE);
run(mfc, 'opt', onnx, '--passes=upgrade,shapes,names', '-o', whole, '--quiet');
play('large', [2, 3].map((k) => [`y:sum:${k}:scatter`, `z:1:${k}`]));
rmSync(scratch, { recursive: true });
for (const [kind, { refused, n }] of kinds) console.log(`${kind.padEnd(20)} ${refused} of ${n} refused`);
console.log(`${made} corruptions, ${accepted} accepted, ${unproven} divisions not proven`);
process.exit(accepted || unproven || !made ? 1 : 0);
