import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { grammars } from '../../base/english-and-chinese-wordings.ts';
import { shippedDatasets } from '../../config/shipped-datasets.ts';
import type { DatasetUser } from '../dataset.ts';
import { readDataset } from '../read-dataset.ts';
import { makeRecallDataset } from './recall-data.ts';

test.each(['en', 'zh'] as const)(
  'recall-%s is what the grammar and seed 7 make: else run `npx tsx scripts/datasets/make-shipped.ts`',
  async (language) => {
    const shipped = shippedDatasets().get(`recall-${language}`)!;
    const { text, users } = makeRecallDataset(language, 7, 20);
    expect(makeRecallDataset(language, 8, 2).text).not.toBe(makeRecallDataset(language, 7, 2).text);
    expect(readFileSync(shipped).equals(Buffer.from(text))).toBe(true);
    const read = await readDataset(shipped);
    const { unknownAnswer } = grammars[language];
    expect(read).toMatchObject({ name: `recall-${language}`, language, unknownAnswer });
    const shape = (all: readonly (DatasetUser | (typeof users)[number])[]) =>
      all.map(({ kind, memories }) => [kind, memories.map(({ memoryId }) => memoryId)]);
    expect(shape(read.users)).toEqual(shape(users));
  },
);
