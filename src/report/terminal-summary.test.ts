import { describe, expect, it } from 'vitest';
import { runResults } from '../../test/fixtures/run-results.ts';
import { profileLine, renderAnswer, renderSummary } from './terminal-summary.ts';
import { textWidth } from '../render/terminal-text.ts';

const page = { width: 80, colour: false };

/** With the times of cache hits as those of all turns, too. */
const timed = {
  ...runResults,
  comparisons: runResults.comparisons.flatMap((one) =>
    one.metric === 'ttftLogRatio' ? [one, { ...one, metric: 'ttftLogRatioAll' as const }] : [one],
  ),
};

describe('the first answer of a run', () => {
  const lines = (results: typeof runResults) => renderAnswer(results, page).trimEnd().split('\n');

  it('is a sentence, a table of at most eight lines, and the checks, in 80 columns', () => {
    const shown = lines(timed);
    expect(shown.length).toBeLessThanOrEqual(23);
    for (const line of shown) expect(textWidth(line)).toBeLessThanOrEqual(80);
    expect(shown.join(' ')).toContain('Against rag, dki gives the same answers bit by bit on 320 of 320 items');
    expect(shown.join(' ')).toMatch(/time to first token on 200 cache hits: 0\.41 .+; over all 400 turns: 0\.41/);
    expect(shown.filter((line) => /^(arm|rag|dki)/.test(line))).toEqual([
      'arm  right   Δ vs rag         TTFT ÷ rag',
      'rag   97.2          –                  –',
      'dki   97.2  identical  0.41 [0.40, 0.42]',
    ]);
    expect(shown.at(-1)).toBe('2 of 3 checks passed, 1 not decided in this run: isolation');
  });

  it('has at most seven arms, and marks what was lost, and leaves the intervals of times out where names are long', () => {
    const [rag, dki] = runResults.arms;
    const names = Array.from({ length: 9 }, (_, index) => `dki-blocks@sink=${index}`);
    const many = names.map((arm) => ({ ...dki!, arm, traits: { ...dki!.traits, comparison: 'planned' as const } }));
    const comparisons = names.flatMap((a) =>
      timed.comparisons
        .slice(0, 4)
        .map((one) => ({ ...one, a, delta: -0.1, low: -0.2, high: -0.05, verdict: 'lost' as const })),
    );
    const table = lines({ ...runResults, arms: [rag!, ...many], comparisons }).filter((line) =>
      /^dki-\S+@\S+ {2}/.test(line),
    );
    expect(table).toHaveLength(6);
    expect(table[0]).toContain('✗ −10.0 [−20.0, −5.0]');
    const long = comparisons.map((one) => ({ ...one, a: one.a.replace('@', '@labels=bullet@context=none@') }));
    const renamed = many.map((one) => ({ ...one, arm: one.arm.replace('@', '@labels=bullet@context=none@') }));
    expect(lines({ ...runResults, arms: [rag!, ...renamed], comparisons: long }).join('\n')).toMatch(/ 0\.90$/m);
  });

  it('shows a failed check with its evidence, and no table of a model that answers nothing', () => {
    const check = { check: 'negative controls', status: 'failed', evidence: 'none 12 %' } as const;
    const shown = lines({ ...runResults, checks: [check] });
    expect(shown.slice(-3)).toEqual([
      'NOT PROVEN: check negative controls failed. Do not quote these numbers.',
      '✗ negative controls: none 12 %',
      '0 of 1 checks passed',
    ]);
    const silent = runResults.arms.map((arm) => ({
      ...arm,
      metrics: { ...arm.metrics, exactMatch: { ...arm.metrics.exactMatch!, mean: 0 } },
    }));
    expect(lines({ ...runResults, arms: silent }).join('\n')).not.toContain('TTFT ÷');
  });
});

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
