// One line per model out of the rows of the table: what is promised in docs/runtime.md, at its worst.
//
//     node bench/runtime/summary.mjs RESULTS.csv...
import { readFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';

const HEAD = ['model', 'baseline MiB', 'order alone', 'default', 'plans measured', 'measured / budget, worst', 'measured / predicted', 'outputs bit-equal',
  'worst error', 'level alone moves', 'plans to level disabled', 'default: time predicted', 'measured', 'control nodes, time', 'arena / liveness, worst'];

const most = (list) => (list.length ? Math.max(...list) : undefined);
const numbers = (rows, column) => rows.map((r) => r[column]).filter((x) => x !== undefined && x !== '').map(Number);
const mib = (b) => (b / 2 ** 20).toFixed(0);
const percent = (x) => (x === undefined ? '' : `${(100 * x).toFixed(2)} %`);
const fixed = (x, n) => (x === undefined ? '' : x.toFixed(n));
// How far levels move outputs from those of the baseline step at level disabled.
const moved = (rows) => most(numbers(rows, 'worst_to_disabled'))?.toExponential(0) ?? '';
const range = (list) => (list.length ? `${Math.min(...list).toFixed(3)}-${Math.max(...list).toFixed(3)}` : '');

// The first level that was measured stands for all where one figure is shown: without optimizations the runtime is as mfc models it.
function line(model, rows) {
  const of = (step) => rows.filter((r) => r.step === step && r.measured_bytes);
  const plans = rows.filter((r) => r.budget_bytes && r.measured_bytes), compared = rows.filter((r) => r.outputs);
  const against = (step) => {
    const [a] = of('baseline'), [b] = of(step);
    return a && b ? `${mib(b.measured_bytes)} (${percent(b.measured_bytes / a.measured_bytes)})` : '';
  };
  const total = (column) => numbers(compared, column).reduce((a, b) => a + b, 0), [start] = of('baseline');
  return [model, start ? mib(start.measured_bytes) : '', against('order'), against('default'), String(plans.length),
    fixed(most(numbers(plans, 'measured_by_budget')), 3), range(numbers(plans, 'measured_by_predicted')),
    `${total('bit_equal')} of ${total('outputs')}`, most(numbers(compared, 'worst_error'))?.toExponential(0) ?? '',
    moved(of('baseline')), moved(compared), percent(numbers(of('default'), 'predicted_overhead')[0]), percent(numbers(of('default'), 'measured_overhead')[0]),
    percent(most(numbers(rows, 'control_share'))), fixed(most(numbers(plans, 'arena_by_liveness')), 4)];
}

export function summarize(rows) {
  const models = [...new Set(rows.map((r) => r.model))];
  const lines = models.map((m) => line(m, rows.filter((r) => r.model === m)));
  return [HEAD, HEAD.map(() => '---'), ...lines].map((cells) => `| ${cells.join(' | ')} |`).join('\n') + '\n';
}

// Cells may be quoted, with quotes doubled.
function readCsv(path) {
  const split = (text) => [...text.matchAll(/(?:^|,)(?:"((?:[^"]|"")*)"|([^,]*))/g)].map((m) => m[1]?.replaceAll('""', '"') ?? m[2]);
  const [head, ...lines] = readFileSync(path, 'utf8').trim().split('\n').map(split);
  return lines.map((cells) => Object.fromEntries(cells.map((c, i) => [head[i], c])));
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) {
  if (process.argv.length < 3) {
    console.error('usage: summary.mjs RESULTS.csv...');
    process.exit(2);
  }
  console.log(summarize(process.argv.slice(2).flatMap(readCsv)));
}
