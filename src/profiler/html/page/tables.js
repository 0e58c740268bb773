// Tables that sort by a click on a column and filter by a text.
const ROWS_AT_ONCE = 300;

class Table {
  // A column: {title, text(row), value(row), number, cell(row)}; `value` is what it sorts by.
  constructor(host, {label, columns, rows, textsOf, sortBy, note}) {
    Object.assign(this, {columns, all: rows, textsOf, sorted: sortBy, descending: true, most: ROWS_AT_ONCE});
    this.field = make('input', {type: 'search', placeholder: 'Filter: text or regular expression',
      'aria-label': `Filter ${label}`, oninput: () => this.refresh()});
    this.state = make('output', {class: 'matched'});
    this.heads = columns.map((column, i) => make('th', {scope: 'col', class: column.number ? 'number' : ''},
      make('button', {type: 'button', onclick: () => this.sort(i)}, column.title)));
    this.body = make('tbody');
    this.more = make('button', {type: 'button', onclick: () => {
      this.most *= 4;
      this.fill();
    }}, 'Show more rows');
    host.append(make('div', {class: 'tools'}, this.field, this.state), ...(note ? [make('p', {class: 'quiet'}, note)] : []),
      make('div', {class: 'table', tabindex: '0', role: 'region', 'aria-label': label},
        make('table', {}, make('caption', {class: 'unseen'}, label), make('thead', {}, make('tr', {}, ...this.heads)), this.body), this.more));
    this.refresh();
  }

  replace(rows) {
    this.all = rows;
    this.refresh();
  }

  sort(column) {
    this.descending = this.sorted === column ? !this.descending : Boolean(this.columns[column].number);
    this.sorted = column;
    this.refresh();
  }

  refresh() {
    const matcher = matcherOf(this.field.value);
    this.rows = matcher ? this.all.filter((row) => this.textsOf(row).some((text) => matcher.test(text))) : this.all.slice();
    const {value} = this.columns[this.sorted], sign = this.descending ? -1 : 1;
    const keys = new Map(this.rows.map((row) => [row, value(row)]));
    this.rows.sort((a, b) => {
      const left = keys.get(a), right = keys.get(b);
      return left < right ? -sign : left > right ? sign : 0;
    });
    this.heads.forEach((cell, i) => cell.setAttribute('aria-sort',
      i !== this.sorted ? 'none' : this.descending ? 'descending' : 'ascending'));
    this.most = ROWS_AT_ONCE;
    this.fill();
  }

  fill() {
    const shown = this.rows.slice(0, this.most);
    this.body.replaceChildren(...shown.map((row) => make('tr', {}, ...this.columns.map((column) =>
      make('td', {class: column.number ? 'number' : '', title: column.full?.(row)}, column.cell?.(row) ?? column.text(row))))));
    this.state.textContent = `${grouped(this.rows.length)} of ${grouped(this.all.length)} rows` +
      (shown.length < this.rows.length ? `, the first ${grouped(shown.length)} shown` : '');
    this.more.hidden = shown.length >= this.rows.length;
  }
}

const textColumn = (title, text, full) => ({title, text, full, value: text});
const countColumn = (title, value) => ({title, value: (row) => value(row) ?? -1, number: true,
  text: (row) => value(row) === null ? '' : grouped(value(row))});
const shareColumn = (title, value, whole) => ({title, value, number: true, text: (row) => percent(value(row), whole())});

// The numbers of functions: those of functions.tsv, or of what the time line has selected.
let selected = null;  // {self, total, samples}
const wholeSamples = countOf(head.samples);
const selfOf = (f) => selected ? small(selected.self[f]) : countOf(functions[f][4]);
const totalOf = (f) => selected ? small(selected.total[f]) : countOf(functions[f][5]);
const samplesNow = () => selected ? selected.samples : wholeSamples;
const rowsOfFunctions = () => [...functions.keys()].filter((f) => functions[f][8] || (selected && Number(totalOf(f)) > 0));

function nameCell(f) {
  const cell = document.createDocumentFragment();
  cell.append(hasStacks && Number(countOf(functions[f][5])) > 0
    ? make('button', {type: 'button', class: 'link', title: 'Callers and callees', onclick: () => openSandwich(f)}, nameOf(f)) : nameOf(f));
  if (listings.has(f)) cell.append(' ', make('button', {type: 'button', class: 'small', onclick: () => openListing(f)}, 'code'));
  return cell;
}

const functionTable = new Table(byId('functions'), {
  label: 'functions',
  rows: rowsOfFunctions(),
  sortBy: Number(wholeSamples) > 0 ? 1 : 4,
  textsOf: (f) => [nameOf(f), moduleOf(f), sourceOf(f)],
  note: head.kinds.functions,
  columns: [
    shareColumn('Self %', selfOf, samplesNow), countColumn('Self', selfOf),
    shareColumn('Total %', totalOf, samplesNow), countColumn('Total', totalOf),
    countColumn('Calls', (f) => functions[f][6] === null ? null : countOf(functions[f][6])),
    textColumn('Calls are', (f) => functions[f][7]),
    {...textColumn('Function', nameOf, nameOf), cell: nameCell},
    {...textColumn('Module', (f) => baseOf(moduleOf(f)), moduleOf)},
    {...textColumn('Source', (f) => baseOf(sourceOf(f)), sourceOf)},
  ],
});

// Blocks and edges, the most executed first.
const hex = (value) => '0x' + value.toString(16);
const placeText = (at) => at < 0 ? '' : head.code.functions[at][0];
const placed = (func, offset) => func < 0 ? hex(offset)
  : `${placeText(func)}+${hex(sub(offset, countOf(head.code.functions[func][2])))}`;
const sub = (a, b) => small(BigInt(a) - BigInt(b));

function readBlocks() {
  const bytes = new Bytes('data-blocks'), rows = [];
  while (bytes.hasMore) {
    const row = {func: bytes.next(), offset: bytes.next(), size: bytes.next(), instructions: bytes.next(),
      hits: bytes.next(), kind: bytes.next(), file: bytes.next(), line: bytes.next()};
    row.name = placed(row.func, row.offset);
    row.module = head.code.modules[head.code.functions[row.func][1]];
    row.source = row.file === 0 ? '' : `${head.code.files[row.file]}:${row.line}`;
    rows.push(row);
  }
  return rows;
}

function readEdges() {
  const bytes = new Bytes('data-edges'), rows = [];
  while (bytes.hasMore) {
    const row = {fromFunc: bytes.next() - 1, from: bytes.next(), toFunc: bytes.next() - 1, to: bytes.next(),
      hits: bytes.next(), flow: bytes.next(), kind: bytes.next(), module: bytes.next(), toModule: bytes.next()};
    row.fromName = head.code.flows[row.flow] === 'entry' ? '' : placed(row.fromFunc, row.from);
    row.toName = (row.module === row.toModule ? '' : baseOf(head.code.modules[row.toModule]) + ' ') + placed(row.toFunc, row.to);
    rows.push(row);
  }
  return rows;
}

function showCounts(id, rows, columns, textsOf) {
  if (!head.code) byId(id).append(absence(head.absent.code));
  else new Table(byId(id), {label: id, rows, textsOf, sortBy: 0, note: head.kinds[id], columns});
}
const kindColumn = textColumn('Hits are', (row) => head.code.kinds[row.kind] ?? '');
showCounts('blocks', head.code ? readBlocks() : [], [
  countColumn('Hits', (row) => row.hits), kindColumn,
  textColumn('Block', (row) => row.name, (row) => row.name),
  {...countColumn('Offset', (row) => row.offset), text: (row) => hex(row.offset)},
  countColumn('Bytes', (row) => row.size), countColumn('Instructions', (row) => row.instructions),
  textColumn('Module', (row) => baseOf(row.module), (row) => row.module),
  textColumn('Source', (row) => baseOf(row.source), (row) => row.source),
], (row) => [row.name, row.module, row.source]);
showCounts('edges', head.code ? readEdges() : [], [
  countColumn('Hits', (row) => row.hits), kindColumn,
  textColumn('Flow', (row) => head.code.flows[row.flow]),
  textColumn('From', (row) => row.fromName, (row) => row.fromName),
  textColumn('To', (row) => row.toName, (row) => row.toName),
  textColumn('Module', (row) => baseOf(head.code.modules[row.module]), (row) => head.code.modules[row.module]),
], (row) => [row.fromName, row.toName, head.code.flows[row.flow]]);
