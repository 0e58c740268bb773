// Annotated source and assembly of the hottest functions.
// A listing: {function, name, module, about, samples, files, lines: {file: {line: text}}, rows}; a row:
// [address, text, samples, hits, executed, file, line, kind].
const listings = new Map(head.listings.map((listing) => [listing.function, listing]));
let listed = null;
let asSource = false;

function makeListings() {
  const host = byId('code');
  if (listings.size === 0) {
    host.append(absence(head.absent.listings));
    return;
  }
  const choice = make('select', {'aria-label': 'Function', id: 'listing', onchange: (event) => showListing(Number(event.target.value))},
    ...head.listings.map((listing) => make('option', {value: listing.function}, `${listing.name}  ${baseOf(listing.module)}`)));
  const how = make('select', {'aria-label': 'Show', id: 'listing-how', onchange: (event) => {
    asSource = event.target.value === 'source';
    showListing(listed);
  }}, make('option', {value: 'assembly'}, 'Assembly with source lines'), make('option', {value: 'source'}, 'Source'));
  host.append(make('div', {class: 'tools'}, choice, how, make('span', {class: 'quiet'}, head.kinds.listings)),
    make('p', {id: 'listing-about', class: 'quiet'}),
    make('div', {class: 'table', tabindex: '0', role: 'region', 'aria-label': 'Code'}, make('table', {class: 'code'}, make('tbody', {id: 'listing-rows'}))));
  showListing(head.listings[0].function);
}

const sourceLine = (listing, file, line) => listing.lines[file]?.[line] ?? '';

function codeRow(listing, {samples: count, hits, executed, place, text, className}) {
  const share = count > 0 && listing.samples > 0 ? count / listing.samples : 0;
  const heat = make('td', {class: 'number heat'}, count > 0 ? grouped(count) : '');
  if (share > 0) heat.style.setProperty('--heat', (100 * Math.min(1, 0.08 + share * 0.8)).toFixed(1) + '%');
  return make('tr', {class: className}, heat,
    make('td', {class: 'number'}, hits !== null ? grouped(hits) : executed ? '\u00b7' : ''),
    make('td', {class: 'number quiet'}, place), make('td', {class: 'text'}, text));
}

const headRow = (...titles) => make('tr', {}, ...titles.map((title, i) =>
  make('th', {scope: 'col', class: i < 3 ? 'number' : ''}, title)));

function assemblyRows(listing) {
  const rows = [headRow('Samples', 'Hits', 'Address', 'Instruction')];
  let last = '';
  for (const [address, text, count, hits, executed, file, line, kind] of listing.rows) {
    const where = file < 0 ? '' : `${listing.files[file]}:${line}`;
    if (where && where !== last) {
      rows.push(codeRow(listing, {samples: 0, hits: null, place: '', className: 'source',
        text: `${baseOf(where)}  ${sourceLine(listing, file, line).trim()}`}));
    }
    last = where || last;
    const note = kind ? `  (${kind})` : '';
    rows.push(codeRow(listing, {samples: countOf(count), hits: hits === null ? null : countOf(hits), executed, place: address, text: text + note}));
  }
  return rows;
}

// Sums by line; a line's hits are those of its most executed block.
function sourceRows(listing) {
  const sums = new Map();
  let without = 0;
  for (const [, , count, hits, executed, file, line] of listing.rows) {
    if (file < 0) {
      without = sum(without, countOf(count));
      continue;
    }
    const key = `${file}:${line}`;
    const at = sums.get(key) ?? {samples: 0, hits: null, executed: false};
    at.samples = sum(at.samples, countOf(count));
    if (hits !== null && (at.hits === null || countOf(hits) > at.hits)) at.hits = countOf(hits);
    at.executed ||= executed;
    sums.set(key, at);
  }
  const rows = [headRow('Samples', 'Hits', 'Line', 'Source')];
  listing.files.forEach((name, file) => {
    const text = listing.lines[file];
    const known = [...sums.keys()].filter((key) => key.startsWith(file + ':')).map((key) => Number(key.split(':')[1]));
    if (known.length === 0) return;
    rows.push(make('tr', {class: 'source'}, make('td', {colspan: '4'}, name + (text ? '' : ': cannot be read here; the lines with numbers:'))));
    const lines = [...new Set([...known, ...Object.keys(text ?? {}).map(Number)])].sort((a, b) => a - b);
    let last = lines[0];
    for (const line of lines) {
      if (line > last + 1) rows.push(make('tr', {class: 'source'}, make('td', {colspan: '4'}, '\u22ee')));
      last = line;
      const at = sums.get(`${file}:${line}`) ?? {samples: 0, hits: null, executed: false};
      rows.push(codeRow(listing, {...at, place: String(line), text: sourceLine(listing, file, line)}));
    }
  });
  if (Number(without) > 0) {
    rows.push(make('tr', {class: 'source'}, make('td', {colspan: '4'}, `${samplesText(without)} in instructions without a source line`)));
  }
  return rows;
}

function showListing(func) {
  const listing = listings.get(func);
  listed = func;
  byId('listing').value = String(func);
  byId('listing-about').textContent = `${listing.name}  ${listing.module}  ${listing.about}`;
  const rows = byId('listing-rows');
  rows.replaceChildren(...(asSource && listing.files.length > 0 ? sourceRows(listing) : assemblyRows(listing)));
  if (asSource && listing.files.length === 0) byId('listing-about').textContent += '; no debug information, so no source';
}

function openListing(func) {
  openTab('code');
  showListing(func);
  const rows = [...byId('listing-rows').children];
  const heats = rows.map((row) => parseFloat(row.firstChild.style?.getPropertyValue('--heat')) || 0);
  rows[heats.indexOf(Math.max(...heats))]?.scrollIntoView({block: 'center'});
}
