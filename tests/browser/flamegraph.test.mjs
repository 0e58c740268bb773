// The flame graph in a real browser. RENDER names the render_flamegraph program, CHROMIUM the browser.
import assert from 'node:assert/strict';
import {execFileSync} from 'node:child_process';
import {mkdtempSync, readFileSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import path from 'node:path';
import {after, afterEach, before, beforeEach, test} from 'node:test';
import {fileURLToPath, pathToFileURL} from 'node:url';
import {launch} from './browser.mjs';

const here = path.dirname(fileURLToPath(import.meta.url));
const TOTAL = 1000;  // samples of program.folded

let directory, browser, page, errors, requests;

function draw(fixture, title = 'example --fast', subtitle = 'sampled (1,000 samples, on-CPU)') {
  const folded = readFileSync(path.join(here, 'fixtures', fixture));
  const options = {input: folded, maxBuffer: 1 << 28};
  const file = path.join(directory, fixture + '.svg');
  writeFileSync(file, execFileSync(process.env.RENDER, [title, subtitle], options));
  return pathToFileURL(file).href;
}

async function open(fixture, hash = '', ...heading) {
  await page.goto(draw(fixture, ...heading) + hash);
}

// The first box of a function.
async function boxOf(name) {
  const names = await page.$$eval('#frames > g > title', (all) => all.map((t) => t.textContent));
  const at = names.findIndex((text) => text.startsWith(name + ' ('));
  assert.notEqual(at, -1, `no box of ${name}`);
  return page.locator('#frames > g').nth(at);
}
const rectOf = async (name) => (await boxOf(name)).locator('rect').boundingBox();
const labelOf = async (name) => (await boxOf(name)).locator('text').textContent();
const isShown = async (name) => (await boxOf(name)).isVisible();
const details = () => page.locator('#details').textContent();
const near = (a, b) => assert.ok(Math.abs(a - b) < 2.5, `${a} is not about ${b}`);

before(async () => {
  directory = mkdtempSync(path.join(tmpdir(), 'flamegraph-'));
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
  assert.deepEqual(requests.filter((url) => !url.startsWith('file://' + directory)), []);
  await page.close();
});

test('widths are shares of the samples and the root is at the bottom', async () => {
  await open('program.folded');
  const all = await rectOf('all');
  near(all.width, 1200);
  near((await rectOf('parse')).width, 1200 * 200 / TOTAL);
  near((await rectOf('worker(Pool&)')).width, 1200 * 42 / TOTAL);
  assert.ok((await rectOf('main')).y < all.y);
  assert.equal(await page.locator('#title').textContent(), 'example --fast');
});

test('a long title of several lines is cut to what fits, with the whole as its tooltip', async () => {
  const whole = 'perl -e \'print "' + 'word '.repeat(100) + '";\'';
  await open('program.folded', '', whole.replaceAll(' ', '\n\t'));
  const title = () => page.locator('#title').textContent();
  const fits = async () => {
    const box = await page.locator('#title').boundingBox();
    const search = await page.locator('#search').boundingBox();
    assert.ok(box.x + box.width <= search.x, `${box.x + box.width} is beyond ${search.x}`);
  };
  const wide = await title();
  assert.match(wide, /^perl -e 'print "word word .*\u2026$/);
  await fits();
  await page.setViewportSize({width: 800, height: 700});
  await page.waitForFunction((before) => document.getElementById('title').textContent !== before, wide);
  assert.match(await title(), /^perl -e 'print "word .*\u2026$/);
  await fits();
  const tooltip = page.locator('#top > g > title').first();
  assert.equal(await tooltip.textContent(), whole.replaceAll(/\s+/g, ' '));
});

test('a click zooms in and hides the other boxes, and reset shows them again', async () => {
  await open('program.folded');
  assert.equal(await page.locator('#reset').isVisible(), false);
  await (await boxOf('parse')).click();
  near((await rectOf('parse')).width, 1200);
  near((await rectOf('next_token')).width, 1200 * 150 / 200);
  near((await rectOf('main')).width, 1200);
  assert.equal(await isShown('run'), false);
  assert.match(await (await boxOf('main')).getAttribute('class'), /below/);
  await page.locator('#reset').click();
  assert.equal(await isShown('run'), true);
  near((await rectOf('parse')).width, 240);
  assert.equal(await page.locator('#reset').isVisible(), false);
});

test('a click on a caller of the zoomed box zooms out to it', async () => {
  await open('program.folded');
  await (await boxOf('next_token')).click();
  await (await boxOf('main')).click();
  near((await rectOf('main')).width, 1200);
  assert.equal(await isShown('run'), true);
});

test('labels are fitted to their boxes, again on zoom and on resize', async () => {
  await open('program.folded');
  const name = 'Task::operator()(std::pair<int, std::string> const&)';
  assert.match(await labelOf(name), /^Ta.*\.\.$/);
  await (await boxOf(name)).click();
  assert.equal(await labelOf(name), name);
  await page.setViewportSize({width: 300, height: 700});
  await page.waitForFunction(() => document.getElementById('frames').width.baseVal.value < 300);
  assert.match(await labelOf(name), /\.\.$/);
  const text = await (await boxOf(name)).locator('text').boundingBox();
  const rect = await rectOf(name);
  assert.ok(text.x + text.width <= rect.x + rect.width + 1, 'the label leaves its box');
});

test('search marks the matches and shows their share of the samples', async () => {
  await open('program.folded');
  await page.keyboard.press('Control+f');
  await page.keyboard.type('^sort$|compare');
  // One compare_rows is below sort (its 150 samples count once), the other is not (23).
  assert.equal(await page.locator('#matched').textContent(), 'Matched: 17.30%');
  assert.equal(await page.locator('#frames > g.match').count(), 5);
  await page.keyboard.press('Escape');
  assert.equal(await page.locator('#frames > g.match').count(), 0);
  assert.equal(await page.locator('#matched').textContent(), '');
});

test('search is relative to the zoomed part', async () => {
  await open('program.folded');
  await (await boxOf('parse')).click();
  await page.locator('#search').fill('next_token');
  assert.equal(await page.locator('#matched').textContent(), 'Matched: 75.00% of the zoomed part');
});

test('search ignores case unless the term has capitals', async () => {
  await open('program.folded');
  await page.locator('#search').fill('lazycompile');
  assert.equal(await page.locator('#frames > g.match').count(), 2);
  await page.locator('#search').fill('LAZYCOMPILE');
  assert.equal(await page.locator('#frames > g.match').count(), 0);
});

test('a term that is not a regular expression is searched literally', async () => {
  await open('program.folded');
  await page.locator('#search').fill('operator()(');
  assert.equal(await page.locator('#frames > g.match').count(), 1);
  assert.match(await page.locator('#search').getAttribute('class'), /wrong/);
});

test('hovering shows samples, share, self share, name and module', async () => {
  await open('program.folded');
  await (await boxOf('memcmp')).hover();
  const text = await details();
  for (const part of ['9.00%', '90 samples', 'self 9.00%', 'memcmp', '/usr/lib/libexample.so.1']) {
    assert.ok(text.includes(part), `${part} is not in: ${text}`);
  }
  await page.mouse.move(600, 40);
  assert.equal(await details(), '');
  assert.match(await (await boxOf('memcmp')).locator('title').textContent(), /^memcmp \(90 samples, 9\.00%\)$/);
});

test('the keyboard reaches every box, zooms and resets', async () => {
  await open('program.folded');
  const focused = () => page.evaluate(() => document.activeElement.querySelector('title')?.textContent.split(' (')[0]);
  await page.locator('#frames > g[tabindex="0"]').focus();
  assert.equal(await focused(), 'all');
  await page.keyboard.press('ArrowUp');
  assert.equal(await focused(), '_start');
  await page.keyboard.press('ArrowRight');
  assert.match(await focused(), /^clone3/);
  await page.keyboard.press('ArrowLeft');
  await page.keyboard.press('ArrowUp');
  await page.keyboard.press('ArrowUp');
  assert.equal(await focused(), 'run');
  assert.match(await details(), /73\.50%/);
  await page.keyboard.press('Enter');
  near((await rectOf('run')).width, 1200);
  await page.keyboard.press('ArrowDown');
  assert.equal(await focused(), 'main');
  await page.keyboard.press('Escape');
  near((await rectOf('parse')).width, 240);
  await page.keyboard.press('Home');
  assert.equal(await focused(), 'all');
  assert.equal(await page.locator('#frames > g[tabindex="0"]').count(), 1);
});

test('the buttons and the search field are in the tab order and named', async () => {
  await open('program.folded', '#zoom=3');
  const seen = [];
  for (let i = 0; i < 3; i++) {
    await page.keyboard.press('Tab');
    seen.push(await page.evaluate(() => document.activeElement.id ||
      document.activeElement.querySelector('title')?.textContent));
  }
  assert.deepEqual(seen, ['all (1,000 samples, 100.00%)', 'reset', 'search']);
  await page.locator('#reset').focus();
  await page.keyboard.press('Enter');
  assert.equal(await page.locator('#reset').isVisible(), false);
});

test('the address contains zoom and search', async () => {
  await open('program.folded');
  await (await boxOf('parse')).click();
  await page.locator('#search').fill('blank');
  const kept = await page.evaluate(() => location.hash);
  await page.goto('about:blank');
  requests = [];
  await open('program.folded', kept);
  near((await rectOf('parse')).width, 1200);
  assert.equal(await page.locator('#matched').textContent(), 'Matched: 15.00% of the zoomed part');
});

test('an invalid address is ignored', async () => {
  await open('program.folded', '#zoom=99999&search=%5B');
  near((await rectOf('all')).width, 1200);
});

test('names from a target never run or become markup', async () => {
  await open('hostile.folded', '', '<script>window.pwned=1</script>', '"><img src=x onerror=pwned=1>');
  const names = await page.$$eval('#frames > g > title', (all) => all.map((t) => t.textContent));
  assert.ok(names.some((name) => name.startsWith('</script><script>window.pwned=1</script> (')));
  assert.ok(names.some((name) => name.startsWith('operator&& (')));
  assert.ok(names.some((name) => name.startsWith('größe 日本語 (')));
  for (let i = 0; i < names.length; i++) {
    await page.locator('#frames > g').nth(i).hover();
    await page.locator('#frames > g').nth(i).click();
    await page.keyboard.press('Escape');
  }
  await page.locator('#search').fill('<img src=x onerror=window.pwned=1>');
  assert.equal(await page.evaluate(() => window.pwned), undefined);
  assert.equal(await page.locator('script').count(), 2);
  assert.equal(await page.locator('img, a').count(), 0);
});

test('a tall graph opens at its root and keeps its heading and details visible', async () => {
  await page.setViewportSize({width: 1224, height: 260});
  await open('program.folded');
  const inView = async (selector) => {
    const at = await page.locator(selector).boundingBox();
    return at.y >= -1 && at.y + at.height <= 261;
  };
  assert.ok(await page.evaluate(() => window.scrollY > 0));
  assert.ok(await inView('#search'));
  await (await boxOf('all')).hover();
  assert.ok(await inView('#details'));
  await page.evaluate(() => window.scrollTo(0, 0));
  await page.waitForFunction(() => document.getElementById('top').getBoundingClientRect().top >= -1);
  assert.ok(await inView('#title'));
});

test('the picture is complete without its script', async () => {
  const context = await browser.newContext({javaScriptEnabled: false, viewport: {width: 1224, height: 700}});
  const plain = await context.newPage();
  await plain.goto(draw('program.folded'));
  assert.ok(await plain.locator('#frames text', {hasText: 'next_token'}).first().isVisible());
  await context.close();
});

test('the dark scheme is honoured', async () => {
  await page.emulateMedia({colorScheme: 'dark'});
  await open('program.folded');
  const fill = (id) => page.evaluate((of) => getComputedStyle(document.getElementById(of)).fill, id);
  assert.equal(await fill('background'), 'rgb(23, 24, 28)');
});
