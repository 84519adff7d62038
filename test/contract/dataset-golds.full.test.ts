import { expect, test } from 'vitest';
import { shippedDatasets } from '../../src/config/shipped-datasets.ts';
import { readDataset } from '../../src/data/read-dataset.ts';
import { metricsSelfTest } from '../../src/eval/analysis/metrics/metrics-self-test.ts';

test.each([...shippedDatasets()])('%s has golds that the metrics tell apart', async (_name, path) => {
  const { users, language } = await readDataset(path);
  const golds = users.flatMap((user) => user.items.flatMap((item) => item.answer ?? []));
  expect(metricsSelfTest(new Map([[language, golds]]), { seed: 7 }).status).toBe('passed');
});
