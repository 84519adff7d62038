import { writeFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { TestFolder } from '../../../test/model/bench-fixture.ts';
import { presetModels } from '../default-models.ts';
import { readGatingCalibration, requireCalibrationFor } from './gating-calibration.ts';
import { TransformersEmbedder } from './transformers-embedder.ts';

const SHIPPED = presetModels.embedder;

it('exists for the embedder that ships, and is refused for other weights', async () => {
  const calibration = readGatingCalibration(SHIPPED)!;
  const { info } = await TransformersEmbedder.open(SHIPPED);
  requireCalibrationFor(calibration, info);
  const mine = { name: 'mine', sha256: 'f'.repeat(64) };
  expect(() => requireCalibrationFor(calibration, mine)).toThrow(
    'card.json of mine: its gating threshold was calibrated for another embedder',
  );
});

it('is undefined without a card, and an error with a damaged one', () => {
  using folder = new TestFolder();
  const card = folder.file('card.json');
  expect(readGatingCalibration(folder.path)).toBeUndefined();
  writeFileSync(card, '{"embedderSha256": "0", "gatingThreshold": 7}');
  expect(() => readGatingCalibration(folder.path)).toThrow(`${card}: not the card of an embedder`);
});
