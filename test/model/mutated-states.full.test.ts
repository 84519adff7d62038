import { join } from 'node:path';
import { expect, it } from 'vitest';
import { randomModelPath } from '../../src/engine/gguf/random-model/random-model.ts';
import { runProcess, typescript } from '../fixtures/run-process.ts';
import { smallConfig, TestFolder } from './bench-fixture.ts';

/** `MUTATED_STATES=10000 npx vitest run test/model/mutated-states` tries as many as one likes. */
const ROUNDS = Number(process.env['MUTATED_STATES'] ?? 1000);

it(`survives ${ROUNDS} damaged KV states: none is loaded, each is computed again and counted`, async () => {
  using folder = new TestFolder();
  const script = join(import.meta.dirname, '../fixtures/mutate-states.ts');
  const models = [smallConfig(folder).model, await randomModelPath('random:tiny-llama')];
  const child = await runProcess([...typescript, script, folder.path, ...models, String(ROUNDS)]);
  expect([child.code, child.stderr]).toEqual([0, '']);
  const outcome = JSON.parse(child.stdout) as Record<string, number>;
  expect(outcome).toMatchObject({ rounds: ROUNDS, loaded: 0, wrong: 0 });
  // A header field that happens to be rewritten with its own value is no damage.
  expect(outcome['recomputed']).toBeGreaterThan(0.98 * ROUNDS);
});
