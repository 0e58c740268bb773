// Draws a tree of calls on a canvas as high as the window; only boxes that can be seen.
const ROW = 19, PAD = 4, NARROWEST = 0.3;
const dark = matchMedia('(prefers-color-scheme: dark)');
const palette = () => dark.matches ? head.colours.dark : head.colours.light;
const theme = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

class FlameView {
  // `up`: the root is at the bottom.
  constructor(host, {up, label, onHover, onPick}) {
    Object.assign(this, {up, onHover, onPick, zoomed: 0, focused: 0, matches: null});
    this.canvas = make('canvas', {tabindex: '0', role: 'application', 'aria-label': label,
      'aria-roledescription': 'flame graph', 'aria-describedby': 'keys'});
    this.spacer = make('div', {class: 'spacer'}, this.canvas);
    this.scroller = make('div', {class: 'scroller'}, this.spacer);
    host.append(this.scroller);
    this.scroller.addEventListener('scroll', () => {
      this.above = this.scroller.scrollTop;
      this.below = this.height - this.above - this.scroller.clientHeight;
      this.paint();
    });
    this.canvas.addEventListener('mousemove', (event) => this.hover(event));
    this.canvas.addEventListener('mouseleave', () => this.onHover(this, -1));
    this.canvas.addEventListener('click', (event) => this.click(event));
    this.canvas.addEventListener('dblclick', () => this.onPick(this, this.focused));
    this.canvas.addEventListener('keydown', (event) => this.key(event));
    this.canvas.addEventListener('focus', () => this.paint());
    this.canvas.addEventListener('blur', () => this.paint());
    new ResizeObserver(() => this.draw()).observe(this.scroller);
    dark.addEventListener('change', () => this.paint());
  }

  show(tree) {
    this.tree = tree;
    this.zoomed = this.focused = 0;
    this.draw(true);
  }

  nameOf(node) {
    const func = this.tree.func[node];
    return func === TOO_NARROW ? '[too narrow to be shown here]' : func < 0 ? 'all' : nameOf(func);
  }

  search(matcher) {
    this.matches = matcher && functions.map((f) => matcher.test(f[0]));
    this.paint();
  }

  // The samples of stacks with a match below the zoomed box; a stack with several counts once.
  matched() {
    if (!this.matches) return null;
    let found = 0;
    const {func, end, total} = this.tree;
    for (let i = this.zoomed; i < end[this.zoomed];) {
      const matches = func[i] >= 0 && this.matches[func[i]];
      if (matches) found = sum(found, total[i]);
      i = matches ? end[i] : i + 1;
    }
    return found;
  }

  zoom(node) {
    this.zoomed = this.focused = node;
    this.draw(true);
    this.onHover(this, node, null);
  }

  // Finds the boxes: rows[row] has three numbers for each, from the left: node, x, width.
  layOut() {
    const {tree, zoomed} = this, width = this.scroller.clientWidth;
    const rows = [];
    const whole = Number(tree.total[zoomed]);
    const put = (row, node, x, w) => (rows[row] ??= []).push(node, x, w);
    for (let i = zoomed; ; i = tree.parent[i]) {
      put(tree.depth[i], i, 0, width);
      if (i === 0) break;
    }
    if (whole > 0) {
      const scale = width / whole, origin = tree.start[zoomed], filled = [];
      for (let i = zoomed + 1; i < tree.end[zoomed];) {
        const x = (tree.start[i] - origin) * scale, w = Number(tree.total[i]) * scale;
        const row = tree.depth[i];
        // Of boxes narrower than a pixel one is drawn for each pixel.
        if (w < 1 && (w < NARROWEST * 0.01 || Math.floor(x) <= (filled[row] ?? -1))) {
          i = tree.end[i];
          continue;
        }
        if (w < 1) filled[row] = Math.floor(x);
        put(row, i, x, Math.max(w, 1));
        i = w < NARROWEST ? tree.end[i] : i + 1;
      }
    }
    this.rows = rows;
  }

  draw(moved) {
    if (!this.tree || this.scroller.clientWidth === 0) return;
    this.layOut();
    const view = this.scroller.clientHeight, height = Math.max(this.rows.length * ROW + 2, view);
    this.height = height;
    this.spacer.style.height = height + 'px';
    if (moved) this.scroller.scrollTop = this.up ? height - view - Math.max(0, this.tree.depth[this.zoomed] - 4) * ROW
      : Math.max(0, this.tree.depth[this.zoomed] - 4) * ROW;
    else this.scroller.scrollTop = this.up ? height - view - (this.below ?? 0) : this.above ?? 0;
    this.paint();
  }

  topOf(row) {
    return this.up ? this.height - (row + 1) * ROW - 1 : row * ROW + 1;
  }

  paint() {
    if (!this.rows || this.scroller.clientWidth === 0) return;
    const ratio = devicePixelRatio || 1, width = this.scroller.clientWidth, view = this.scroller.clientHeight;
    const {canvas} = this, pen = canvas.getContext('2d');
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(view * ratio);
    canvas.style.width = width + 'px';
    canvas.style.height = view + 'px';
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    pen.clearRect(0, 0, width, view);
    pen.font = '12px "DejaVu Sans Mono", Menlo, Consolas, "Liberation Mono", monospace';
    pen.textBaseline = 'middle';
    this.letter ??= pen.measureText('0000000000').width / 10;
    const look = {colours: palette(), match: theme('--match'), root: theme('--root'), text: theme('--box-text'),
      focus: theme('--focus')};
    const top = this.scroller.scrollTop;
    for (let row = 0; row < this.rows.length; row++) {
      const y = this.topOf(row) - top;
      if (y > view || y + ROW < 0 || !this.rows[row]) continue;
      this.paintRow(pen, look, this.rows[row], row < this.tree.depth[this.zoomed], y);
    }
  }

  paintRow(pen, look, boxes, below, y) {
    const {func} = this.tree;
    for (let i = 0; i < boxes.length; i += 3) {
      const node = boxes[i], x = boxes[i + 1], w = boxes[i + 2], f = func[node];
      pen.globalAlpha = below ? 0.5 : 1;
      pen.fillStyle = f < 0 ? look.root : this.matches?.[f] ? look.match : look.colours[functions[f][3]] ?? look.root;
      pen.fillRect(x, y, w > 3 ? w - 0.6 : w, ROW - 1);
      pen.globalAlpha = 1;
      const label = w > 24 ? fitted(this.nameOf(node), w, this.letter) : '';
      if (label) {
        pen.fillStyle = below || f < 0 ? theme('--text') : look.text;
        pen.fillText(label, x + PAD, y + ROW / 2);
      }
      if (node === this.focused && (document.activeElement === this.canvas || node > 0)) {
        pen.strokeStyle = look.focus;
        pen.lineWidth = 2;
        pen.strokeRect(x + 1, y + 1, Math.max(w - 2.6, 1), ROW - 3);
      }
    }
  }

  nodeAt(event) {
    const area = this.canvas.getBoundingClientRect();
    const x = event.clientX - area.left, y = event.clientY - area.top + this.scroller.scrollTop;
    const row = this.up ? Math.floor((this.height - 1 - y) / ROW) : Math.floor((y - 1) / ROW);
    const boxes = this.rows?.[row] ?? [];
    for (let i = 0; i < boxes.length; i += 3) {
      if (boxes[i + 1] <= x && x < boxes[i + 1] + boxes[i + 2]) return boxes[i];
    }
    return -1;
  }

  hover(event) {
    this.onHover(this, this.nodeAt(event), event);
  }

  click(event) {
    const node = this.nodeAt(event);
    if (node < 0) return;
    if (event.shiftKey) this.onPick(this, node);
    else this.zoom(node);
  }

  // The nearest drawn box beside a node, on its row.
  beside(node, step) {
    const boxes = this.rows[this.tree.depth[node]] ?? [];
    for (let i = 0; i < boxes.length; i += 3) {
      if (boxes[i] === node) return boxes[i + 3 * step] ?? -1;
    }
    return -1;
  }

  widestChild(node) {
    const {end, total} = this.tree;
    let best = -1;
    for (let i = node + 1; i < end[node]; i = end[i]) {
      if (Number(total[i]) > 0 && (best < 0 || total[i] > total[best])) best = i;
    }
    return best;
  }

  key(event) {
    const inwards = this.up ? 'ArrowUp' : 'ArrowDown', outwards = this.up ? 'ArrowDown' : 'ArrowUp';
    const {key} = event;
    let to = -1;
    if (key === inwards) to = this.widestChild(this.focused);
    else if (key === outwards) to = this.focused > 0 ? this.tree.parent[this.focused] : -1;
    else if (key === 'ArrowRight') to = this.beside(this.focused, 1);
    else if (key === 'ArrowLeft') to = this.beside(this.focused, -1);
    else if (key === 'Home') to = 0;
    else if (key === 'Enter' || key === ' ') this.zoom(this.focused);
    else if (key === 'Escape') this.zoom(0);
    else if (key === 's') this.onPick(this, this.focused);
    else return;
    event.preventDefault();
    if (to >= 0) this.focus(to);
  }

  focus(node) {
    this.focused = node;
    const top = this.topOf(this.tree.depth[node]), {scroller} = this;
    if (top < scroller.scrollTop) scroller.scrollTop = top - ROW;
    if (top + ROW > scroller.scrollTop + scroller.clientHeight) scroller.scrollTop = top + 2 * ROW - scroller.clientHeight;
    this.paint();
    this.onHover(this, node, null);
  }
}

// As much of a text as fits into a box; letters of some scripts are two wide.
function fitted(text, pixels, letter) {
  const room = Math.floor((pixels - 2 * PAD + 2) / letter);
  if (room < 3) return '';
  if (text.length <= room && !/[^\x20-\u2e7f]/.test(text)) return text;
  let used = 0, kept = '';
  for (const c of text.slice(0, room + 1)) {
    used += c > '\u2e7f' ? 2 : 1;
    if (used > room - 2) return kept.length < text.length ? kept + '..' : kept;
    kept += c;
  }
  return kept.length < text.length ? kept + '..' : kept;
}
