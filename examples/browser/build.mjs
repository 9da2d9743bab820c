// Puts the page into a folder that any static server can serve: plans by mfc, and onnxruntime-web from npm.
//
//     npm install --no-save onnxruntime-web
//     node examples/browser/build.mjs site
//     python3 -m http.server --directory site        # then open http://localhost:8000/browser/
//
// Options: --mfc FILE (mfc), --overhead SHARE of the plans (10%). `onnxruntime-web` is taken from the folder in MFC_NODE_MODULES, or from here.
import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const here = dirname(fileURLToPath(import.meta.url));
const { values: given, positionals: [site] } = parseArgs({
  allowPositionals: true, options: { mfc: { type: 'string', default: 'mfc' }, overhead: { type: 'string', default: '10%' } },
});
if (!site) {
  console.error('usage: node build.mjs FOLDER [--mfc FILE] [--overhead SHARE]');
  process.exit(2);
}
const at = (...path) => {
  mkdirSync(join(site, ...path.slice(0, -1)), { recursive: true });
  return join(site, ...path);
};
const mfc = (...words) => execFileSync(given.mfc, [...words, '-q'], { stdio: ['ignore', 'pipe', 'inherit'], maxBuffer: 1 << 28 });

for (const file of ['index.html', 'style.css', 'page.mjs', 'chart.mjs', 'worker.mjs', 'tasks.mjs', 'trained.mjs'])
  copyFileSync(join(here, file), at('browser', file));
for (const file of ['trainer.mjs', 'safetensors.mjs', 'dataset.mjs']) copyFileSync(join(here, '../training', file), at('training', file));

const dist = dirname(createRequire(join(resolve(process.env.MFC_NODE_MODULES ?? here), 'x.js')).resolve('onnxruntime-web'));
for (const file of ['ort.wasm.min.mjs', 'ort-wasm-simd-threaded.mjs', 'ort-wasm-simd-threaded.wasm'])
  copyFileSync(join(dist, file), at('ort', file));

for (const name of ['image', 'text']) {
  const model = join(here, `${name}.onnx`), to = (end) => at('models', name + end), figures = { name };
  const common = [model, '--class-axis', name === 'text' ? '2' : '1', '--weights', 'inputs'];
  for (const [kind, ...goal] of [['plan', '--overhead', given.overhead], ['step', '--budget', 'none']]) {
    mfc(...common, '-o', to(`.${kind}.onnx`), '--optimizer', 'adamw', '--runtime', 'web', ...goal, '--json', to('.json'),
      '--initial', to('.safetensors'));
    const { peak_bytes, cost, base_cost } = JSON.parse(readFileSync(to('.json'), 'utf8'));
    figures[kind] = { peak_bytes, overhead: cost / base_cost - 1 };
  }
  mfc(...common, '-o', to('.eval.onnx'), '--eval', '--budget', 'none');
  writeFileSync(to('.json'), JSON.stringify(figures));
  copyFileSync(model, to('.onnx'));
}
console.log(`${site} is ready: serve it and open /browser/`);
