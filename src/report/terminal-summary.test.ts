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

  it('ends with it that a model answers nothing with the right memories before it', () => {
    const { arms, run } = runResults;
    const [rag] = arms;
    const oracle = (mean: number) => ({
      ...rag!,
      arm: 'oracle',
      metrics: { ...rag!.metrics, exactMatch: { ...rag!.metrics.exactMatch!, mean } },
    });
    const ends = (mean: number) =>
      renderSummary({ ...runResults, run, checks: [], arms: [...arms, oracle(mean)] }, page)
        .trimEnd()
        .split('\n')
        .at(-1);
    expect(ends(0)).toMatch(/^NO ANSWERS: oracle, given the right memories, has exact match 0 on \d+ items$/i);
    expect(ends(0.5)).not.toContain('NO ANSWERS');
  });
});
