// The flame graph, the icicle and the sandwich of a function, with their search and details.
const views = [];

function describe(view, node) {
  const {func, total, self} = view.tree;
  const whole = view.tree.total[0];
  const f = func[node];
  const place = f < 0 ? '' : [moduleOf(f), sourceOf(f)].filter(Boolean).join('  ');
  return {
    numbers: `${percent(total[node], tree.total[0])}  ${samplesText(total[node])}, self ${grouped(self[node])}` +
      (whole === tree.total[0] ? '' : `, ${percent(total[node], whole)} of those here`),
    name: view.nameOf(node), place,
  };
}

function showTip(text, event) {
  const tip = byId('tip');
  tip.hidden = !text;
  if (!text) return;
  tip.replaceChildren(...text);
  const {offsetWidth, offsetHeight} = tip;
  tip.style.left = Math.max(4, Math.min(event.clientX + 14, innerWidth - offsetWidth - 8)) + 'px';
  const under = event.clientY + 18;
  tip.style.top = (under + offsetHeight > innerHeight ? event.clientY - offsetHeight - 10 : under) + 'px';
}

class Graph {
  // A panel with a search field, buttons, one or two views and a line of details.
  constructor(host, parts) {
    this.field = make('input', {type: 'search', placeholder: 'Search: text or regular expression',
      'aria-label': 'Search functions', oninput: () => this.search()});
    this.matched = make('output', {class: 'matched'});
    this.reset = make('button', {type: 'button', onclick: () => this.views.forEach((view) => view.zoom(0))}, 'Reset zoom');
    this.tools = make('div', {class: 'tools'}, this.field, this.matched, this.reset);
    this.details = make('p', {class: 'details', role: 'status'}, ' ');
    host.append(this.tools);
    this.views = parts.map((part) => {
      if (part.heading) host.append(make('h2', {}, part.heading));
      const view = new FlameView(host, {...part, onHover: (...at) => this.hover(...at),
        onPick: (at, node) => at.tree.func[node] >= 0 && openSandwich(at.tree.func[node])});
      views.push(view);
      return view;
    });
    host.append(this.details);
  }

  hover(view, node, event) {
    if (node < 0) {
      showTip(null);
      return;
    }
    const {numbers, name, place} = describe(view, node);
    if (event) {
      showTip([make('b', {}, name), make('span', {}, numbers), make('span', {class: 'quiet'}, place)], event);
    } else {
      this.showMatched();
    }
    const f = view.tree.func[node];
    this.details.replaceChildren(make('b', {}, numbers), '  ', name, ' ', make('span', {class: 'quiet'}, place));
    if (!event && f >= 0) {
      this.details.append(' ', make('button', {type: 'button', onclick: () => openSandwich(f)}, 'Callers and callees'));
      if (listings.has(f)) {
        this.details.append(' ', make('button', {type: 'button', onclick: () => openListing(f)}, 'Code'));
      }
    }
  }

  search() {
    const matcher = matcherOf(this.field.value);
    this.field.classList.toggle('wrong', Boolean(matcher?.isText));
    for (const view of this.views) view.search(matcher);
    this.showMatched();
  }

  showMatched() {
    const [view] = this.views;
    const found = view.tree ? view.matched() : null;
    const whole = view.tree?.total[view.zoomed];
    this.matched.textContent = found === null ? ''
      : `Matched: ${percent(found, whole)}${view.zoomed ? ' of the zoomed part' : ''} (${samplesText(found)})`;
  }
}

const absence = (what) => make('p', {class: 'empty'}, what);
const hasStacks = tree.count > 1;
const keysText = 'Click zooms, Shift+click or S shows callers and callees, arrows move, Enter zooms, Escape resets.';

function makeGraph(id, up) {
  const host = byId(id);
  if (!hasStacks) {
    host.append(absence(head.absent.stacks));
    return null;
  }
  return new Graph(host, [{up, label: up ? 'Flame graph: callers below callees' : 'Icicle: callers above callees'}]);
}
const flame = makeGraph('flame', true);
const icicle = makeGraph('icicle', false);

let sandwiched = -1;
let sandwich = null;
function makeSandwich() {
  const host = byId('sandwich');
  if (!hasStacks) {
    host.append(absence(head.absent.stacks));
    return;
  }
  const names = make('datalist', {id: 'function-names'});
  const choose = make('input', {list: 'function-names', 'aria-label': 'Function', placeholder: 'Name of a function',
    id: 'sandwich-name', onchange: (event) => {
      const f = functions.findIndex((one) => one[0] === event.target.value);
      if (f >= 0) openSandwich(f);
    }});
  const hottest = [...functions.keys()].filter((f) => functions[f][8])
    .sort((a, b) => Number(countOf(functions[b][5])) - Number(countOf(functions[a][5]))).slice(0, 1000);
  names.append(...hottest.map((f) => make('option', {value: nameOf(f)})));
  host.append(make('div', {class: 'tools'}, make('label', {for: 'sandwich-name'}, 'Function'), choose, names));
  sandwich = new Graph(host, [{up: true, label: 'Callers of the function', heading: 'Callers'},
    {up: false, label: 'Callees of the function', heading: 'Callees'}]);
  host.classList.add('two');
}
makeSandwich();

function drawSandwich() {
  if (sandwiched < 0 || !sandwich) return;
  byId('sandwich-name').value = nameOf(sandwiched);
  const [callers, callees] = sandwich.views;
  callers.show(callersOf(sandwiched));
  callees.show(calleesOf(sandwiched));
  sandwich.hover(callees, 0, null);
}

function openSandwich(func) {
  sandwiched = func;
  openTab('sandwich');
  drawSandwich();
}
