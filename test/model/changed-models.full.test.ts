import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { BenchError } from '../../src/base/bench-error.ts';
import { presetModels } from '../../src/models/default-models.ts';
import { readGgufFile } from '../../src/engine/gguf/gguf-file.ts';
import { llamaCpp } from '../../src/engine/llama-cpp/llama-cpp-adapter.ts';
import { randomModelPath } from '../../src/engine/gguf/random-model/random-model.ts';
import { changedGguf } from '../fixtures/fuzz/changed-gguf.ts';
import { beginOfNumbers } from '../fixtures/fuzz/gguf-draft.ts';
import { TriedInTurn } from '../fixtures/fuzz/tried-in-turn.ts';
import type { TriedModel } from '../fixtures/fuzz/try-models.ts';
import { TestFolder } from './bench-fixture.ts';

/** `CHANGED_MODELS=10000 CHANGED_MODELS_FROM=1000 npx vitest run test/model/changed-models` tries others. */
const FILES = Number(process.env['CHANGED_MODELS'] ?? 1000);
const FROM = Number(process.env['CHANGED_MODELS_FROM'] ?? 0);
const SHAPES = ['tiny-llama', 'tiny-llama-rope-freqs', 'tiny-qwen2-chat', 'tiny-qwen3'];

it(`${FILES} models with one value changed are refused in words or are what they say: none ends the program, none hangs`, async () => {
  using folder = new TestFolder();
  const paths = [presetModels.model, ...(await Promise.all(SHAPES.map((shape) => randomModelPath(`random:${shape}`))))];
  const models = paths.map((path) => {
    const file = readGgufFile(path);
    return { file, numbers: readFileSync(path).subarray(beginOfNumbers(file.tensors)) };
  });
  const script = join(import.meta.dirname, '../fixtures/fuzz/try-models.ts');
  using process = new TriedInTurn<{ path: string }, TriedModel>(script, { timeoutMs: 30_000, tasksEach: 200 });
  const path = folder.file('changed.gguf');
  const bad: string[] = [];
  const counts = { reader: 0, 'llama.cpp': 0, works: 0, trial: 0 };
  for (let seed = FROM; seed < FROM + FILES; seed++) {
    const { file, numbers } = models[seed % models.length]!;
    const { bytes, what } = changedGguf(file, numbers, seed);
    writeFileSync(path, bytes);
    const outcome = await process.try({ path });
    const note = (found: string): number => bad.push(`${seed}: ${what}: ${found}`);
    if (outcome.state === 'hung') note('no answer in time');
    else if (outcome.state === 'crashed') {
      counts.trial++;
      const opened = await llamaCpp
        .opener({})
        .open({ model: path })
        .catch((error: unknown) => error);
      if (!(opened instanceof BenchError && opened.message.includes('llama.cpp crashed on it'))) note(outcome.how);
    } else {
      const { by, code, message, wrong } = outcome.answer;
      counts[by]++;
      if (code === undefined) counts.works++;
      // The second: of a model whose keys or values are no numbers for some tokens.
      else if (code !== 'bad-model' && code !== 'bad-state') note(`${code} ${message}`);
      if (wrong !== undefined) note(wrong);
    }
  }
  expect(bad).toEqual([]);
  // Nearly all that would end a process are refused before llama.cpp has them; the others end that of a trial.
  expect(counts.trial).toBeLessThanOrEqual(0.005 * FILES);
  expect(counts['llama.cpp']).toBeGreaterThanOrEqual(0.3 * FILES);
});
