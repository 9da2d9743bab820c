// The table of plans on ONNX Runtime: see run, which starts this. For every model the baseline step, the step in mfc's order, the plan
// that mfc makes without options, and plans for budgets from the least that works to 90 % of the baseline peak, all with times
// from a profile; each measured in a fresh process for every optimization level and version, its outputs compared with those of the
// baseline step there, and with those of the baseline step without optimizations (for the baseline step itself this shows how far
// the level alone moves them). Memory without ONNX Runtime's arena, times with it (without it, page faults hide the kernels): processor
// time of one thread, the best of several runs of plan and baseline step by turns. Rows appear as they are measured, and both files are
// written anew with each model.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { compare, summary } from '../../tests/runtime/compare.mjs';
import { measure } from '../../tests/runtime/measure.mjs';
import { readModel } from '../../tests/runtime/onnxfile.mjs';
import { summarize } from './summary.mjs';
import { budgetBytes, leastBudget, makeOrdered, makePlan, makeBaseline } from './steps.mjs';

const here = dirname(fileURLToPath(import.meta.url));
const ALL = 'resnet50,vgg16,mobilenet_v2,densenet121,unet,bert,gpt,gpt48,lstm';
const { values: opt } = parseArgs({
  options: {
    output: { type: 'string', short: 'o', default: 'build/bench-runtime' }, models: { type: 'string', default: ALL },
    small: { type: 'boolean', default: false }, budgets: { type: 'string', default: 'least,least+25%,least+50%,least+75%,90%' },
    levels: { type: 'string', default: 'disabled,basic,extended,all' }, versions: { type: 'string', default: '1.17,1.20,newest' },
    mfc: { type: 'string', default: resolve(here, '../../build/mfc') }, 'no-time': { type: 'boolean', default: false },
    keep: { type: 'boolean', default: false }, runs: { type: 'string', default: '2' }, from: { type: 'string' },
  },
});
const list = (text) => text.split(',').filter(Boolean);
const folder = resolve(opt.output), work = join(folder, 'work'), models = resolve(opt.from ?? join(folder, opt.small ? 'small' : 'models'));
const packageOf = (version) => (version === 'newest' ? resolve(here, '../../tests/runtime') : join(here, 'versions', version));
mkdirSync(work, { recursive: true });

const COLUMNS = ['model', 'step', 'level', 'version', 'budget_bytes', 'predicted_bytes', 'measured_bytes', 'measured_by_budget',
  'measured_by_predicted', 'outputs', 'bit_equal', 'worst_error', 'where', 'worst_to_disabled', 'predicted_overhead', 'measured_overhead', 'control_share',
  'compile_s', 'load_s', 'arena_by_liveness', 'recomputed', 'control_nodes', 'note'];
const rows = [];

function csv(row) {
  return COLUMNS.map((c) => {
    const v = row[c] ?? '';
    return typeof v === 'number' && !Number.isInteger(v) ? v.toPrecision(6) : /[",]/.test(v) ? `"${v.replaceAll('"', '""')}"` : String(v);
  }).join(',');
}

const mib = (b) => (b === undefined ? '' : (b / 2 ** 20).toFixed(1));
const pct = (x) => (x === undefined ? '' : `${(100 * x).toFixed(2)} %`);

function markdown() {
  const head = ['model', 'step', 'level', 'version', 'budget MiB', 'predicted', 'measured', 'by budget', 'by predicted', 'bit-equal', 'worst error', 'to disabled',
    'overhead predicted', 'measured', 'control nodes, time', 'compile s', 'arena / liveness peak', 'note'];
  const line = (r) => [r.model, r.step, r.level, r.version, mib(r.budget_bytes), mib(r.predicted_bytes), mib(r.measured_bytes),
    r.measured_by_budget?.toFixed(3) ?? '', r.measured_by_predicted?.toFixed(3) ?? '', r.outputs ? `${r.bit_equal} of ${r.outputs}` : '',
    r.outputs ? r.worst_error.toExponential(0) : '', r.worst_to_disabled?.toExponential(0) ?? '', pct(r.predicted_overhead), pct(r.measured_overhead), pct(r.control_share), r.compile_s?.toFixed(1) ?? '',
    r.arena_by_liveness?.toFixed(4) ?? '', r.note ?? ''];
  return [`| ${head.join(' | ')} |`, `|${'---|'.repeat(head.length)}`, ...rows.map((r) => `| ${line(r).join(' | ')} |`), ''].join('\n');
}

function write() {
  writeFileSync(join(folder, 'results.csv'), [COLUMNS.join(','), ...rows.map(csv), ''].join('\n'));
  writeFileSync(join(folder, 'results.md'), `${summarize(rows)}\n${markdown()}`);
}

function add(row) {
  rows.push(row);
  console.log([row.model, row.step, row.level ?? '', row.version ?? '', `budget ${mib(row.budget_bytes)}`, `predicted ${mib(row.predicted_bytes)}`,
    `measured ${mib(row.measured_bytes)}`, row.measured_by_budget ? `${row.measured_by_budget.toFixed(3)} of the budget` : '',
    row.outputs ? `${row.bit_equal}/${row.outputs} equal, ${row.worst_error.toExponential(0)}` : '', row.note ?? ''].join('  '));
}

function exported(name) {
  const path = join(models, name + '.onnx');
  if (!existsSync(path)) execFileSync(join(here, 'models.py'), [models, ...(opt.small ? ['--small'] : []), name], { stdio: 'inherit' });
  return path;
}

// Time by node name from a profile that ONNX Runtime wrote.
function profileOf(step, level) {
  const prefix = join(work, 'profile');
  measure(step, { level, runs: 2, arena: true, profile: prefix });
  const file = readdirSync(work).filter((f) => f.startsWith('profile_')).sort().at(-1);
  renameSync(join(work, file), prefix + '.json');
  return prefix + '.json';
}

function controlShare(step) {
  const control = new Set(readModel(step).nodes.filter((n) => n.metadata['dev.mfc.role'] === 'control').map((n) => n.name));
  let all = 0, part = 0;
  for (const e of JSON.parse(readFileSync(profileOf(step, 'all'), 'utf8'))) {
    if (e.cat !== 'Node' || !e.name.endsWith('_kernel_time')) continue;
    all += e.dur;
    if (control.has(e.name.slice(0, -'_kernel_time'.length))) part += e.dur;
  }
  return part / all;
}

const timesOf = (step) => measure(step, { level: 'all', runs: 3, arena: true }).runs.map((r) => r.cpu_ms);

// By turns, so that a machine that becomes slower meanwhile does so for both.
function overheadOf(step, base) {
  const times = { [step]: [], [base]: [] };
  for (let turn = 0; turn < 3; turn++) for (const path of [base, step]) times[path].push(...timesOf(path));
  return Math.min(...times[step]) / Math.min(...times[base]) - 1;
}

// Measures a step everywhere; `reference` says where the outputs of the baseline step are kept, per level and version.
function measureStep(row, step, reference, isReference) {
  const timed = opt['no-time'] || isReference ? {} : { overhead: overheadOf(step, row.base), control_share: controlShare(step) };
  for (const version of list(opt.versions)) {
    for (const level of list(opt.levels)) {
      const save = isReference ? reference(level, version) : join(work, 'outputs');
      let r;
      try {
        r = measure(step, { level, package: packageOf(version), save, runs: Number(opt.runs) });
      } catch (e) {
        add({ ...row, level, version, note: e.message.replace(/\s+/g, ' ').slice(0, 200) });
        continue;
      }
      const plan = r.plan, same = isReference ? {} : summary(compare(reference(level, version), save));
      const plain = reference('disabled', version);
      const toPlain = level !== 'disabled' && existsSync(plain) ? summary(compare(plain, save)).worst : undefined;
      const predicted = { disabled: plan.plain_peak_bytes, basic: plan.plain_peak_bytes }[level] ?? plan.fused_peak_bytes;
      add({
        ...row, level, version, measured_bytes: r.total_bytes, load_s: r.load_ms / 1e3, budget_bytes: plan.budget_bytes,
        predicted_bytes: predicted, measured_by_budget: r.total_bytes / plan.budget_bytes || undefined,
        measured_by_predicted: r.total_bytes / predicted || undefined, predicted_overhead: plan.cost / plan.base_cost - 1 || undefined,
        arena_by_liveness: plan.arena_bytes / plan.arena_live_bytes || undefined, control_share: timed.control_share,
        measured_overhead: timed.overhead,
        outputs: same.n_outputs, bit_equal: same.n_equal, worst_error: same.worst, where: same.where, worst_to_disabled: toPlain,
      });
    }
  }
}

// The claims of the plan, or nothing if there is none.
function planAndMeasure(name, model, step, options, row, reference) {
  const path = join(work, 'plan.onnx');
  const made = makePlan(opt.mfc, model, path, options);
  if (made.status !== 0) {
    add({ ...row, step, compile_s: made.seconds, note: made.text.replace(/\s+/g, ' ').slice(0, 200) });
    return undefined;
  }
  measureStep({ ...row, step, compile_s: made.seconds }, path, reference, false);
  const { metadata } = readModel(path);
  if (opt.keep) renameSync(path, join(work, `${name}.${step.replace(/[^a-z0-9]+/g, '_')}.onnx`));
  return metadata;
}

// What fits by the liveness peak may be a little too tight for the runtime: the least budget is the first of these that works.
const LOOSER = [1, 1.005, 1.02, 1.05, 1.1];

function measureModel(name) {
  const model = exported(name), base = join(work, 'baseline.onnx'), path = join(work, 'step.onnx');
  const reference = (level, version) => join(work, `baseline.${level}.${version}`);
  makeBaseline(opt.mfc, model, base);
  measureStep({ model: name, step: 'baseline' }, base, reference, true);
  const row = { model: name, base };
  const options = [];
  if (!opt['no-time']) {
    options.push('--profile', join(work, name + '.profile.json'));
    renameSync(profileOf(base, 'disabled'), options[1]);
  }
  makeOrdered(opt.mfc, model, path);
  measureStep({ ...row, step: 'order' }, path, reference, false);
  const baseline = planAndMeasure(name, model, 'default', options, row, reference)?.['dev.mfc.unplanned_peak_bytes'];
  const known = leastBudget(opt.mfc, model, join(work, 'none.onnx'), options);
  const works = (bytes) => makePlan(opt.mfc, model, join(work, 'none.onnx'), ['--budget', String(bytes), ...options]).status === 0;
  const least = LOOSER.map((f) => Math.round(known * f)).find(works) ?? known;
  for (const spec of list(opt.budgets))
    planAndMeasure(name, model, spec, ['--budget', String(budgetBytes(spec, least, Number(baseline))), ...options], row, reference);
}

for (const name of list(opt.models)) {
  try {
    measureModel(name);
  } catch (e) {
    add({ model: name, note: e.message.replace(/\s+/g, ' ').slice(0, 300) });
  }
  write();
  if (!opt.keep) for (const f of readdirSync(work)) rmSync(join(work, f));
}
console.log(`written: ${join(folder, 'results.md')}, ${join(folder, 'results.csv')}`);
