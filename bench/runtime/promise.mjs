// The promise of plans with the default options of ONNX Runtime, as tables in Markdown: what is promised and what a process that does
// nothing else needs (tests/runtime/peak.c; for --runtime web, examples/measure_web.mjs), the worst of all runs.
//
//     node bench/runtime/promise.mjs MODELS-FOLDER [--models resnet50,…] [--budgets least,…,90%] [--levels disabled,…] [--runs 5]
//                                    [--runtime ort|ort-lean|web] [--profile] [--build FOLDER] [--package FOLDER] [-o FOLDER]
//
// MODELS-FOLDER has what models.py writes. For every model: the baseline step, the plan without options (the default plan), and plans
// within shares of the baseline step from the least that works. A budget `least+25%` is a quarter of the way from there to 90 %.
// --profile: costs are those of a profile of the baseline step (examples/profile.mjs), so that predicted and measured overhead compare.
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const top = resolve(dirname(fileURLToPath(import.meta.url)), '../..'), MIB = 2 ** 20;
const { values: opt, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    models: { type: 'string', default: 'resnet50,vgg16,mobilenet_v2,densenet121,unet,bert,gpt,lstm' },
    budgets: { type: 'string', default: 'least,least+25%,least+50%,least+75%,90%' }, runs: { type: 'string', default: '5' },
    levels: { type: 'string', default: 'disabled,basic,extended,all' }, runtime: { type: 'string', default: 'ort' },
    build: { type: 'string', default: join(top, 'build') }, package: { type: 'string', default: join(top, 'tests/runtime') },
    profile: { type: 'boolean', default: false }, output: { type: 'string', short: 'o', default: join(top, 'build/bench-promise') },
  },
});
if (positionals.length !== 1) {
  console.error('usage: node promise.mjs MODELS-FOLDER [OPTION]...');
  process.exit(2);
}
const mfc = join(opt.build, 'mfc'), peak = join(opt.build, 'tests/runtime/ort_peak');
const list = (text) => text.split(',').filter(Boolean), levels = list(opt.levels);
const binaries = join(opt.package, 'node_modules/onnxruntime-node/bin');
const library = join(binaries, readdirSync(binaries).find((f) => f.startsWith('napi')), 'linux/x64');
const so = join(library, readdirSync(library).find((f) => f.startsWith('libonnxruntime.so')));
mkdirSync(opt.output, { recursive: true });

// Peaks of the runs at a level, and what was loaded before the first.
function measured(step, level, runs = opt.runs) {
  if (opt.runtime === 'web') {
    const out = execFileSync(process.execPath, [join(top, 'examples/measure.mjs'), step, '--web', '--json', '--level', level, '--runs', String(runs)],
      { encoding: 'utf8', env: { ...process.env, MFC_NODE_MODULES: opt.package } });
    const [web] = JSON.parse(out);
    return { runs: web.runs.map((r) => r.peak_bytes), cpu_s: web.runs.map((r) => r.cpu_s), loaded: web.loaded_bytes };
  }
  const setting = opt.runtime === 'ort-lean' ? 'lean' : 'default';
  return JSON.parse(execFileSync(peak, [so, step, setting, level, String(runs)], { encoding: 'utf8' }));
}

// A plan, or what mfc says when there is none.
function plan(model, name, args) {
  const file = join(opt.output, `${model}.${name}.onnx`), json = join(opt.output, `${model}.${name}.json`);
  const done = spawnSync(mfc, [join(positionals[0], `${model}.onnx`), '-o', file, '--json', json, '-q', '--runtime', opt.runtime, ...args], { encoding: 'utf8' });
  return done.status ? { refused: done.stderr, status: done.status } : { file, ...JSON.parse(readFileSync(json, 'utf8')) };
}

// The least budget: what mfc says works when asked for too little.
function leastBudget(model) {
  let budget = 1;
  for (let round = 0; round < 4; round++) {
    const tried = plan(model, 'least', ['--budget', `${budget}B`]);
    if (!tried.refused) return budget;
    const offered = tried.refused.match(/raise the budget to [^(]*?(?:\((\d+) B\)|(\d+) B)|the best one needs [^(]*?(?:\((\d+) B\)|(\d+) B)/);
    if (!offered) throw new Error(`${model}: ${tried.refused}`);
    budget = Number(offered.slice(1).find(Boolean));
  }
  throw new Error(`${model}: no budget works`);
}

const mib = (n) => (n / MIB).toFixed(0), ratio = (a, b) => (a / b).toFixed(3), percent = (x) => `${(100 * x).toFixed(1)} %`;
const most = (runs) => Math.max(...runs);

// All levels of one plan: the worst measured peak, and the runs at the last level.
function check(p) {
  const all = levels.map((level) => measured(p.file, level));
  return { worst: most(all.flatMap((m) => m.runs)), last: all.at(-1), loaded: most(all.map((m) => m.loaded)) };
}

// Costs as ONNX Runtime measures them, as options of mfc.
function profiled(model, step) {
  const file = join(opt.output, `${model}.profile.json`);
  execFileSync(process.execPath, [join(top, 'examples/profile.mjs'), step, '-o', file, '--threads', '1', '--runs', '3'],
    { env: { ...process.env, MFC_NODE_MODULES: opt.package }, stdio: ['ignore', 'ignore', 'inherit'] });
  return ['--profile', file];
}

const kept = [], by_budget = [];
for (const model of list(opt.models)) {
  if (!existsSync(join(positionals[0], `${model}.onnx`))) throw new Error(`there is no ${model}.onnx; bench/runtime/models.py makes it`);
  const step = join(opt.output, `${model}.step.onnx`);
  execFileSync(mfc, [join(positionals[0], `${model}.onnx`), '-o', step, '-q', '--budget', 'none', '--runtime', opt.runtime]);
  const base = measured(step, levels.at(-1), 3), costs = opt.profile ? profiled(model, step) : [], p = plan(model, 'default', costs);
  const d = check(p), alive = p.liveness_bytes - p.fixed_bytes + d.loaded;
  kept.push([model, mib(p['unplanned_peak_bytes']), mib(most(base.runs)), mib(p.peak_bytes), d.last.runs.map(mib).join(' '), ratio(d.worst, p.peak_bytes),
    ratio(d.worst, most(base.runs)), ratio(d.worst, alive), percent(p.cost / p.base_cost - 1), percent(d.last.cpu_s.slice(1).reduce((a, b) => Math.min(a, b)) / base.cpu_s.slice(1).reduce((a, b) => Math.min(a, b)) - 1)]);
  console.error(kept.at(-1).join(' | '));
  const budgets = list(opt.budgets), least = budgets.length ? leastBudget(model) : 0, whole = p['unplanned_peak_bytes'];
  for (const name of budgets) {
    const share = name === 'least' ? 0 : name.startsWith('least+') ? parseFloat(name.slice(6)) / 100 : null;
    const bytes = share === null ? Math.floor(whole * parseFloat(name) / 100) : Math.ceil(least + share * (0.9 * whole - least));
    const q = plan(model, 'budget', ['--budget', `${bytes}B`, ...costs]);
    if (q.refused) {
      by_budget.push([model, name, mib(bytes), '-', '-', '-', q.refused.trim().slice(0, 60)]);
      continue;
    }
    const c = check(q);
    by_budget.push([model, name, mib(bytes), mib(q.peak_bytes), mib(c.worst), ratio(c.worst, bytes), percent(q.cost / q.base_cost - 1)]);
    console.error(by_budget.at(-1).join(' | '));
  }
}

const table = (head, rows) => [`| ${head.join(' | ')} |`, `|${'---|'.repeat(head.length)}`, ...rows.map((r) => `| ${r.join(' | ')} |`), ''].join('\n');
const text = `Default plans, MiB; levels ${levels.join(', ')}, ${opt.runs} runs; runs, times and the baseline step at level ${levels.at(-1)}\n\n` +
  table(['network', 'baseline step, predicted', 'measured', 'promised', 'runs', 'measured / promised, worst', '/ baseline step', '/ (liveness + loaded)', 'overhead predicted', 'measured'], kept) +
  (by_budget.length ? '\nWithin budgets, MiB\n\n' + table(['network', 'budget', 'MiB', 'promised', 'measured, worst', 'measured / budget', 'overhead'], by_budget) : '');
writeFileSync(join(opt.output, `promise.${opt.runtime}.md`), text);
console.log(text);
