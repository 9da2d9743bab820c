// The curve of the losses as SVG: each step as a thin line, a running mean as a thick one.
const WIDTH = 640, HEIGHT = 260, LEFT = 44, BOTTOM = 24, TOP = 8;

const nice = (range) => {
  const power = 10 ** Math.floor(Math.log10(range)), digit = range / power;
  return (digit > 5 ? 2 : digit > 2 ? 1 : 0.5) * power;
};

// The mean of the first steps, later of the last ones most.
function smooth(losses, weight = 0.1) {
  let mean = 0;
  return losses.map((x, i) => (mean += Math.max(weight, 1 / (i + 1)) * (x - mean)));
}

export function chart(losses, first) {
  const n = losses.length, top = Math.max(...losses) * 1.05 || 1, x = (i) => LEFT + ((WIDTH - LEFT) * i) / Math.max(n - 1, 1);
  const y = (v) => TOP + (HEIGHT - TOP - BOTTOM) * (1 - v / top), every = Math.max(1, Math.floor(n / WIDTH));
  const path = (values) => values.map((v, i) => (i % every && i + 1 < n ? '' : `${i ? 'L' : 'M'}${x(i).toFixed(1)} ${y(v).toFixed(1)}`)).join('');
  const lines = [], labels = [], step = nice(top);
  for (let v = 0; v <= top; v += step) {
    lines.push(`<line class="grid-line" x1="${LEFT}" x2="${WIDTH}" y1="${y(v)}" y2="${y(v)}"/>`);
    labels.push(`<text x="${LEFT - 8}" y="${y(v) + 4}" text-anchor="end">${Number(v.toPrecision(3))}</text>`);
  }
  labels.push(`<text x="${LEFT}" y="${HEIGHT - 6}">step ${first}</text><text x="${WIDTH}" y="${HEIGHT - 6}" text-anchor="end">${first + n - 1}</text>`);
  const now = losses[n - 1];
  return `<svg viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-label="Loss by step, now ${now?.toFixed(3)}">${lines.join('')}${labels.join('')}
    <path class="each" d="${path(losses)}"/><path class="smooth" d="${path(smooth(losses))}"/></svg>`;
}
