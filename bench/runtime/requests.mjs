#!/usr/bin/env node
// The model of ONNX Runtime's memory against ONNX Runtime itself, on networks of full size: their default plan, a plan within a tenth
// more than the least budget, and one within 90 % of the baseline peak, each inside an If (pass wrap); at each optimization level.
// Compared are all requests to the allocator (tests/runtime/events.c) and the memory of sessions with default settings (totals.c).
//
//     bench/runtime/requests.mjs [-o FOLDER] [--models resnet50,…] [--small] [--levels disabled,…] [--work N] [--build FOLDER]
//
// Models are exported into FOLDER/models the first time (models.py; needs Debian's python3-torch and python3-torchvision).
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { leastBudget, makeBaseline, makePlan } from './steps.mjs';

const here = dirname(fileURLToPath(import.meta.url));
const { values: opt } = parseArgs({
  options: {
    output: { type: 'string', short: 'o', default: 'build/bench-requests' }, small: { type: 'boolean', default: false },
    models: { type: 'string', default: 'resnet50,vgg16,mobilenet_v2,densenet121,unet,bert,gpt,lstm' },
    levels: { type: 'string', default: 'disabled,basic,extended,all' }, work: { type: 'string', default: '3000' },
    build: { type: 'string', default: resolve(here, '../../build') },
  },
});
const mfc = join(opt.build, 'mfc'), folder = resolve(opt.output), models = join(folder, opt.small ? 'small' : 'models');
const SEARCH = ['--runtime', 'ort-lean', '--session', 'apart', '--work', opt.work, '--threads', '1'], TIGHT = 1.1;

function libraryOf(runtime) {
  const bin = join(runtime, 'node_modules/onnxruntime-node/bin');
  return join(bin, readdirSync(bin).sort().at(-1), 'linux', process.arch, 'libonnxruntime.so.1');
}

function exported(name) {
  const path = join(models, name + '.onnx');
  if (!existsSync(path)) execFileSync(join(here, 'models.py'), [models, ...(opt.small ? ['--small'] : []), name], { stdio: 'inherit' });
  return path;
}

// The paths of the wrapped plans; of a baseline step too, which is compared without optimization.
function steps(name) {
  const model = exported(name), base = join(folder, `${name}.baseline.onnx`), budgets = { default: [], '90%': ['--budget', '90%'] };
  makeBaseline(mfc, model, base);
  budgets.tight = ['--budget', String(Math.ceil(TIGHT * leastBudget(mfc, model, join(folder, 'none.onnx'), SEARCH)))];
  const plans = Object.entries(budgets).map(([kind, budget]) => {
    const plan = join(folder, 'plan.onnx'), wrapped = join(folder, `${name}.${kind}.onnx`);
    const made = makePlan(mfc, model, plan, [...budget, ...SEARCH]);
    if (made.status !== 0) throw new Error(`${name}, ${kind}: exit ${made.status}: ${made.text.trim().slice(-500)}`);
    execFileSync(mfc, ['opt', plan, '--passes=wrap', '-q', '-o', wrapped]);
    return wrapped;
  });
  return { base, plans };
}

let failed = 0;
function compare(tool, level, files) {
  failed += spawnSync(join(opt.build, 'tests/runtime', tool), [libraryOf(join(here, '../../tests/runtime')), level, ...files], { stdio: 'inherit' }).status !== 0;
}

mkdirSync(models, { recursive: true });
for (const name of opt.models.split(',')) {
  const { base, plans } = steps(name);
  for (const level of opt.levels.split(',')) {
    const files = level === 'disabled' ? [...plans, base] : plans;
    compare('ort_events', level, files);
    compare('ort_totals', level, files);
  }
}
process.exit(failed ? 1 : 0);
