import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { presetModels } from '../preset-models.ts';
import { readGatingCalibration, requireCalibrationFor } from './gating-threshold.ts';
import { TransformersEmbedder } from './transformers-embedder.ts';

const SHIPPED = presetModels.embedder;

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'card-'));
});
afterEach(() => {
  rmSync(folder, { recursive: true, force: true });
});

it('is known for the embedder that ships, and for its weights alone', async () => {
  const calibration = readGatingCalibration(SHIPPED)!;
  const { info } = await TransformersEmbedder.open(SHIPPED);
  requireCalibrationFor(calibration, info);
  expect(() => {
    requireCalibrationFor(calibration, { name: 'mine', sha256: 'f'.repeat(64) });
  }).toThrow('card.json of mine: its gating threshold was found for another embedder');
});

it('is unknown without a card, and named where the card is damaged', () => {
  expect(readGatingCalibration(folder)).toBeUndefined();
  writeFileSync(join(folder, 'card.json'), '{"embedderSha256": "0", "gatingThreshold": 7}');
  expect(() => readGatingCalibration(folder)).toThrow(`${join(folder, 'card.json')}: not the card of an embedder`);
});
