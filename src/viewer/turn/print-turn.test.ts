import { describe, expect, it } from 'vitest';
import { changed } from '../../../test/fixtures/draft.ts';
import { answeredTurn, failedTurn } from '../../../test/fixtures/turn-record.ts';
import { type MeasuredRun, metricsOfRun } from '../../eval/analysis/metrics/metric-selection.ts';
import { sharesLines } from '../../render/section-terminal.ts';
import { textWidth } from '../../render/terminal-text.ts';
import { printTurn, printTwoTurns } from './print-turn.ts';
import { type AnsweredDisplayTurn, turnForDisplay } from '../turn-scores-for-display.ts';

const page = { width: 80, colour: false };
const answered = (...of: Parameters<typeof answeredTurn>): AnsweredDisplayTurn => turnForDisplay(answeredTurn(...of));
const rag = answered('rag');
const dki = answered('dki', { injected: true, answer: ' Oslo' });

describe('a turn in the terminal', () => {
  it('shows each segment with its tokens, its origin and its text', () => {
    const text = printTurn('main-1', dki, page);
    expect(text).toContain('run main-1 · item i-7 · user u-1 · arm dki · repeat 0 · turn 0');
    expect(text).toContain('The final sequence, 43 tokens');
    expect(text).toContain('memory m-1            8  injected   [1] My sister lives in Oslo.\\n');
    expect(text).toContain('footer                3  evaluated  \\n\\nAI:');
  });

  it('shows the text that the model was given to begin its answer with, and what was cut off', () => {
    const given = changed(rag, ({ prompt, answer }) => {
      prompt.segments.push({ role: 'answerPrefix', text: ' You live in', tokenIds: [9, 9, 9], origin: 'evaluated' });
      answer.prefix = 'You live in ';
      answer.thoughtTokens = 7;
    });
    const text = printTurn('r', given, page);
    expect(text).toContain('answer prefix         3  evaluated   You live in\n');
    expect(text).toContain('answer    You live in  Turin (after 7 tokens of thought, which are not shown)');
    expect(printTurn('r', rag, page)).not.toMatch(/thought|You live/);
  });

  it('says whether the answer is right, in which way it is wrong, and where the evidence was lost', () => {
    expect(printTurn('r', rag, page)).toMatch(/^verdict {3}✓ right$/m);
    expect(printTurn('r', dki, page)).toMatch(
      /gold {6}Turin\nverdict {3}✗ wrong: superseded, failed at: answered\nscores [^]*\nkind {6}updated · held-out · en\n/,
    );
  });

  it('gives the scores by the metrics of the run, its primary one first', () => {
    const scores = (declared: MeasuredRun, turn = answeredTurn('rag')) => {
      const text = printTurn('r', turnForDisplay(turn, null, metricsOfRun(declared)), { ...page, width: 200 });
      return /^scores +(.*)$/m.exec(text)![1];
    };
    const others = 'token F1 1 · memory recall 1 · ROUGE-L 1 · BLEU 1';
    expect(scores({ dataset: {} })).toBe(`exact match 1 · SQuAD exact match 1 · contains 1 · ${others}`);
    expect(scores({ dataset: { primaryMetric: 'contains' } })).toBe(
      `contains 1 · exact match 1 · SQuAD exact match 1 · ${others}`,
    );
    const own = {
      name: 'brief',
      label: 'in five words',
      kind: 'binary',
      unit: '%',
      direction: 'higher',
      margin: 2,
    } as const;
    const turn = answeredTurn('rag', { answer: ' Oslo' });
    const brief = { ...turn, scores: { ...turn.scores, own: { brief: 1 } } };
    const metrics = [own];
    expect(scores({ dataset: {}, metrics }, brief)).toBe(
      `exact match 0 · SQuAD exact match 0 · contains 0 · ${others} · in five words 1`,
    );
    expect(scores({ dataset: { primaryMetric: 'brief' }, metrics }, brief)).toMatch(/^in five words 1 · exact match 0/);
    const goldTokens = [
      { token: 'a', logProbability: -1 },
      { token: 'b', logProbability: -2 },
    ];
    const scored = { ...turn, observed: { ...turn.observed, goldLogProbability: -3, goldTokens } };
    const inNats = /^gold answer −1\.500 nats · exact match 0 · SQuAD exact match 0 · contains 0/;
    expect(scores({ dataset: { primaryMetric: 'goldLogProb' } }, scored)).toMatch(inNats);
  });

  it('judges no answer if quality is unknown', () => {
    const turn = turnForDisplay(answeredTurn('dki', { answer: ' Oslo' }), 'random weights');
    const text = printTurn('r', turn, page);
    expect(text).toContain('verdict   not judged: random weights');
    expect(text).not.toMatch(/superseded|failed at|ln p gold/);
    expect(turn).toMatchObject({ scores: { exactMatch: null, taskSuccess: null } });
  });

  it('says what was retrieved, kept and dropped, and by which rule', () => {
    const text = printTurn('r', rag, page);
    expect(text).toMatch(/^m-2 +1 +0\.910 +evidence +kept +My sister moved to Turin\.$/m);
    expect(text).toMatch(/^m-9 +3 +0\.200 +not kept +A long story/m);
    expect(text).toContain('- memory m-9, 170 tokens, memory-budget: higher-ranked memories filled the');
  });

  it('shows the cost, and what was expected where it differs', () => {
    const counts = (turn: AnsweredDisplayTurn) =>
      /^tokens +(\d.*)$/m.exec(printTurn('r', turn, page))![1]!.split(/ {2,}/);
    expect(counts(dki)).toEqual(['12', '31', '12', '3', '43']);
    const wrong = { ...dki, tokens: { ...dki.tokens, evaluated: 14 } };
    expect(counts(wrong)[2]).toBe('14 (12 expected)');
  });

  it('shows what the answer loses without each memory', () => {
    const memories = [
      { memoryId: 'm1', logProbability: -40.5 },
      { memoryId: '用户的记忆\u001b[2J'.padEnd(90, 'x') + '-last', logProbability: -0.25 },
    ];
    const attribution = { method: 'blocks', logProbability: -0.5, memories, modelMs: 1 } as const;
    const text = printTurn('r', dki, page, { attribution });
    expect(text).toContain('Leave-one-out attribution, by KV block\nln p of the answer with all memories: −0.500');
    expect(/^m1 .*$/m.exec(text)![0]).toMatch(/^m1 +−40\.500 +\+40\.000$/);
    expect(text).toMatch(/^….*x-last +−0\.250 +−0\.250$/m);
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
    const two = printTwoTurns('r', [{ turn: rag }, { turn: dki }], { width, colour: true });
    for (const line of (printTurn('r', rag, { width, colour: false }) + two).split('\n'))
      expect(textWidth(line)).toBeLessThanOrEqual(width);
  });
});

describe('two arms', () => {
  it('stand one after the other', () => {
    const text = printTwoTurns('r', [{ turn: rag }, { turn: dki }], page);
    expect(text.indexOf('arm dki')).toBeGreaterThan(text.indexOf('Evidence funnel'));
    expect(text.indexOf('Evidence funnel')).toBeGreaterThan(text.indexOf('arm rag'));
  });

  it('are told apart by what differs', () => {
    const differences = (b: AnsweredDisplayTurn) => {
      const text = printTwoTurns('r', [{ turn: rag }, { turn: b }], page);
      return text.slice(text.indexOf('Differences between')).trimEnd().split('\n').slice(1);
    };
    expect(differences(dki)).toEqual([
      'answers           rag " Turin", dki " Oslo"',
      'sequences         identical, 43 tokens',
      'memories          the same 2, in the same order',
      'evaluated tokens  rag 43, dki 12',
      'first token       rag 12.8 ms, dki 5.0 ms',
    ]);
    const other = changed(dki, ({ prompt }) => (prompt.segments[4]!.tokenIds[2] = 999));
    expect(differences(other)[1]).toBe('sequences         differ from token 24 (rag: memory m-2; dki: memory m-2)');
    expect(differences(other)[5]).toMatch(/^- ± memory m-2/);
  });
});

it('a bar of shares is as wide as asked, and shows even the smallest part', () => {
  const shares = (fixed: number) =>
    [fixed, 22, 0, 341].map((weight, index) => ({ name: `part ${index}`, look: '', mark: '█▓▒·'[index]!, weight }));
  expect(sharesLines(shares(21), 40)).toEqual([
    `██▓▓${'·'.repeat(36)}`,
    '█ part 0 21  ▓ part 1 22  ▒ part 2 0  ·',
    'part 3 341',
  ]);
  expect(sharesLines(shares(1), 40)[0]).toMatch(/^█▓/);
});
