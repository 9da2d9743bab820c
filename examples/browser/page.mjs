// The page: controls, curve, memory, samples. The training itself is in worker.mjs.
import { chart } from './chart.mjs';
import { SHAPES, TASKS, TEXT } from './tasks.mjs';

const $ = (id) => document.getElementById(id);
const chosen = (name) => document.querySelector(`input[name=${name}]:checked`).value;
const mib = (bytes) => `${(bytes / 2 ** 20).toFixed(1)} MiB`;
const EVER = 1e9;

// Also for tests: everything that was heard of the worker.
export const run = { losses: [], first: 0, heap: 0, loaded: 0, figures: null, state: 'loading', look: null, error: null };
globalThis.run = run;
let worker;

function status(text, bad = false) {
  $('status').textContent = text;
  $('status').className = bad ? 'bad' : '';
}

function enable(on) {
  for (const id of ['run', 'model', 'save', 'load']) $(id).disabled = !on;
}

function open() {
  worker?.terminate();
  worker = new Worker('worker.mjs', { type: 'module' });
  worker.onmessage = ({ data }) => hear[data.is](data);
  worker.onerror = (event) => hear.error({ text: event.message ?? 'the worker could not start' });
  Object.assign(run, { losses: [], first: 0, heap: 0, state: 'loading', look: null, error: null });
  const name = chosen('task');
  $('what').textContent = TASKS[name].what;
  $('own').hidden = name !== 'text';
  $('look-title').textContent = name === 'text' ? 'What the model writes' : 'What the model sees';
  $('look').innerHTML = '<p class="small">After the first steps.</p>';
  $('chart').innerHTML = chart([0], 0);
  $('loss').textContent = '–';
  $('run').textContent = 'Start';
  enable(false);
  status('loading…');
  worker.postMessage({ do: 'open', name, planned: chosen('step') === 'plan' });
}

function showMemory() {
  const { heap, loaded, figures } = run, promise = figures.peak_bytes;
  const whole = 1.15 * Math.max(heap, promise);
  $('heap').textContent = mib(heap);
  $('loaded').textContent = mib(loaded);
  $('grown').textContent = mib(heap - loaded);
  $('used').style.width = `${(100 * heap) / whole}%`;
  $('promise').style.left = `${(100 * promise) / whole}%`;
  $('bar').setAttribute('aria-label', `${mib(heap)} in use; with the planned peak ${mib(promise)}`);
}

let drawing = false;
function draw() { // at most once a frame
  if (drawing) return;
  drawing = true;
  requestAnimationFrame(() => {
    drawing = false;
    if (run.losses.length) $('chart').innerHTML = chart(run.losses, run.first);
    showMemory();
  });
}

function picture(pixels, index) {
  const side = 32, canvas = document.createElement('canvas'), n = side * side;
  canvas.width = canvas.height = side;
  const image = new ImageData(side, side);
  for (let i = 0; i < n; i++) {
    for (let c = 0; c < 3; c++) image.data[4 * i + c] = 255 * (pixels[(index * 3 + c) * n + i] + 0.5);
    image.data[4 * i + 3] = 255;
  }
  canvas.getContext('2d').putImageData(image, 0, 0);
  return canvas;
}

function showLook({ accuracy, pictures, guesses, labels, lines }) {
  const box = document.createElement('div');
  if (lines) {
    for (const line of lines) box.appendChild(document.createElement('pre')).textContent = line;
  } else {
    $('look-title').textContent = `What the model sees: ${(100 * accuracy).toFixed(0)} % of new pictures are correct`;
    box.className = 'pictures';
    guesses.forEach((guess, i) => {
      const figure = box.appendChild(document.createElement('figure')), name = document.createElement('figcaption');
      name.textContent = SHAPES[guess];
      name.className = guess === labels[i] ? 'good' : 'bad';
      figure.append(picture(pictures, i), name);
    });
  }
  $('look').replaceChildren(box);
}

const hear = {
  ready({ heap, figures, settings }) {
    Object.assign(run, { heap, loaded: heap, figures, state: 'ready' });
    $('lr').value = settings.lr;
    $('peak-name').textContent = chosen('step') === 'plan' ? 'planned peak' : 'predicted peak';
    $('peak').textContent = mib(figures.peak_bytes);
    $('overhead').textContent = figures.overhead == null ? '–' : `${(100 * figures.overhead).toFixed(1)} %`;
    enable(true);
    status('ready');
    showMemory();
  },
  step({ step, loss, heap }) {
    if (!run.losses.length) run.first = step;
    run.losses.push(loss);
    run.heap = heap;
    $('loss').textContent = loss.toFixed(3);
    status(`step ${step + 1}`);
    draw();
  },
  look(seen) {
    run.look = seen;
    run.heap = seen.heap;
    showLook(seen);
  },
  paused({ step }) {
    run.state = 'paused';
    $('run').textContent = 'Go on';
    enable(true);
    status(`paused after ${step} steps`);
  },
  loaded({ step }) {
    Object.assign(run, { losses: [], first: step });
    status(`checkpoint of step ${step}`);
  },
  file({ name, bytes }) {
    run.file = { name, bytes };
    const link = document.createElement('a');
    link.href = URL.createObjectURL(new Blob([bytes]));
    link.download = name;
    link.click();
    URL.revokeObjectURL(link.href);
  },
  error({ text }) {
    run.error = text;
    run.state = 'error';
    enable(true);
    $('run').textContent = 'Go on';
    status(text, true);
  },
};

// Runs until it is paused, or until a step.
export function start(until = EVER) {
  const lr = Number($('lr').value);
  if (!(lr > 0)) return status('the learning rate is a number above 0', true);
  run.state = 'running';
  run.error = null;
  enable(false);
  $('run').disabled = false;
  $('run').textContent = 'Pause';
  worker.postMessage({ do: 'text', text: $('own').value });
  worker.postMessage({ do: 'run', lr, until });
}
globalThis.start = start;

$('run').onclick = () => (run.state === 'running' ? worker.postMessage({ do: 'pause' }) : start());
$('model').onclick = () => worker.postMessage({ do: 'model' });
$('save').onclick = () => worker.postMessage({ do: 'save' });
$('load').onchange = async ({ target }) => {
  const [file] = target.files;
  if (file) worker.postMessage({ do: 'load', bytes: new Uint8Array(await file.arrayBuffer()) });
  target.value = '';
};
for (const input of document.querySelectorAll('.choice input')) input.onchange = open;
$('own').value = TEXT;
open();
