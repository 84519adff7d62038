import { expect, it } from 'vitest';
import { answeredTurn } from '../../test/fixtures/turn-record.ts';
import { metricsOfRun } from '../eval/analysis/metrics/metric-selection.ts';
import { serverLinks as links } from './links.ts';
import { type ItemModel, itemPage } from './item-page.ts';

const markup = `<script>alert(1)</script>\u202e${'\u0000'.repeat(1_000_000)}`;

const model = { name: 'tiny', sha256: 'ab' };
const metrics = metricsOfRun({ dataset: {} });

function modelOf(repeats: number): ItemModel {
  const first = { id: 1, ...answeredTurn('rag', { answer: markup }) };
  const outcomes = Array.from({ length: repeats }, (_, repeat) => ({
    ...{
      arm: 'rag',
      repeat,
      turn: 0,
      cache: 'bypass',
      taskSuccess: 0,
      wrongClass: 'superseded',
      failedStage: 'answered',
    },
    ...{ promptTokens: 43, kvResidentTokens: 0, evaluatedTokens: 43, answer: markup, failedChecks: null },
    error: repeat === 1 ? markup : null,
  })) as unknown as ItemModel['outcomes'];
  const sample = { ...first, item: { ...first.item, evidence: 3 } };
  return {
    run: { id: 'run-1', name: 'main-1', suite: 'main', model, arms: [], metrics, hiddenTexts: null },
    ...{ itemId: 'i-7', userId: 'u-1', outcomes, sample, judged: true },
    evidence: [
      { memoryId: 'm-1', content: markup, arms: ['rag', 'dki'] },
      { memoryId: 'm-2', content: 'My sister moved to Turin.', arms: [] },
    ],
  };
}

it('shows every repeat on a line of its own, with its answer, outcome and counts', async () => {
  const page = String(await itemPage(modelOf(2), links));
  expect(page).toContain('href="/turn?run=main-1&amp;item=i-7&amp;arm=rag&amp;repeat=0&amp;turn=0"');
  expect(page).toContain('>wrong: superseded, failed at answered<');
  expect(page).toMatch(/<td class="right">43<\/td>\s*<td class="right">0<\/td>\s*<td class="right">43<\/td>/);
  expect(page).toContain('in the sequence of rag, dki');
  expect(page).toContain('in the sequence of no arm');
  expect(page).toContain('1 more was neither retrieved nor given to any arm.');
});

it('stays small, and shows text of data as text', async () => {
  const page = String(await itemPage(modelOf(300), links));
  expect(Buffer.byteLength(page)).toBeLessThan(190_000);
  expect(page).not.toContain('<script');
  expect(page).not.toMatch(/[\u0000\u202e]/);
  expect(page).toContain('<span class="text">&lt;script&gt;');
  expect(page).toContain('… 220 more turns.');
});
