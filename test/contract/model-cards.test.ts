import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

const models = fileURLToPath(new URL('../../models', import.meta.url));

it.each([
  ['recall-base', 'recall-base-f16.gguf'],
  ['recall-block', 'recall-block-f16.gguf'],
  ['embed-en-zh', 'onnx/model.onnx'],
])('the card of %s names the sha-256 of its %s, and what was measured', (model, file) => {
  const card = readFileSync(`${models}/${model}/README.md`, 'utf8');
  const sha256 = createHash('sha256')
    .update(readFileSync(`${models}/${model}/${file}`))
    .digest('hex');
  expect(card).toContain(sha256);
  const { rows } = JSON.parse(readFileSync(`${models}/${model}/quality.json`, 'utf8')) as {
    rows: { measure: string; share: number; n: number }[];
  };
  expect(rows.length).toBeGreaterThan(1);
  const cells = card.split('\n').map((line) => line.split('|').map((cell) => cell.trim()));
  for (const { measure, share, n } of rows) {
    const row = cells.find(([, name]) => name === measure);
    expect([measure, row?.[2], row?.[4]]).toEqual([measure, (100 * share).toFixed(1), String(n)]);
  }
});
