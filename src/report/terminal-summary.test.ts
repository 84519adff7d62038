import { describe, expect, it } from 'vitest';
import { runResults } from '../../test/fixtures/run-results.ts';
import { profileLine, renderSummary } from './terminal-summary.ts';
import { textWidth } from '../render/wrap-text.ts';

const page = { width: 80, colour: false };

describe('the end of a run', () => {
  it('says where the time went', () => {
    expect(profileLine(runResults.run.profile)).toBe('wall 93 s = model 88 s (94.6 %) + embedder 0.2 s + bench 4.8 s');
  });

  it('shows tables, checks, verdict and notes, in this order, in 80 columns', () => {
    const text = renderSummary(runResults, page);
    const places = ['Table 1.', 'Table 1b.', 'Paired by item', 'Checks', 'Verdict', 'wall 93 s', 'Notes'].map((part) =>
      text.indexOf(`\n${part}`),
    );
    expect(places.slice(1)).toEqual([...places.slice(1)].sort((a, b) => a - b));
    expect(places.slice(1).every((place) => place > 0)).toBe(true);
    expect(text).toContain('\n- the work tree has changes that are not committed\n');
    for (const line of text.split('\n')) expect(textWidth(line)).toBeLessThanOrEqual(80);
  });

  it('ends with what is not proven', () => {
    const check = { check: 'negative controls', status: 'failed', evidence: 'none 12 %' } as const;
    const text = renderSummary({ ...runResults, checks: [check] }, page);
    expect(text.trimEnd().split('\n').at(-1)).toBe('NOT PROVEN: check negative controls failed');
  });

  describe('of a model that answers nothing', () => {
    const { arms, run } = runResults;
    const withMean = (arm: (typeof arms)[0], mean: number) => ({
      ...arm,
      metrics: { ...arm.metrics, exactMatch: { ...arm.metrics.exactMatch!, mean } },
    });
    const text = (shown: typeof arms) => renderSummary({ ...runResults, run, checks: [], arms: shown }, page);
    const end = (shown: typeof arms) => text(shown).trimEnd().split('\n').at(-1);
    const [rag] = arms as [(typeof arms)[0]];

    it('says so in place of tables, by the oracle', () => {
      const oracle = (mean: number) => ({ ...withMean(rag, mean), arm: 'oracle' });
      const nothing = [...arms, oracle(0)];
      expect(end(nothing)).toMatch(/^NO ANSWERS: oracle, given the right memories, has exact match 0 on \d+ items$/i);
      expect(text(nothing)).not.toContain('Table 1.');
      expect(text([...arms, oracle(0.5)])).not.toContain('NO ANSWERS');
      expect(text([...arms, oracle(0.5)])).toContain('Table 1.');
    });

    it('says so without an oracle if no arm with memories answers', () => {
      const others = arms.filter(({ arm }) => arm !== 'oracle');
      const silent = others.map((arm) => withMean(arm, 0));
      expect(end(silent)).toMatch(/^NO ANSWERS: all arms with memories have exact match 0 on \d+ items$/i);
      expect(text(silent)).not.toContain('Table 1.');
      for (const [place, { traits }] of others.entries()) {
        const one = silent.map((arm, index) => (index === place ? withMean(arm, 0.1) : arm));
        expect(text(one).includes('NO ANSWERS')).toBe(traits.retrieves === 'nothing');
      }
    });
  });
});
