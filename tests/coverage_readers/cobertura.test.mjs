// What cobertura-parse makes of cobertura.xml is what coverage.info says. RUNS has the runs.
import assert from 'node:assert/strict';
import {readFileSync} from 'node:fs';
import path from 'node:path';
import {test} from 'node:test';
import cobertura from 'cobertura-parse';

function parse(file) {
  return new Promise((resolve, reject) => cobertura.parseFile(
      file, (error, files) => error ? reject(new Error(error)) : resolve(files)));
}

// Hits by line, of the source file whose name ends so.
function linesOfLcov(text, name) {
  const lines = new Map();
  let isIt = false;
  for (const line of text.split('\n')) {
    if (line.startsWith('SF:')) {
      isIt = line.endsWith(name);
    } else if (isIt && line.startsWith('DA:')) {
      const [number, hits] = line.slice(3).split(',').map(Number);
      lines.set(number, hits);
    }
  }
  return lines;
}

for (const run of ['counted', 'covered']) {
  test(`cobertura-parse reads the lines of a run that was ${run}`, async () => {
    const directory = path.join(process.env.RUNS, run);
    const files = await parse(path.join(directory, 'cobertura.xml'));
    const file = files.find(one => one.file.endsWith('known_counts.c'));
    assert.ok(file, `no known_counts.c in ${files.map(one => one.file)}`);
    const read = new Map(file.lines.details.map(({line, hit}) => [Number(line), Number(hit)]));
    const lcov = linesOfLcov(readFileSync(path.join(directory, 'coverage.info'), 'utf8'),
        'known_counts.c');
    assert.ok(lcov.size > 20, `${lcov.size} lines`);
    for (const [line, hits] of lcov) {
      assert.equal(read.get(line), hits, `line ${line}`);
    }
    const most = Math.max(...lcov.values());
    assert.ok(run === 'counted' ? most >= 177 : most === 1, `${most} is the most`);
  });
}
