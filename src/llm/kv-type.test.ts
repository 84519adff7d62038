import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { LanguageModel } from './language-model.ts';
import { modelPathOf } from './random-model/random-model.ts';

const scratch = mkdtempSync(join(tmpdir(), 'dki-bench-kv-type-'));
afterAll(() => rmSync(scratch, { recursive: true }));
const prefix = Array.from({ length: 20 }, (_, index) => 97 * index + 3);
const suffix = [5, 9, 400];

test('K/V in F32 takes twice the bytes, loads bitwise, and is not taken for F16', async () => {
  const modelPath = await modelPathOf('random:tiny-qwen3');
  await using wide = await LanguageModel.load({ modelPath, kvType: 'F32', contextTokens: 256 });
  await using narrow = await LanguageModel.load({ modelPath, contextTokens: 256 });
  expect(wide.info.contextOptions.kvType).toBe('F32');
  expect(narrow.info.contextOptions.kvType).toBe('F16');

  await using wideSequence = wide.openSequence();
  await using narrowSequence = narrow.openSequence();
  const asText = await wideSequence.score([...prefix, ...suffix], [7]);
  expect((await narrowSequence.score([...prefix, ...suffix], [7])).nextProbabilities).not.toEqual(
    asText.nextProbabilities,
  );
  await wideSequence.truncate(prefix.length);
  await narrowSequence.truncate(prefix.length);
  const [widePath, narrowPath] = [join(scratch, 'f32.state'), join(scratch, 'f16.state')];
  const sizes = [await wideSequence.saveState(widePath), await narrowSequence.saveState(narrowPath)];
  const { layers, kvHeads, headDimension } = wide.info;
  expect(sizes[0]!.sizeBytes - sizes[1]!.sizeBytes).toBe(prefix.length * layers * kvHeads! * headDimension * 2 * 2);

  await wideSequence.clear();
  await wideSequence.loadState(widePath);
  expect(await wideSequence.score(suffix, [7])).toEqual(asText);
  for (const [sequence, path] of [
    [wideSequence, narrowPath],
    [narrowSequence, widePath],
  ] as const) {
    await expect(sequence.loadState(path)).rejects.toMatchObject({
      code: 'bad-state',
      message: `${path}: unusable K/V state: the keys of layer 0 have another layout`,
    });
  }
});
