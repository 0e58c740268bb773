// The page of report --html in a real browser. RENDER_REPORT names the render_report program,
// CHROMIUM the browser.
import assert from 'node:assert/strict';
import {spawnSync} from 'node:child_process';
import {closeSync, mkdtempSync, openSync, readFileSync, rmSync, statSync} from 'node:fs';
import {tmpdir} from 'node:os';
import path from 'node:path';
import {after, afterEach, before, beforeEach, test} from 'node:test';
import {fileURLToPath, pathToFileURL} from 'node:url';
import {launch} from './browser.mjs';

const here = path.dirname(fileURLToPath(import.meta.url));

let directory, browser, page, errors, requests;

function draw(words, input = '') {
  const file = path.join(directory, 'report.html'), out = openSync(file, 'w');
  const made = spawnSync(process.env.RENDER_REPORT, words, {input, stdio: ['pipe', out, 'inherit']});
  closeSync(out);
  assert.equal(made.status, 0);
  return file;
}
const fixture = (name) => readFileSync(path.join(here, 'fixtures', name));

async function show(file, tab = '') {
  await page.goto(pathToFileURL(file).href + tab);
  await page.waitForFunction(() => document.documentElement.dataset.ready === 'true');
}
const open = (name, tab = '', title = 'example --fast') => show(draw([title], fixture(name)), tab);

// The cells of a column of a table, as they are shown.
const column = (table, at) => page.$$eval(`#${table} tbody tr`, (rows, n) => rows.map((row) => row.cells[n].textContent), at);
const FUNCTION = 6;
const details = (tab = 'flame') => page.locator(`#${tab} .details`).textContent();
// Where a row of boxes is on the canvas of the flame graph: the root is 0.
async function rowAt(row, share) {
  const area = await page.locator('#flame canvas').boundingBox();
  return {x: area.width * share, y: area.height - 3 - row * 19 - 9};
}

before(async () => {
  directory = mkdtempSync(path.join(tmpdir(), 'report-'));
  browser = await launch('--disable-gpu');
});
after(async () => {
  await browser?.close();
  rmSync(directory, {recursive: true, force: true});
});
beforeEach(async () => {
  page = await browser.newPage({viewport: {width: 1224, height: 700}});
  errors = [];
  requests = [];
  page.on('pageerror', (error) => errors.push(String(error)));
  page.on('console', (message) => message.type() === 'error' && errors.push(message.text()));
  page.on('request', (request) => requests.push(request.url()));
});
afterEach(async () => {
  assert.deepEqual(errors, []);
  assert.equal(requests.length, 1, `the page asks for more: ${requests}`);
  await page.close();
});

test('the head says what the numbers are', async () => {
  await open('program.folded');
  assert.equal(await page.locator('#command').textContent(), 'example --fast');
  assert.equal(await page.locator('#summary').textContent(), 'sampled, on-CPU, 1,000 samples; counted: mixed; 1.000 s');
  await page.locator('#about summary').click();
  assert.match(await page.locator('#facts').textContent(), /Samples1,000 of example --fast sampled/);
  assert.equal(await page.locator('#notes li').count(), 1);
});

test('a click zooms, hovering tells of a box, and reset shows all', async () => {
  await open('program.folded');
  const canvas = page.locator('#flame canvas');
  await canvas.hover({position: await rowAt(3, 0.5)});
  assert.match(await page.locator('#tip').textContent(), /^run73\.50 % {2}735 samples, self 0/);
  await canvas.click({position: await rowAt(4, 0.5)});
  assert.match(await details(), /^67\.50 % {2}675 samples, self 200 +step/);
  await canvas.hover({position: await rowAt(4, 0.99)});
  assert.match(await page.locator('#tip').textContent(), /^step/);
  await page.locator('#flame .tools button').click();
  assert.match(await details(), /^100\.00 % {2}1,000 samples, self 0 +all/);
});

test('search shows the share of the samples, of several in a stack once', async () => {
  await open('program.folded');
  await page.locator('#flame input').fill('^sort$|compare');
  assert.equal(await page.locator('#flame output').textContent(), 'Matched: 17.30 % (173 samples)');
  await page.locator('#flame canvas').click({position: await rowAt(4, 0.5)});
  assert.equal(await page.locator('#flame output').textContent(), 'Matched: 22.22 % of the zoomed part (150 samples)');
  await page.locator('#flame input').fill('operator()(');
  assert.match(await page.locator('#flame input').getAttribute('class'), /wrong/);
});

test('the keyboard moves, zooms and opens the sandwich', async () => {
  await open('program.folded');
  await page.locator('#flame canvas').focus();
  for (const key of ['ArrowUp', 'ArrowUp', 'ArrowUp']) await page.keyboard.press(key);
  assert.match(await details(), /735 samples.* run /);
  await page.keyboard.press('ArrowLeft');
  assert.match(await details(), /200 samples.* parse /);
  await page.keyboard.press('Enter');
  await page.keyboard.press('s');
  assert.equal(await page.locator('#tab-sandwich').getAttribute('aria-selected'), 'true');
  assert.equal(await page.locator('#sandwich-name').inputValue(), 'parse');
});

test('the sandwich has the callers and callees of all calls of a function', async () => {
  await open('program.folded', '#functions');
  await page.locator('#functions button.link', {hasText: /^compare_rows$/}).click();
  assert.match(await details('sandwich'), /^13\.30 % {2}133 samples, self 133/);
  const callers = page.locator('#sandwich canvas').first();
  await callers.focus();
  await page.keyboard.press('ArrowUp');
  assert.match(await details('sandwich'), /110 samples, .* sort /);
  await page.keyboard.press('ArrowLeft');
  assert.match(await details('sandwich'), /23 samples, .* example\+0x14c0 /);
});

test('a function that calls itself counts once in its sandwich', async () => {
  await open('program.folded', '#functions');
  await page.locator('#functions button.link', {hasText: /^sort$/}).click();
  assert.match(await details('sandwich'), /^15\.00 % {2}150 samples, self 40/);
});

test('tables sort by a click and filter by a text', async () => {
  await open('program.folded', '#functions');
  const all = await column('functions', FUNCTION);
  assert.equal(all[0], 'step');
  await page.locator('#functions th button', {hasText: /^Total$/}).click();
  const totals = (await column('functions', 3)).map(Number);
  assert.deepEqual(totals, totals.toSorted((a, b) => b - a));
  await page.locator('#functions th button', {hasText: /^Total$/}).click();
  assert.deepEqual((await column('functions', 3)).map(Number), totals.toReversed());
  await page.locator('#functions th button', {hasText: /^Function$/}).click();
  assert.equal(await page.locator('#functions th', {hasText: 'Function'}).getAttribute('aria-sort'), 'ascending');
  await page.locator('#functions input').fill('^libexample|/libexample');
  assert.deepEqual((await column('functions', FUNCTION)).toSorted(), ['clone3', 'memcmp', 'pread64']);
  assert.match(await page.locator('#functions output').textContent(), /^3 of \d+ rows$/);
});

test('the sums are those of the stacks', async () => {
  await open('program.folded', '#functions');
  const names = await column('functions', FUNCTION), self = (await column('functions', 1)).map(Number);
  const wanted = new Map();
  for (const line of fixture('program.folded').toString().trim().split('\n')) {
    const [, stack, count] = line.match(/^(.*) (\d+)$/);
    const leaf = stack.slice(stack.lastIndexOf(';') + 1).replace(/_\[l\]$/, '');
    wanted.set(leaf, (wanted.get(leaf) ?? 0) + Number(count));
  }
  names.forEach((name, i) => assert.equal(self[i], wanted.get(name.replace(/ code$/, '')) ?? 0, name));
});

test('counts beyond 2^53 are exact and have their kinds', async () => {
  await open('program.folded', '#blocks');
  assert.deepEqual(await column('blocks', 0), ['9,007,199,254,740,993', '5']);
  assert.deepEqual(await column('blocks', 1), ['exact-until:0.500', 'exact']);
  await page.locator('#tab-edges').click();
  assert.deepEqual(await column('edges', 0), ['9,007,199,254,740,993', '5']);
  assert.deepEqual(await column('edges', 2), ['taken', 'entry']);
  await page.locator('#tab-code').click();
  assert.match(await page.locator('#listing-rows').textContent(), /9,007,199,254,740,993/);
});

test('samples beyond 2^53 are exact', async () => {
  const many = (1n << 60n) + 1n;
  await show(draw(['many'], `main;a ${many}\nmain;b 2\n`), '#functions');
  await page.locator('#functions th button', {hasText: /^Total$/}).click();
  assert.deepEqual(await column('functions', 3), [(many + 2n).toLocaleString('en'), many.toLocaleString('en'), '2']);
  await page.locator('#tab-flame').click();
  await page.locator('#flame canvas').focus();
  await page.keyboard.press('ArrowUp');
  assert.match(await details(), new RegExp((many + 2n).toLocaleString('en') + ' samples'));
});

test('a range of the time line narrows all views', async () => {
  await open('program.folded', '#threads');
  assert.equal(await page.locator('.lane canvas').count(), 2);
  await page.locator('#threads input[type=number]').nth(0).fill('0');
  await page.locator('#threads input[type=number]').nth(1).fill('0.0995');
  await page.keyboard.press('Enter');
  assert.match(await page.locator('#range-text').textContent(), /: 100 samples$/);
  await page.locator('#threads input[type=checkbox]').first().uncheck();
  assert.match(await page.locator('#range-text').textContent(), /1 of 2 threads: 50 samples$/);
  await page.locator('#tab-functions').click();
  const self = (await column('functions', 1)).reduce((sum, text) => sum + Number(text), 0);
  assert.equal(self, 50);
  await page.locator('#range-all').click();
  assert.equal(await page.locator('#range').isVisible(), false);
  assert.equal((await column('functions', 1)).reduce((sum, text) => sum + Number(text), 0), 1000);
});

test('a drag over a thread selects a range', async () => {
  await open('program.folded', '#threads');
  const lane = await page.locator('.lane canvas').first().boundingBox();
  await page.mouse.move(lane.x + lane.width * 0.25, lane.y + 10);
  await page.mouse.down();
  await page.mouse.move(lane.x + lane.width * 0.75, lane.y + 10, {steps: 4});
  await page.mouse.up();
  const [, count] = (await page.locator('#range-text').textContent()).match(/: ([\d,]+) samples/);
  assert.ok(Math.abs(Number(count.replace(',', '')) - 500) < 10, count);
});

test('code has its samples, hits and source', async () => {
  await open('program.folded', '#code');
  assert.match(await page.locator('#listing-rows').textContent(), /while \(x < y\) sum \+= x\[i\]; \/\/ <\/script>/);
  await page.locator('#listing-how').selectOption('source');
  const lines = await page.$$eval('#listing-rows tr', (rows) => rows.map((row) => [...row.cells].map((cell) => cell.textContent)));
  assert.deepEqual(lines.find((cells) => cells[2] === '9').slice(0, 3), ['5', '9,007,199,254,740,993', '9']);
});

test('tabs are reachable by keyboard and named', async () => {
  await open('program.folded');
  await page.locator('#tab-flame').focus();
  await page.keyboard.press('ArrowRight');
  assert.equal(await page.evaluate(() => document.activeElement.id), 'tab-icicle');
  assert.equal(await page.locator('#icicle').isVisible(), true);
  assert.equal(await page.locator('#flame').isVisible(), false);
  assert.equal(await page.locator('#icicle').getAttribute('role'), 'tabpanel');
});

test('names from a target never run or become markup', async () => {
  const hostile = Buffer.concat([fixture('hostile.folded'), Buffer.from('main;nul\0byte 3\nmain;'), Buffer.from([0xff, 0xc3, 0x28]),
    Buffer.from(' 2\nmain;' + 'T<'.repeat(50 * 1024) + ' 7\nmain;<!--<script> 2\nmain;__proto__;constructor 1\n')]);
  await show(draw(['</title><script>window.pwned=1</script>'], hostile), '#functions');
  const names = await column('functions', FUNCTION);
  assert.ok(names.includes('</script><script>window.pwned=1</script>'));
  assert.ok(names.includes('nul\0byte'));
  assert.ok(names.includes('\ufffd\ufffd('));
  assert.ok(names.some((name) => name.startsWith('T<T<T<') && name.length < 2100));
  assert.ok(names.includes('<!--<script>'));
  assert.ok(names.includes('größe 日本語'));
  for (const tab of ['flame', 'icicle', 'sandwich', 'blocks', 'edges', 'threads', 'code', 'functions']) {
    await page.locator('#tab-' + tab).click();
  }
  for (let i = 0; i < names.length; i++) {
    await page.locator('#functions button.link').nth(i).click();
    await page.locator('#tab-functions').click();
  }
  await page.locator('#functions input').fill('<img src=x onerror=window.pwned=1>');
  assert.equal(await page.evaluate(() => window.pwned), undefined);
  assert.equal(await page.locator('img, a, iframe').count(), 0);
});

test('a run without stacks says so and shows its tables', async () => {
  await show(draw(['none'], ''));
  assert.equal(await page.locator('#tab-functions').getAttribute('aria-selected'), 'true');
  await page.locator('#tab-flame').click();
  assert.match(await page.locator('#flame').textContent(), /no stacks here/);
  for (const tab of ['blocks', 'edges', 'threads', 'code']) {
    await page.locator('#tab-' + tab).click();
    assert.match(await page.locator('#' + tab).textContent(), /absent/);
  }
});

test('the dark scheme is honoured', async () => {
  await page.emulateMedia({colorScheme: 'dark'});
  await open('program.folded');
  assert.equal(await page.evaluate(() => getComputedStyle(document.body).backgroundColor), 'rgb(23, 24, 28)');
});

test('a million stacks stay usable', {timeout: 120_000}, async (context) => {
  const file = draw(['million', '1000000']);
  const begin = Date.now();
  await show(file);
  const loaded = Date.now();
  await page.locator('#flame input').fill('function_12');
  assert.match(await page.locator('#flame output').textContent(), /^Matched: \d+\.\d\d % /);
  await page.locator('#flame canvas').click({position: await rowAt(2, 0.5)});
  assert.match(await details(), /10\.00 %/);
  await page.locator('#tab-threads').click();
  await page.locator('#threads input[type=number]').nth(0).fill('0');
  await page.locator('#threads input[type=number]').nth(1).fill('99.9995');
  await page.keyboard.press('Enter');
  assert.match(await page.locator('#range-text').textContent(), /: 100,000 samples/);
  await page.locator('#range-all').click();
  await page.locator('#tab-functions').click();
  await page.locator('#functions input').fill('^main$');
  await page.locator('#functions button.link').click();
  assert.match(await details('sandwich'), /^100\.00 % {2}1,999,999 samples, self 0 +main /);
  const heap = await page.evaluate(() => performance.memory.usedJSHeapSize);
  context.diagnostic(`${statSync(file).size} bytes, loaded in ${loaded - begin} ms, used in ${Date.now() - loaded} ms, heap ${heap}`);
  assert.ok(loaded - begin < 30_000, `loading took ${loaded - begin} ms`);
  assert.ok(heap < 1e9, `${heap} bytes`);
});
