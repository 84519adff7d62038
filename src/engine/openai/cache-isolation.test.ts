import { expect, test } from 'vitest';
import { realEngine } from '../../../test/fixtures/engines.ts';
import { fakeAdapter } from '../../../test/fixtures/fake-engine/fake-adapter.ts';
import { presetModels } from '../../models/default-models.ts';
import type { Engine } from '../engine.ts';
import { cacheNamesByLine } from './cache-isolation.ts';

const PLACES = 300;

async function linesAsText(engine: Engine): Promise<{ lines: string[]; tokens: number[]; expected: number }> {
  const names = await cacheNamesByLine(async (text) => (await engine.tokenize([{ text, as: 'text' }]))[0]!);
  const ids = Array.from({ length: PLACES }, () => names.name(undefined, 0).line);
  const lines = await engine.detokenize(ids);
  const tokens = await engine.tokenize(lines.map((text) => ({ text, as: 'text' as const })));
  return { lines: [...lines], tokens: tokens.map(({ length }) => length), expected: names.lineTokens };
}

test.each([
  { name: 'the fake model', open: () => fakeAdapter.opener({}).open({ model: 'fake', contextTokens: 128 }) },
  { name: 'the shipped model', open: () => realEngine.open({ model: presetModels.model, contextTokens: 128 }) },
])('a line that goes as text has as many tokens as one of ids: $name', async ({ open }) => {
  await using engine = await open();
  const { lines, tokens, expected } = await linesAsText(engine);
  expect(new Set(tokens)).toEqual(new Set([expected]));
  expect(new Set(lines).size).toBe(PLACES);
});
