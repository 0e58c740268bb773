// Threads on a time line; a selected range or thread narrows the other views.
const LANE = 30, MOST_LANES = 100;
const samples = readSamples();

function readSamples() {
  const bytes = new Bytes('data-samples');
  const count = head.timeline?.samples ?? 0;
  const all = {time: new Float64Array(count), thread: new Uint32Array(count), stack: new Uint32Array(count),
    blocked: new Uint8Array(count), weight: new Float64Array(count), count: 0};
  for (let time = 0; bytes.hasMore && all.count < count; all.count++) {
    time += bytes.next();
    const i = all.count;
    all.time[i] = time / 1e6;
    all.thread[i] = bytes.next();
    const stack = bytes.next();
    all.stack[i] = Math.floor(stack / 2);
    all.blocked[i] = stack % 2;
    all.weight[i] = Number(bytes.next());
  }
  return all;
}

const seconds = (value) => value.toFixed(3) + ' s';

class TimeLine {
  constructor(host) {
    this.host = host;
    this.first = Math.min(0, samples.time[0]);
    this.last = Math.max(samples.time[samples.count - 1], head.elapsed, this.first + 1e-6);
    this.range = null;
    this.hidden = new Set();
    const threads = head.timeline.threads.map((thread, id) => ({...thread, id, weight: 0}));
    for (let i = 0; i < samples.count; i++) threads[samples.thread[i]].weight += samples.weight[i];
    this.threads = threads.filter((thread) => thread.weight > 0).sort((a, b) => b.weight - a.weight);
    this.lanes = this.threads.slice(0, MOST_LANES);
    [this.from, this.to] = ['From', 'To'].map((label) => make('input', {type: 'number', step: 'any',
      'aria-label': `${label} second`, onchange: () => this.typed(),
      onkeydown: (event) => event.key === 'Enter' && this.typed()}));
    host.append(make('p', {class: 'quiet'}, head.kinds.timeline),
      make('div', {class: 'tools'}, 'From', this.from, 'to', this.to, 'seconds; or drag over a thread.',
        make('button', {type: 'button', onclick: () => this.select(null)}, 'Whole run')));
    this.list = make('div', {class: 'lanes'}, ...this.lanes.map((thread) => this.lane(thread)));
    const marks = [0, 0.25, 0.5, 0.75, 1].map((share) =>
      make('span', {}, seconds(this.first + share * (this.last - this.first))));
    host.append(make('div', {class: 'lane axis', 'aria-hidden': 'true'}, make('span', {}), make('div', {}, ...marks)), this.list);
    if (this.threads.length > MOST_LANES) {
      host.append(absence(`${grouped(this.threads.length - MOST_LANES)} threads with fewer samples are not shown.`));
    }
    new ResizeObserver(() => this.draw()).observe(this.list);
    dark.addEventListener('change', () => this.draw());
  }

  lane(thread) {
    const name = thread.tid ? `${thread.name} (${thread.tid})` : thread.name;
    const box = make('input', {type: 'checkbox', checked: true, onchange: (event) => {
      event.target.checked ? this.hidden.delete(thread.id) : this.hidden.add(thread.id);
      this.changed();
    }});
    thread.canvas = make('canvas', {role: 'img', 'aria-label': `${name}: ${samplesText(thread.weight)}`});
    thread.canvas.addEventListener('pointerdown', (event) => this.drag(event, thread.canvas));
    thread.canvas.addEventListener('mousemove', (event) => {
      const at = this.timeAt(event, thread.canvas);
      showTip([make('b', {}, name), make('span', {}, seconds(at))], event);
    });
    thread.canvas.addEventListener('mouseleave', () => showTip(null));
    return make('div', {class: 'lane'}, make('label', {title: `process ${thread.pid}`}, box, ' ', name,
      make('span', {class: 'quiet'}, ` ${samplesText(thread.weight)}`)), thread.canvas);
  }

  timeAt(event, canvas) {
    const area = canvas.getBoundingClientRect();
    const share = Math.min(Math.max((event.clientX - area.left) / area.width, 0), 1);
    return this.first + share * (this.last - this.first);
  }

  drag(event, canvas) {
    const begin = this.timeAt(event, canvas);
    canvas.setPointerCapture(event.pointerId);
    const move = (at) => {
      const end = this.timeAt(at, canvas);
      this.range = begin < end ? [begin, end] : [end, begin];
      this.draw();
    };
    const up = () => {
      canvas.removeEventListener('pointermove', move);
      this.select(this.range && this.range[1] > this.range[0] ? this.range : null);
    };
    canvas.addEventListener('pointermove', move);
    canvas.addEventListener('pointerup', up, {once: true});
  }

  typed() {
    const from = parseFloat(this.from.value), to = parseFloat(this.to.value);
    const range = [Number.isNaN(from) ? this.first : from, Number.isNaN(to) ? this.last : to];
    this.range = range[0] < range[1] && range.some((at, i) => at !== [this.first, this.last][i]) ? range : null;
    this.changed();
  }

  select(range) {
    this.range = range;
    this.from.value = range ? range[0].toFixed(6) : '';
    this.to.value = range ? range[1].toFixed(6) : '';
    this.changed();
  }

  reset() {
    this.hidden.clear();
    for (const box of this.list.querySelectorAll('input')) box.checked = true;
    this.select(null);
  }

  changed() {
    this.draw();
    const isAll = !this.range && this.hidden.size === 0;
    const weights = countArray(recorded.weight.length);
    let inside = 0, withStack = 0;
    if (!isAll) {
      const [from, to] = this.range ?? [-Infinity, Infinity];
      for (let i = 0; i < samples.count; i++) {
        if (samples.time[i] < from || samples.time[i] > to || this.hidden.has(samples.thread[i])) continue;
        inside += samples.weight[i];
        if (samples.stack[i] === 0) continue;
        withStack += samples.weight[i];
        weights[samples.stack[i] - 1] += asStored(samples.weight[i]);
      }
    }
    const text = [this.range ? `${seconds(this.range[0])} to ${seconds(this.range[1])}` : '',
      this.hidden.size ? `${grouped(this.threads.length - this.hidden.size)} of ${grouped(this.threads.length)} threads` : '']
      .filter(Boolean).join(', ');
    const without = inside > withStack ? `, ${grouped(inside - withStack)} of them without a stack` : '';
    narrow(isAll ? null : {weights, samples: inside, text: `${text}: ${samplesText(inside)}${without}` +
      (head.timeline.stride > 1 ? `, of one in ${grouped(head.timeline.stride)}` : '')});
  }

  draw() {
    const width = Math.floor(this.lanes[0]?.canvas.getBoundingClientRect().width ?? 0);
    if (width < 2) return;
    const laneOf = new Map(this.lanes.map((thread, lane) => [thread.id, lane]));
    const bins = this.lanes.map(() => [new Float64Array(width), new Float64Array(width)]);
    const scale = width / (this.last - this.first), before = new Map();
    const binOf = (time) => Math.min(Math.max(Math.floor((time - this.first) * scale), 0), width - 1);
    for (let i = 0; i < samples.count; i++) {
      const lane = laneOf.get(samples.thread[i]);
      if (lane === undefined) continue;
      // A wait is told when it is over: it is drawn from the sample before it on.
      const bin = binOf(samples.time[i]), isWait = samples.blocked[i] && samples.weight[i] > 1;
      const from = isWait ? Math.min(binOf(before.get(lane) ?? this.first) + 1, bin) : bin;
      for (let at = from; at <= bin; at++) bins[lane][samples.blocked[i]][at] += samples.weight[i] / (bin - from + 1);
      before.set(lane, samples.time[i]);
    }
    const most = Math.max(1, ...bins.map(([on, off]) => on.reduce((best, value, i) => Math.max(best, value + off[i]), 0)));
    this.lanes.forEach((thread, lane) => this.drawLane(thread, bins[lane], most, width, scale));
  }

  drawLane({canvas, id}, [on, off], most, width, scale) {
    const ratio = devicePixelRatio || 1, pen = canvas.getContext('2d');
    canvas.width = width * ratio;
    canvas.height = LANE * ratio;
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    pen.globalAlpha = this.hidden.has(id) ? 0.25 : 1;
    for (let x = 0; x < width; x++) {
      const high = Math.sqrt((on[x] + off[x]) / most) * (LANE - 2), share = on[x] / (on[x] + off[x]);
      if (!high) continue;
      pen.fillStyle = theme('--on-cpu');
      pen.fillRect(x, LANE - high * share, 1, high * share);
      pen.fillStyle = theme('--blocked');
      pen.fillRect(x, LANE - high, 1, high * (1 - share));
    }
    if (this.range) {
      pen.globalAlpha = 0.28;
      pen.fillStyle = theme('--focus');
      const from = (this.range[0] - this.first) * scale;
      pen.fillRect(from, 0, Math.max((this.range[1] - this.range[0]) * scale, 1), LANE);
    }
  }
}

// Shows a part of the samples in all views; null: all.
function narrow(part) {
  weighStacks(part ? part.weights : recorded.weight);
  selected = part ? {...sumsByFunction(), samples: part.samples} : null;
  byId('range').hidden = !part;
  byId('range-text').textContent = part ? part.text : '';
  for (const graph of [flame, icicle]) {
    graph?.views[0].show(tree);
    graph?.search();
  }
  functionTable.replace(rowsOfFunctions());
  drawSandwich();
}

let timeLine = null;
function makeTimeLine() {
  if (!head.timeline || samples.count === 0) byId('threads').append(absence(head.absent.timeline));
  else timeLine = new TimeLine(byId('threads'));
}
makeTimeLine();
byId('range-all').addEventListener('click', () => timeLine?.reset());
