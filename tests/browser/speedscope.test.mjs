// speedscope's own page, from its npm package, opens each format that it reads. SUPERPROFILER names
// the program that writes them, CHROMIUM the browser.
import assert from 'node:assert/strict';
import {spawnSync} from 'node:child_process';
import {mkdtempSync, rmSync} from 'node:fs';
import {tmpdir} from 'node:os';
import path from 'node:path';
import {after, before, test} from 'node:test';
import {fileURLToPath, pathToFileURL} from 'node:url';
import {launch} from './browser.mjs';

const here = path.dirname(fileURLToPath(import.meta.url));
const speedscope = path.join(here, 'node_modules/speedscope/dist/release/index.html');
const recordings = path.join(here, '../fixtures/recordings');

let directory, browser;

before(async () => {
  directory = mkdtempSync(path.join(tmpdir(), 'speedscope-'));
  // It draws with WebGL alone.
  browser = await launch('--use-angle=swiftshader', '--enable-unsafe-swiftshader', '--ignore-gpu-blocklist');
});
after(async () => {
  await browser?.close();
  rmSync(directory, {recursive: true, force: true});
});

function convert(recording, format, file) {
  const made = spawnSync(process.env.SUPERPROFILER,
    ['convert', path.join(recordings, recording), '-f', format, '-o', file], {encoding: 'utf8'});
  assert.equal(made.status, 0, made.stderr);
}

// The rows of the table of functions: total, self, name.
async function functionsOf(file) {
  const page = await browser.newPage({viewport: {width: 1224, height: 700}});
  const errors = [];
  page.on('pageerror', (error) => errors.push(String(error)));
  page.on('dialog', (dialog) => { errors.push(dialog.message()); return dialog.dismiss(); });
  await page.goto(pathToFileURL(speedscope).href);
  const [chooser] = await Promise.all([page.waitForEvent('filechooser'), page.getByText('Import').first().click()]);
  await chooser.setFiles(file);
  await page.getByText('Sandwich').first().waitFor();
  await page.keyboard.press('3');
  await page.locator('tr td').first().waitFor();
  const rows = await page.$$eval('tr', (all) => all.map((row) => [...row.cells].map((cell) => cell.textContent)));
  assert.deepEqual(errors, []);
  await page.close();
  return rows;
}

const SAMPLED = [['speedscope', 'a.speedscope.json'], ['pprof', 'a.pb.gz'], ['folded', 'a.folded'],
  ['perf-script', 'a.perf.txt'], ['chrome', 'a.json']];
for (const [format, name] of SAMPLED) {
  test(`opens ${format} with each function's share`, async () => {
    const file = path.join(directory, `${format}-${name}`);
    convert('aarch64_sampled.sp', format, file);
    const rows = await functionsOf(file);
    const share = (of) => rows.find((row) => row.at(-1).startsWith(of))?.[1].match(/\((.*)%\)/)?.[1];
    // Of 163 samples; two formats have times, which are longer between the loader's.
    const most = ['chrome', 'perf-script'].includes(format) ? 8 : 0.5;
    for (const [name, samples] of [['spin_sixty', 88], ['spin_thirty', 55], ['spin_ten', 17]]) {
      const off = Math.abs(parseFloat(share(name)) - 100 * samples / 163);
      assert.ok(off < most, `${name}: ${share(name)} %`);
    }
  });
}

test('opens callgrind-lines with the instructions that were counted', async () => {
  const file = path.join(directory, 'callgrind.lines.a');
  convert('aarch64_counted.sp', 'callgrind-lines', file);
  const rows = await functionsOf(file);
  const self = (of) => rows.find((row) => row.at(-1) === of)?.[1];
  assert.equal(self('fib'), '2,121 (19%)');  // as callgrind_annotate has them of -f callgrind
  assert.equal(self('in_a_triangle'), '380 (3.5%)');
});
