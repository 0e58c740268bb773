// ajv accepts each line of --emit by docs/emit.schema.json, and none with something else in it.
// RUNS has the lines.
import Ajv from 'ajv';
import assert from 'node:assert/strict';
import {readFileSync} from 'node:fs';
import path from 'node:path';
import {test} from 'node:test';

const schema = JSON.parse(readFileSync('../../docs/emit.schema.json', 'utf8'));
const validate = new Ajv({allErrors: true, strict: false}).compile(schema);
const linesOf = run => readFileSync(path.join(process.env.RUNS, run), 'utf8').trim().split('\n')
    .map(line => JSON.parse(line));
const types = {
  threads: ['event', 'hello', 'metrics', 'profile', 'symbols'],
  addresses: ['event', 'hello', 'metrics', 'profile'],
  crash: ['event', 'hello', 'metrics', 'profile', 'symbols'],
  killed: ['event', 'hello', 'metrics', 'profile', 'symbols'],
};

for (const [run, expected] of Object.entries(types)) {
  test(`the lines of ${run}`, () => {
    const lines = linesOf(run);
    for (const line of lines) {
      assert.ok(validate(line), JSON.stringify(validate.errors).slice(0, 500));
      assert.ok(!validate({...line, more: 1}));
      if (line.type === 'profile' || line.type === 'hello') {
        assert.ok(!validate({...line, data: {...line.data, more: 1}}), line.type);
      }
    }
    assert.deepEqual([...new Set(lines.map(line => line.type))].sort(), expected);
    const end = lines.at(-1).data;
    assert.ok(run === 'killed' || run === 'crash' ? 'signal' in end || lines.some(
        line => line.type === 'event' && line.data.signal) : end.exit === 0);
  });
}
