import { expect, it } from 'vitest';
import { bothTwice, type Changes, checkInput, line, runProbes } from '../../../../test/fixtures/check-input.ts';
import { answers } from './generated-answers.ts';

const answer = { sha256: 'aa', asGenerated: true, shortfall: 0 };
const observed = { answer, sameAgain: true };

/** The check where the turns of `dki` are changed. */
function ofDki(changes: NonNullable<Changes['observed']>, bitwiseEqual = true, largestDifference = 0) {
  const answered = bothTwice({ observed: { ...observed, ...changes } }, { observed });
  const parity = { ...runProbes.parity, bitwiseEqual, largestDifference };
  return answers(checkInput({ answered, probes: { parity } }));
}

it('passes if arms that claim equality give one answer, as generated, and repeat it', () => {
  expect(line(ofDki({}))).toMatch(
    /^passed: 4 answers .* 2 of them token by token .* 4 were the same when generated again/,
  );
});

it.each<[string, NonNullable<Changes['observed']>]>([
  ['another answer than the arm that it claims to equal', { answer: { ...answer, sha256: 'bb' } }],
  ['an answer that the engine did not generate', { answer: { ...answer, asGenerated: false } }],
  ['no generation at all', { answer: { sha256: null, asGenerated: false, shortfall: null } }],
  ['a first token that is not the likeliest', { answer: { ...answer, shortfall: 0.01 } }],
  ['another answer when it is generated again', { sameAgain: false }],
])('fails for %s', (_, changes) => {
  expect(line(ofDki(changes))).toMatch(/^failed: .*dki on i-1/);
});

it.each([{ maxTokens: 3 }, { stopTexts: ['\n'] }, { oneSentence: false }, { temperature: 0.1 }, { seed: 1 }])(
  'fails for an arm that generates under other limits than the baseline: %o',
  (other) => {
    const limits = { maxTokens: 48, stopTexts: [], oneSentence: true, temperature: 0, seed: 0 };
    const answered = (changed: object) =>
      bothTwice(
        { observed: { ...observed, limits: { ...limits, ...changed } } },
        { observed: { ...observed, limits } },
      );
    expect(answers(checkInput({ answered: answered({}) })).status).toBe('passed');
    expect(line(answers(checkInput({ answered: answered(other) })))).toMatch(
      /^failed: 2 answers .*limits.*: dki on i-1/,
    );
  },
);

it('allows a near tie if the self-test is not bitwise equal, and leaves other answers undecided', () => {
  expect(ofDki({ answer: { ...answer, shortfall: 0.01 } }, false, 0.006).status).toBe('passed');
  expect(ofDki({ answer: { ...answer, shortfall: 0.01 } }, false, 0.004).status).toBe('failed');
  expect(ofDki({ sameAgain: false }, false, 0.006).status).toBe('undecided');
  expect(ofDki({ answer: { ...answer, sha256: 'bb' } }, false, 0.006).status).toBe('undecided');
  expect(ofDki({ answer: { ...answer, asGenerated: false } }, false, 0.006).status).toBe('failed');
});

it('is undecided about turns that were not observed in this way', () => {
  expect(answers(checkInput()).status).toBe('undecided');
});
