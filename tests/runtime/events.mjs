// Plans of several networks, and their requests to the allocator of ONNX Runtime, one by one: events.c compares them with the model.
//
//     node events.mjs MFC EVENTS LIBRARY NETWORKS      EVENTS: the program of events.c; NETWORKS: the folder with *-op17.onnx
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const NAMES = ['resnet', 'unet', 'densenet', 'encoder', 'decoder', 'lstm'], SEARCH = ['--work', '2000', '--threads', '1'];
const [mfc, events, library, networks] = process.argv.slice(2), folder = mkdtempSync(join(tmpdir(), 'mfc-events-'));
let plans = [];
try {
  plans = NAMES.map((name) => {
    const plan = join(folder, `${name}.onnx`);
    execFileSync(mfc, [join(networks, `${name}-op17.onnx`), '-o', plan, '-q', '--budget', '60%', ...SEARCH]);
    return plan;
  });
  execFileSync(events, [library, ...plans], { stdio: 'inherit' });
} finally {
  rmSync(folder, { recursive: true });
}
