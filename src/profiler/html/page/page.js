// The head of the page and its tabs.
const tabs = [['flame', 'Flame graph'], ['icicle', 'Icicle'], ['sandwich', 'Sandwich'], ['functions', 'Functions'],
  ['blocks', 'Blocks'], ['edges', 'Edges'], ['threads', 'Threads'], ['code', 'Code']];

function showHead() {
  byId('command').textContent = head.command;
  byId('command').title = head.command;
  byId('summary').textContent = head.summary;
  for (const [label, value, kind] of head.facts) {
    byId('facts').append(make('dt', {}, label), make('dd', {}, value, ...(kind ? [' ', make('span', {class: 'kind'}, kind)] : [])));
  }
  for (const note of head.notes) byId('notes').append(make('li', {}, note));
  const legend = head.families.map(([label, letter]) => {
    const swatch = make('span', {class: 'swatch'});
    swatch.style.background = head.colours.light[letter + '7'];
    return make('span', {}, swatch, label);
  });
  byId('flame').append(make('p', {id: 'keys', class: 'quiet'}, keysText, ...legend));
}

function openTab(id) {
  for (const [name] of tabs) {
    byId(name).hidden = name !== id;
    const tab = byId('tab-' + name);
    tab.setAttribute('aria-selected', String(name === id));
    tab.tabIndex = name === id ? 0 : -1;
  }
  for (const view of views) view.draw();
  timeLine?.draw();
  if (id === 'sandwich' && sandwiched < 0 && hasStacks) {
    const best = rowsOfFunctions().reduce((a, b) => selfOf(b) > selfOf(a) ? b : a);
    sandwiched = best;
    drawSandwich();
  }
  try {
    history.replaceState(null, '', '#' + id);
  } catch { /* a browser may forbid it for files */ }
}

function makeTabs() {
  byId('tabs').append(...tabs.map(([id, title]) => {
    byId(id).setAttribute('role', 'tabpanel');
    return make('button', {type: 'button', role: 'tab', id: 'tab-' + id, 'aria-controls': id, onclick: () => openTab(id)}, title);
  }));
  byId('tabs').addEventListener('keydown', (event) => {
    const step = event.key === 'ArrowRight' ? 1 : event.key === 'ArrowLeft' ? -1 : 0;
    if (!step) return;
    const at = tabs.findIndex(([id]) => 'tab-' + id === document.activeElement.id);
    const [id] = tabs[(at + step + tabs.length) % tabs.length];
    openTab(id);
    byId('tab-' + id).focus();
  });
}

document.addEventListener('keydown', (event) => {
  const field = [...document.querySelectorAll('main section:not([hidden]) input[type=search]')][0];
  if (field && event.key === '/' && !/^(INPUT|SELECT)$/.test(document.activeElement.tagName)) {
    event.preventDefault();
    field.focus();
  }
});

makeListings();
showHead();
makeTabs();
flame?.views[0].show(tree);
icicle?.views[0].show(tree);
openTab(tabs.some(([id]) => '#' + id === location.hash) ? location.hash.slice(1) : hasStacks ? 'flame' : 'functions');
document.documentElement.dataset.ready = 'true';
