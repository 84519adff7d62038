import { describe, expect, it } from 'vitest';
import { changed } from '../../../test/fixtures/draft.ts';
import { answeredTurn, failedTurn } from '../../../test/fixtures/turn-record.ts';
import { type MeasuredRun, metricsOfRun } from '../../eval/analysis/metrics/run-metrics.ts';
import { textWidth } from '../../render/text-width.ts';
import { printTurn, printTwoTurns } from './print-turn.ts';
import { type AnsweredTurn, inspectedTurn } from '../stored-turn.ts';
import { turnDifferences } from './turn-differences.ts';
import { budgetBar } from './turn-sections.ts';

const page = { width: 80, colour: false };
const answered = (...of: Parameters<typeof answeredTurn>): AnsweredTurn => inspectedTurn(answeredTurn(...of));
const rag = answered('rag');
const dki = answered('dki', { injected: true, answer: ' Oslo' });

describe('a turn in the terminal', () => {
  it('shows each segment with its tokens, its origin and its text', () => {
    const text = printTurn('main-1', dki, page);
    expect(text).toContain('run main-1 · item i-7 · user u-1 · arm dki · repeat 0 · turn 0');
    expect(text).toContain('The final sequence, 43 tokens');
    expect(text).toContain('memory            8  injected   <m-1> [1] My sister lives in Oslo.\\n');
    expect(text).toContain('footer            3  evaluated  \\n\\nAI:');
  });

  it('shows the text that the model was given to begin its answer with, and what was cut off', () => {
    const given = changed(rag, ({ prompt, answer }) => {
      prompt.segments.push({ role: 'answerPrefix', text: ' You live in', tokenIds: [9, 9, 9], origin: 'evaluated' });
      answer.prefix = 'You live in ';
      answer.thoughtTokens = 7;
    });
    const text = printTurn('r', given, page);
    expect(text).toContain('answerPrefix      3  evaluated   You live in\n');
    expect(text).toContain('answer    [You live in] ');
    expect(text).toContain('behind a thought of 7 tokens, cut off');
    expect(printTurn('r', rag, page)).not.toMatch(/thought|\[You/);
  });

  it('says whether the answer is right, in which way it is wrong, and where the evidence was lost', () => {
    expect(printTurn('r', rag, page)).toContain('Answer (right)');
    expect(printTurn('r', dki, page)).toContain('Answer (wrong: stale, failed at: answered)');
    expect(printTurn('r', dki, page)).toMatch(/gold {6}Turin\nscores [^]*\nkind {6}updated · held-out · en\n/);
  });

  it('gives the scores by the metrics of the run, its primary one first', () => {
    const scores = (declared: MeasuredRun, turn = answeredTurn('rag')) =>
      /^scores +(.*)$/m.exec(
        printTurn('r', inspectedTurn(turn, null, metricsOfRun(declared)), { ...page, width: 200 }),
      )![1];
    const others = 'token F1 1 · memory recall 1 · ROUGE-L 1 · BLEU 1';
    expect(scores({ dataset: {} })).toBe(`exact match 1 · contains 1 · ${others}`);
    expect(scores({ dataset: { primaryMetric: 'contains' } })).toBe(`contains 1 · exact match 1 · ${others}`);
    const own = { name: 'brief', label: 'in five words', kind: 'binary', unit: '%', direction: 'higher', margin: 2 } as const; // prettier-ignore
    const turn = answeredTurn('rag', { answer: ' Oslo' });
    const brief = { ...turn, scores: { ...turn.scores, own: { brief: 1 } } };
    expect(scores({ dataset: {}, metrics: [own] }, brief)).toBe(
      `exact match 0 · contains 0 · ${others} · in five words 1`,
    );
    expect(scores({ dataset: { primaryMetric: 'brief' }, metrics: [own] }, brief)).toMatch(
      /^in five words 1 · exact match 0/,
    );
    const goldTokens = [{ token: 'a', logProbability: -1 }, { token: 'b', logProbability: -2 }]; // prettier-ignore
    const scored = { ...turn, observed: { ...turn.observed, goldLogProbability: -3, goldTokens } };
    expect(scores({ dataset: { primaryMetric: 'goldLogProb' } }, scored)).toMatch(
      /^gold answer −1\.500 nats · exact match 0 · contains 0/,
    );
  });

  it('judges no answer where nothing can be said of quality', () => {
    const turn = inspectedTurn(answeredTurn('dki', { answer: ' Oslo' }), 'random weights');
    const text = printTurn('r', turn, page);
    expect(text).toContain('Answer (not judged: random weights)');
    expect(text).not.toMatch(/stale|failed at|ln p gold/);
    expect(turn).toMatchObject({ scores: { exactMatch: null, taskSuccess: null } });
  });

  it('says what was retrieved, kept and dropped, and by which rule', () => {
    const text = printTurn('r', rag, page);
    expect(text).toContain(' 1   0.910  evidence  kept      <m-2> My sister moved to Turin.');
    expect(text).toContain(' 3   0.200            not kept  <m-9>');
    expect(text).toContain('dropped: memory m-9 (170 tokens), memory-budget: the memories before it filled');
  });

  it('shows the cost, and what was expected where it differs', () => {
    expect(printTurn('r', dki, page)).toContain('12 prompt · 31 K/V resident · 12 evaluated · 3 generated');
    const wrong = { ...dki, tokens: { ...dki.tokens, evaluated: 14 } };
    expect(printTurn('r', wrong, page)).toContain('14 evaluated (12 expected)');
  });

  it('lets no control character of the data through', () => {
    const text = printTurn('r', answered('rag', { answer: '\u001b]0;owned\u0007\u009b31m' }), page);
    expect(text).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/);
    expect(text).toContain('\\x1b]0;owned\\x07\\x9b31m');
    expect(text).toContain('A long story \\x1b[2J');
  });

  it('shows the reason of a failed turn', () => {
    const failed = failedTurn('rag', '', { error: { code: 'context-overflow', message: '600 tokens' } });
    expect(printTurn('r', failed, page)).toContain('failed: context-overflow: 600 tokens');
    expect(printTurn('r', failedTurn('rag', 'no memory left'), page)).toContain('failed: no memory left');
  });

  it.each([60, 80, 119, 120, 160])('is never wider than %d columns', (width) => {
    const text =
      printTurn('r', rag, { width, colour: false }) +
      printTwoTurns('r', [{ turn: rag }, { turn: dki }], { width, colour: true });
    for (const line of text.split('\n')) expect(textWidth(line)).toBeLessThanOrEqual(width);
  });
});

describe('two arms', () => {
  it('stand side by side from 120 columns, else one after the other', () => {
    const wide = printTwoTurns('r', [{ turn: rag }, { turn: dki }], { width: 140, colour: false });
    expect(wide).toMatch(/^Answer \(right\) +│ Answer \(wrong: stale/m);
    const narrow = printTwoTurns('r', [{ turn: rag }, { turn: dki }], page);
    expect(narrow.indexOf('arm dki')).toBeGreaterThan(narrow.indexOf('Evidence funnel'));
    expect(narrow.indexOf('Evidence funnel')).toBeGreaterThan(narrow.indexOf('arm rag'));
  });

  it('are told apart by what differs', () => {
    expect(turnDifferences(rag, dki)).toEqual([
      'answers: rag " Turin", dki " Oslo"',
      'sequences: identical, 43 tokens',
      'memories: the same 2, in the same order',
      'evaluated tokens: rag 43, dki 12',
      'first token: rag 12.8 ms, dki 5.0 ms',
    ]);
    const other = changed(dki, ({ prompt }) => (prompt.segments[4]!.tokenIds[2] = 999));
    expect(turnDifferences(rag, other)[1]).toBe('sequences: differ from token 24 (rag: memory m-2; dki: memory m-2)');
  });
});

it('the bar is as wide as asked, and shows even the smallest part', () => {
  const { budget } = rag.prompt;
  const [bar, legend] = budgetBar(budget, 40);
  expect([...bar]).toHaveLength(40);
  expect(bar).toBe(`██▓▓${'·'.repeat(26)}${'░'.repeat(10)}`);
  expect(legend).toBe('█ fixed 21  ▓ memories 22  ▒ history 0  · free 341  ░ reserve 128');
  expect(budgetBar({ ...budget, fixedTokens: 1 }, 40)[0]).toMatch(/^█▓/);
});
