// Steps of several networks, and their requests to the allocator of ONNX Runtime, one by one: events.c compares them with the model.
// Each network's plan, and the plan inside an If (pass wrap), at every optimization level; and its baseline step without optimization.
//
//     node events.mjs MFC EVENTS LIBRARY NETWORKS      EVENTS: the program of events.c; NETWORKS: the folder with *-op17.onnx
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const LEVELS = ['disabled', 'basic', 'extended', 'all'], NO_BASELINE = ['unet'];
const NAMES = ['resnet', 'unet', 'densenet', 'inception', 'mobilenet', 'encoder', 'decoder', 'lstm'], SEARCH = ['--work', '2000', '--threads', '1'];
const BUDGET = { decoder: '70%' }; // of the others 60 %; none is divided
const [mfc, events, library, networks] = process.argv.slice(2), folder = mkdtempSync(join(tmpdir(), 'mfc-events-'));

function steps(name) {
  const [plan, wrapped, baseline] = ['plan', 'wrapped', 'baseline'].map((kind) => join(folder, `${name}.${kind}.onnx`));
  const model = join(networks, `${name}-op17.onnx`);
  execFileSync(mfc, [model, '-o', plan, '-q', '--runtime', 'ort-lean', '--no-shard', '--budget', BUDGET[name] ?? '60%', ...SEARCH]);
  execFileSync(mfc, ['opt', plan, '--passes=wrap', '-o', wrapped]);
  execFileSync(mfc, [model, '-o', baseline, '-q', '--budget', 'none']);
  return { name, plan, wrapped, baseline };
}

try {
  const made = NAMES.map(steps), baselines = made.filter((s) => !NO_BASELINE.includes(s.name)).map((s) => s.baseline);
  for (const level of LEVELS) {
    const files = [...made.flatMap((s) => [s.plan, s.wrapped]), ...(level === 'disabled' ? baselines : [])];
    execFileSync(events, [library, level, ...files], { stdio: 'inherit' });
  }
} finally {
  rmSync(folder, { recursive: true });
}
