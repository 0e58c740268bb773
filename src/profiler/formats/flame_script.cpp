#include "profiler/formats/flame_page.h"

// Longer than other files because it is one script, which a browser runs as a whole.
namespace sp::profiler {

std::string_view flame_script() {
  return R"js('use strict';
(() => {
  const svg = document.currentScript.ownerSVGElement;
  const byId = (id) => svg.getElementById(id);
  const data = JSON.parse(byId('data').textContent);
  const frames = byId('frames');
  const boxes = Array.from(frames.querySelectorAll('g'));
  const count = boxes.length;
  const field = (offset) => Float64Array.from({length: count}, (_, i) => data.boxes[i * 5 + offset]);
  const func = field(0), depth = field(1), start = field(2), samples = field(3), self = field(4);
  const name = (i) => data.functions[func[i]][0];
  const place = (i) => data.modules[data.functions[func[i]][1]];
  const SVG = 'http://www.w3.org/2000/svg', HTML = 'http://www.w3.org/1999/xhtml';
  const MARGIN = data.margin, PAD = 4;

  // A box comes after its caller, so the caller is the last box one level down.
  const caller = new Int32Array(count).fill(-1), levels = [];
  for (let i = 0; i < count; i++) {
    if (depth[i] > 0) caller[i] = levels[depth[i] - 1].at(-1);
    (levels[depth[i]] ??= []).push(i);
  }
  const index = new Map(boxes.map((box, i) => [box, i]));
  const boxAt = (target) => index.get(target.closest?.('#frames g')) ?? -1;

  let zoomed = 0, focused = 0, pattern = null, matches = new Set(), letter = 7.22, width = 0;

  const wide = (c) => c > '\u2e7f' ? 2 : 1;
  function fitted(text, pixels) {
    const room = Math.floor((pixels - 2 * PAD + 2) / letter);
    if (room < 3) return '';
    if (text.length <= room && !/[^\x20-\u2e7f]/.test(text)) return text;
    let used = 0, kept = '';
    const letters = Array.from(text);
    for (const c of letters) used += wide(c);
    if (used <= room) return text;
    used = 2;
    for (const c of letters) {
      used += wide(c);
      if (used > room) break;
      kept += c;
    }
    return kept + '..';
  }

  function drawBox(i, from, share) {
    const box = boxes[i], pixels = share * width;
    if (pixels < 0.1) {
      box.classList.add('off');
      return;
    }
    box.classList.remove('off');
    const rect = box.querySelector('rect'), x = (from * 100).toFixed(4) + '%';
    rect.setAttribute('x', x);
    rect.setAttribute('width', (Math.max(share - Math.min(0.6, pixels / 4) / width, 0) * 100).toFixed(4) + '%');
    const label = fitted(name(i), pixels);
    let text = box.querySelector('text');
    if (!text) {
      if (!label) return;
      text = document.createElementNS(SVG, 'text');
      text.setAttribute('dx', PAD);
      text.setAttribute('y', rect.y.baseVal.value + 13);
      box.append(text);
    }
    text.setAttribute('x', x);
    text.textContent = label;
  }

  function draw() {
    width = Math.max(svg.clientWidth - 2 * MARGIN, 100);
    frames.setAttribute('width', width);
    const first = start[zoomed], span = samples[zoomed], last = first + span;
    for (let i = 0; i < count; i++) {
      const end = start[i] + samples[i], under = depth[i] < depth[zoomed];
      const shown = under ? start[i] <= first && end >= last : start[i] >= first && end <= last;
      boxes[i].classList.toggle('below', under);
      if (!shown) boxes[i].classList.add('off');
      else if (under) drawBox(i, 0, 1);
      else drawBox(i, (start[i] - first) / span, samples[i] / span);
    }
    byId('reset').classList.toggle('off', zoomed === 0);
    drawHeading();
    mark();
  }

  function drawHeading() {
    const right = width + MARGIN;
    byId('search-place').setAttribute('x', right - 240);
    byId('reset').setAttribute('transform', `translate(${right - 240 - 102} 12)`);
    byId('matched').setAttribute('x', right);
    fitLine(byId('title'), width - 360);
    fitLine(byId('subtitle'), width - 250);
  }

  function fitLine(line, room) {
    const full = Array.from(line.dataset.full ??= line.textContent);
    line.textContent = full.join('');
    for (let kept = full.length; kept > 8 && line.getComputedTextLength() > room;) {
      kept = Math.min(Math.floor(kept * 0.95), 2000);
      line.textContent = full.slice(0, kept).join('').trimEnd() + '\u2026';
    }
  }

  // Keeps the heading and the details visible while a tall graph is scrolled.
  function follow() {
    const height = svg.height.baseVal.value, view = window.innerHeight;
    const offset = Math.max(0, Math.min(window.scrollY, height - view));
    byId('top').setAttribute('transform', `translate(0 ${offset})`);
    byId('bottom').setAttribute('transform', `translate(0 ${Math.min(offset + view, height) - data.footer})`);
  }

  function remember() {
    const parts = [];
    if (zoomed) parts.push('zoom=' + zoomed);
    if (pattern) parts.push('search=' + encodeURIComponent(byId('search').value));
    try {
      history.replaceState(null, '', '#' + parts.join('&'));
    } catch { /* a browser may forbid it for files */ }
  }

  function zoom(i) {
    zoomed = i;
    draw();
    remember();
  }

  function describe(i) {
    const line = byId('details');
    line.textContent = '';
    if (i < 0) return;
    const percent = (part) => (100 * part / data.total).toFixed(2) + '%';
    const add = (className, text) => {
      const part = document.createElementNS(SVG, 'tspan');
      part.setAttribute('class', className);
      part.textContent = text;
      line.append(part);
    };
    const of = samples[i].toLocaleString('en') + (samples[i] === 1 ? ' sample' : ' samples');
    add('number', percent(samples[i]));
    const before = data.before ? `, before ${data.before[i].toLocaleString('en')}` : '';
    add('place', ` ${of}, self ${percent(self[i])}${before}  `);
    const used = line.textContent.length, room = Math.floor(width / (letter * 12.5 / 12)) - used;
    const module = place(i) ? '  ' + place(i) : '';
    const label = name(i), most = Math.max(room - Math.min(module.length, 30), 10);
    add('name', label.length > most ? label.slice(0, most - 2) + '..' : label);
    const left = room - Math.min(label.length, most);
    if (left > 6) add('place', module.length > left ? module.slice(0, left - 2) + '..' : module);
  }

  function focus(i) {
    if (i < 0 || boxes[i].classList.contains('off')) return;
    boxes[focused].removeAttribute('tabindex');
    focused = i;
    const box = boxes[i];
    box.setAttribute('tabindex', '0');
    box.setAttribute('role', 'treeitem');
    box.setAttribute('aria-level', depth[i] + 1);
    box.focus({preventScroll: true});
    const at = box.getBoundingClientRect();
    if (at.top < data.header) window.scrollBy(0, at.top - data.header - 20);
    else if (at.bottom > window.innerHeight - data.footer) window.scrollBy(0, at.bottom - window.innerHeight + data.footer + 20);
    describe(i);
  }

  const isShown = (i) => !boxes[i].classList.contains('off');
  function neighbour(i, step) {
    const level = levels[depth[i]];
    for (let at = level.indexOf(i) + step; at >= 0 && at < level.length; at += step) {
      if (isShown(level[at])) return level[at];
    }
    return -1;
  }
  function heaviestCallee(i) {
    let best = -1;
    for (const c of levels[depth[i] + 1] ?? []) {
      if (caller[c] === i && isShown(c) && (best < 0 || samples[c] > samples[best])) best = c;
    }
    return best;
  }

  // A lower-case term ignores case; a term that is not a regular expression is searched literally.
  function search(term) {
    const input = byId('search'), flags = term === term.toLowerCase() ? 'iu' : 'u';
    input.classList.remove('wrong');
    pattern = null;
    if (term) {
      try {
        pattern = new RegExp(term, flags);
      } catch {
        input.classList.add('wrong');
        pattern = new RegExp(term.replace(/[.*+?^${}()|[\]\\\/]/g, '\\$&'), flags);
      }
    }
    const found = data.functions.map(([text]) => pattern !== null && pattern.test(text));
    matches = new Set();
    for (let i = 1; i < count; i++) if (found[func[i]]) matches.add(i);
    mark();
    remember();
  }

  function mark() {
    // Of boxes above each other only the lowest counts: its samples include theirs.
    let sum = 0, until = -1;
    const first = start[zoomed], last = first + samples[zoomed];
    for (let i = 0; i < count; i++) {
      const match = matches.has(i);
      boxes[i].classList.toggle('match', match);
      if (match && start[i] < last && start[i] + samples[i] > first && start[i] >= until) {
        sum += Math.min(start[i] + samples[i], last) - Math.max(start[i], first);
        until = start[i] + samples[i];
      }
    }
    const of = zoomed ? ' of the zoomed part' : '';
    byId('matched').textContent = pattern ? `Matched: ${(100 * sum / samples[zoomed]).toFixed(2)}%${of}` : '';
  }

  function onBoxKey(event) {
    const i = boxAt(event.target);
    if (i < 0) return false;
    const moves = {
      ArrowUp: () => focus(heaviestCallee(i)), ArrowDown: () => focus(caller[i]),
      ArrowLeft: () => focus(neighbour(i, -1)), ArrowRight: () => focus(neighbour(i, 1)),
      Home: () => focus(0), Enter: () => zoom(i), ' ': () => zoom(i),
    };
    if (!moves[event.key]) return false;
    moves[event.key]();
    return true;
  }

  function onKey(event) {
    const input = byId('search'), typing = event.target === input;
    const find = (event.key === 'f' || event.key === 'F') && (event.ctrlKey || event.metaKey);
    if (find || event.key === 'F3' || (event.key === '/' && !typing)) {
      input.focus();
      input.select();
    } else if (event.key === 'Escape' && (typing || pattern)) {
      input.value = '';
      search('');
      input.blur();
    } else if (event.key === 'Escape') {
      zoom(0);
    } else if (typing || event.ctrlKey || event.metaKey || event.altKey || !onBoxKey(event)) {
      return;
    }
    event.preventDefault();
  }

  function addSearch() {
    const input = document.createElementNS(HTML, 'input');
    input.id = 'search';
    input.type = 'search';
    input.placeholder = 'Search (Ctrl-F, regular expression)';
    input.setAttribute('aria-label', 'Search functions by regular expression');
    input.addEventListener('input', () => search(input.value));
    byId('search-place').append(input);
  }

  function listen() {
    frames.addEventListener('click', (event) => {
      const i = boxAt(event.target);
      if (i >= 0) zoom(i);
    });
    frames.addEventListener('pointerover', (event) => describe(boxAt(event.target)));
    frames.addEventListener('pointerleave', () => describe(-1));
    frames.addEventListener('focusin', (event) => describe(boxAt(event.target)));
    const reset = byId('reset');
    reset.addEventListener('click', () => zoom(0));
    reset.addEventListener('keydown', (event) => {
      if (event.key === 'Enter' || event.key === ' ') zoom(0);
    });
    window.addEventListener('keydown', onKey);
    window.addEventListener('scroll', follow);
    window.addEventListener('resize', () => {
      draw();
      follow();
    });
  }

  function restore() {
    const wanted = new URLSearchParams(location.hash.slice(1));
    const at = Number(wanted.get('zoom'));
    zoomed = Number.isInteger(at) && at > 0 && at < count ? at : 0;
    draw();
    byId('search').value = wanted.get('search') ?? '';
    if (byId('search').value) search(byId('search').value);
  }

  svg.removeAttribute('viewBox');
  svg.setAttribute('width', '100%');
  letter = byId('probe').getComputedTextLength() / 50 || letter;
  addSearch();
  if (count > 0) {
    boxes[0].setAttribute('tabindex', '0');
    boxes[0].setAttribute('role', 'treeitem');
    listen();
    restore();
    window.scrollTo(0, svg.height.baseVal.value);
    follow();
  }
})();
)js";
}

}  // namespace sp::profiler
