// inference.mjs MFC PEAK LIBRARY NETWORKS: plans of mfc --inference on ONNX Runtime with its default options. The outputs are
// those of the model; memory is within the promise, and less than what the model itself takes.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { generator } from '../gradient/case.mjs';
import ort from '../gradient/runtime.mjs';

const [mfc, peak, library, networks] = process.argv.slice(2);
const scratch = mkdtempSync(join(tmpdir(), 'mfc-inference-')), plan = join(scratch, 'plan.onnx');
process.on('exit', () => rmSync(scratch, { recursive: true }));
const MIB = 1 << 20, examples = fileURLToPath(new URL('../../examples', import.meta.url));
const models = [join(examples, 'unet.onnx'), join(networks, 'encoder-op17.onnx')];

function used(path) {
  const r = JSON.parse(execFileSync(peak, [library, path, 'default', 'all', '3'], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }));
  return Math.max(...r.runs) / MIB;
}

async function outputs(path, like) {
  const session = await ort.InferenceSession.create(path, { logSeverityLevel: 3, intraOpNumThreads: 1 });
  const random = generator('inference'), feeds = {};
  for (const m of session.inputMetadata.filter((i) => like.includes(i.name))) {
    const n = m.shape.reduce((a, b) => a * b, 1);
    feeds[m.name] = new ort.Tensor(m.type, m.type === 'int64' ? BigInt64Array.from({ length: n }, () => BigInt(Math.floor(random() * 2)))
      : Float32Array.from({ length: n }, () => random() - 0.5), m.shape);
  }
  return session.run(feeds);
}

let bad = 0;
for (const model of models) {
  const itself = join(scratch, 'itself.onnx');
  execFileSync(mfc, [model, '-o', itself, '--inference', '--budget', 'none', '-q']);
  const facts = JSON.parse(execFileSync(mfc, [model, '-o', plan, '--inference', '--work', '20', '-q', '--json', '-'], { encoding: 'utf8' }));
  const inspected = JSON.parse(execFileSync(mfc, ['inspect', itself, '--json', '-'], { encoding: 'utf8' }));
  const names = inspected.inputs.map((i) => i.name), a = await outputs(itself, names), b = await outputs(plan, names);
  let worst = 0;
  for (const [name, t] of Object.entries(a)) t.data.forEach((x, i) => (worst = Math.max(worst, Math.abs(x - b[name].data[i]) / Math.max(1, Math.abs(x)))));
  const promised = (facts.peak_bytes + (facts.session_in_peak ? 0 : facts.session_bytes)) / MIB, own = used(itself), planned = used(plan);
  console.log(`${model.split('/').pop()}: itself ${own.toFixed(1)} MiB, plan ${planned.toFixed(1)}, promised ${promised.toFixed(1)}; outputs differ by ${worst.toExponential(1)}`);
  if (!(worst <= 1e-5) || planned > promised * 1.02 + 2 || planned > own * 1.02 + 1) bad++;
}
process.exit(bad ? 1 : 0);
