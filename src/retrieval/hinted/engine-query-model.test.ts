import { expect, test } from 'vitest';
import { presetModels } from '../../models/default-models.ts';
import { realEngine } from '../../../test/fixtures/engines.ts';
import { openQueryModel } from './engine-query-model.ts';

test('a prompt that makes a label likely raises its score, whatever was scored before', async () => {
  await using engine = await realEngine.open({ model: presetModels.model });
  await using queryModel = await openQueryModel(engine);
  const told = 'Relevant information:\n[1] My dog is called Brenko.\n\nUser: What is my dog called?\n\nAI:';
  const untold = 'Relevant information:\n[1] My cat is called Miso.\n\nUser: What is my dog called?\n\nAI:';
  const labels = ['Brenko', 'Miso'];
  const scores = await queryModel.scoreLabels(told, untold, labels);
  expect(scores[0]).toBeGreaterThan(1);
  expect(scores[1]).toBeLessThan(0);
  expect(await queryModel.writeLine(told)).toBe('Brenko.');
  const again = await queryModel.scoreLabels(told, untold, labels);
  for (const [index, score] of again.entries()) expect(score).toBeCloseTo(scores[index]!, 3);
  expect(await queryModel.scoreLabels(untold, untold, labels)).toEqual([expect.closeTo(0, 3), expect.closeTo(0, 3)]);
});
