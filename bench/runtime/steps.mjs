// The steps that are compared, made by mfc from one model: baseline, in mfc's order only, planned without any option, and planned
// for budgets.
import { spawnSync } from 'node:child_process';

const STEP = 'upgrade,shapes,fold,unroll,fold,simplify,dce,loss,grad,optimizer,fold,simplify,dce';

function call(mfc, args) {
  const time = process.hrtime.bigint();
  const r = spawnSync(mfc, args, { encoding: 'utf8', maxBuffer: 1 << 28 });
  return { status: r.status, text: r.stderr, seconds: Number(process.hrtime.bigint() - time) / 1e9 };
}

function must(mfc, args) {
  const r = call(mfc, args);
  if (r.status !== 0) throw new Error(`${mfc} ${args.join(' ')}: exit ${r.status}: ${r.text.trim().slice(-500)}`);
  return r;
}

export const makeBaseline = (mfc, model, out) => must(mfc, ['opt', model, '--passes=' + STEP, '-q', '-o', out]);
export const makeOrdered = (mfc, model, out) => must(mfc, ['opt', model, `--passes=${STEP},costs,rewrite`, '-q', '-o', out]);
export const makePlan = (mfc, model, out, options) => call(mfc, [model, '-o', out, '-q', ...options]);

// The least budget that mfc knows to work, from its refusal of one byte.
export function leastBudget(mfc, model, out, options) {
  const r = call(mfc, [model, '-o', out, '-q', '--budget', '1', ...options]);
  const known = r.text.match(/raise the budget to [^(]*\((\d+) B\)/);
  if (!known) throw new Error(`${model}: a budget of one byte gives exit ${r.status}: ${r.text.trim().slice(-500)}`);
  return Number(known[1]);
}

// Budgets as bytes: `least`, `90%`, or `least+50%`: half way from the least to 90 %.
export function budgetBytes(spec, least, baseline) {
  if (spec === 'least') return least;
  const way = spec.match(/^least\+(\d+)%$/);
  if (way) return Math.round(least + (0.9 * baseline - least) * Number(way[1]) / 100);
  return Math.round(baseline * Number(spec.replace('%', '')) / 100);
}
