// What goes wrong on ONNX Runtime unless care is taken, on ONNX Runtime, at every level: the graphs of tests/text/rewrite, which
// say what the care is. Their nodes run in the order of the file, and as often as they occur there; a random Dropout whose mask
// is dead stays random.
//
//     node pitfalls.mjs MFC FOLDER
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { measure } from './measure.mjs';
import { readModel } from './onnxfile.mjs';

const [mfc, folder] = process.argv.slice(2);
const scratch = mkdtempSync(join(tmpdir(), 'mfc-pitfalls-'));
const LEVELS = ['disabled', 'basic', 'extended', 'all'];

function write(name, shapes) {
  const path = join(scratch, `${name}.${shapes}.onnx`);
  execFileSync(mfc, ['opt', join(folder, `${name}.mfc`), '--passes=shapes,rewrite', `--runtime-shapes=${shapes}`, '-o', path, '--quiet']);
  return path;
}

function run(path, level) {
  const saved = join(scratch, 'outputs');
  measure(path, { level, runs: 1, profile: join(scratch, 'profile'), save: saved });
  const [file] = readdirSync(scratch).filter((f) => f.startsWith('profile'));
  const events = JSON.parse(readFileSync(join(scratch, file), 'utf8'));
  rmSync(join(scratch, file));
  const ran = events.filter((e) => e.cat === 'Node' && e.name.endsWith('_kernel_time')).map((e) => e.name.slice(0, -'_kernel_time'.length));
  return { ran, bytes: readFileSync(saved) };
}

// Views and small nodes may run when they like; fused ones may have lost their names, but only at the levels that fuse.
function checkOrder(path, floating, level) {
  const { ran } = run(path, level);
  const want = readModel(path).nodes.filter((n) => n.metadata['dev.mfc.role'] !== 'control' && !floating.includes(n.name)).map((n) => n.name);
  assert.deepEqual(ran.filter((n) => want.includes(n)), want, `${path} at ${level}`);
}

// Two Dropouts of one half each: y is 0 where the second one keeps what the first one dropped.
function checkDropout(path, level) {
  const { bytes } = run(path, level);
  const y = new Float32Array(bytes.buffer, bytes.byteOffset, bytes.length / 4), share = y.filter((v) => v === 0).length / y.length;
  assert(share > 0.2 && share < 0.3, `${path} at ${level}: ${share} of the elements are 0, not a quarter`);
}

try {
  for (const shapes of ['hidden', 'known'])
    for (const level of LEVELS) {
      checkOrder(write('pair', shapes), [], level);
      checkOrder(write('again', shapes), ['k', 's'], level);
      checkOrder(write('edge', shapes), [], level);
      checkOrder(write('hidden', shapes), ['c', 'k', 'l', 'v', 'y'], level); // v and y may become one
      checkOrder(write('fusion', shapes), [], level);
      checkOrder(write('chain', shapes), ['c', 'd', 'e', 'y'], level); // views, which may become one
      checkDropout(write('dropout', shapes), level);
    }
} finally {
  rmSync(scratch, { recursive: true });
}
