import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { readDataset } from '../../src/data/reader.ts';
import { metricsCheck } from '../../src/eval/analysis/metrics/self-test.ts';

test.each(['en', 'zh'] as const)('recall-%s has golds that the metrics tell apart', async (language) => {
  const shipped = fileURLToPath(new URL(`../../datasets/recall-${language}.jsonl`, import.meta.url));
  const { users } = await readDataset(shipped);
  const golds = users.flatMap((user) => user.items.flatMap((item) => item.answer ?? []));
  expect(metricsCheck(new Map([[language, golds]]), { seed: 7 }).status).toBe('passed');
});
