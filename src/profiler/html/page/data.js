// What the writer has put into the page, decoded. Counts are numbers, beyond 2^53 BigInts.
const byId = (id) => document.getElementById(id);
const head = JSON.parse(byId('data-head').textContent);
const functions = head.functions;  // [name, module, source, colour, self, total, calls, kind, has a row]
const SAFE = Number.MAX_SAFE_INTEGER;

const countOf = (value) => typeof value === 'string' ? BigInt(value) : value;
const small = (value) => typeof value === 'bigint' && value <= SAFE ? Number(value) : value;
function sum(a, b) {
  const quick = typeof a === 'number' && typeof b === 'number' ? a + b : NaN;
  return quick <= SAFE ? quick : small(BigInt(a) + BigInt(b));
}
const grouped = (value) => value.toLocaleString('en');
const samplesText = (value) => grouped(value) + (Number(value) === 1 ? ' sample' : ' samples');
const percent = (part, whole) => Number(whole) > 0 ? (100 * Number(part) / Number(whole)).toFixed(2) + ' %' : '-';

const nameOf = (f) => functions[f][0];
const moduleOf = (f) => head.modules[functions[f][1]];
const sourceOf = (f) => functions[f][2];
const baseOf = (path) => path.slice(path.lastIndexOf('/') + 1);

// Numbers of seven bits a byte, in base64.
class Bytes {
  constructor(id) {
    const text = (byId(id)?.textContent ?? '').trim();
    const padding = text.endsWith('==') ? 2 : text.endsWith('=') ? 1 : 0;
    this.bytes = new Uint8Array(text.length / 4 * 3 - padding);
    this.at = 0;
    const piece = 1 << 18;
    for (let from = 0, to = 0; from < text.length; from += piece) {
      const part = atob(text.slice(from, from + piece));
      for (let i = 0; i < part.length; i++) this.bytes[to++] = part.charCodeAt(i);
    }
  }

  get hasMore() {
    return this.at < this.bytes.length;
  }

  next() {
    let value = 0, scale = 1;
    const begin = this.at;
    for (;;) {
      const byte = this.bytes[this.at++];
      value += (byte & 127) * scale;
      if (!(byte & 128)) break;
      scale *= 128;
    }
    return this.at - begin > 7 ? this.long(begin) : value;
  }

  long(begin) {
    let value = 0n;
    for (let i = this.at - 1; i >= begin; i--) value = value << 7n | BigInt(this.bytes[i] & 127);
    return small(value);
  }
}

// An element with a text or children; attributes that begin with "on" are listeners.
function make(tag, attributes = {}, ...content) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith('on')) element.addEventListener(name.slice(2), value);
    else if (value === true) element.setAttribute(name, '');
    else if (value !== false && value !== undefined) element.setAttribute(name, value);
  }
  element.append(...content);
  return element;
}

// A matcher of names: a regular expression, or a text if it is none. Case counts if it has capitals.
function matcherOf(text) {
  if (!text) return null;
  const flags = text === text.toLowerCase() ? 'iu' : 'u';
  try {
    const pattern = new RegExp(text, flags);
    return {test: (name) => pattern.test(name), isText: false};
  } catch {
    const lower = flags === 'iu';
    return {test: (name) => (lower ? name.toLowerCase() : name).includes(text), isText: true};
  }
}
