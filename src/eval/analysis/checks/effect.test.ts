import { expect, it } from 'vitest';
import { handmadeTraits } from '../../../../test/fixtures/arm-traits.ts';
import { askedTwice, changedTurn, type Changes, checkInput, dki, rag } from '../../../../test/fixtures/check-input.ts';
import type { CheckResult } from '../../../records/results.ts';
import type { CheckInput } from './check.ts';
import { effect } from './effect.ts';

const checked = (changes: Partial<CheckInput> = {}): CheckResult => effect(checkInput(changes));

const same = { tokens: changedTurn('rag').tokens } satisfies Changes;
const blocks = handmadeTraits('dki-blocks');

it('passes for an arm that changes an outcome, and fails for one that changes none', () => {
  expect(checked()).toMatchObject({ status: 'passed', evidence: '1 arms and settings change an outcome' });
  expect(checked({ answered: [...askedTwice('rag'), ...askedTwice('dki', same)] })).toMatchObject({
    status: 'failed',
    evidence: 'no outcome is changed by dki',
  });
});

it('counts a likelier gold beyond the noise of the self-test', () => {
  const changed = { ...same, observed: { goldLogProbability: -0.126 } };
  const answered = [...askedTwice('rag'), ...askedTwice('dki', changed)];
  const noisy = (largestDifference: number) =>
    ({ ...checkInput().probes, parity: { prompts: 1, cuts: 1, bitwiseEqual: false, largestDifference } }) as const;
  expect(checked({ answered, probes: noisy(0.0004) }).status).toBe('passed');
  expect(checked({ answered, probes: noisy(0.0006) }).status).toBe('failed');
});

it('compares an arm with settings with the same arm without them', () => {
  const labelled = handmadeTraits('dki@labels=bullet', { base: 'dki', settings: { labels: 'bullet' } });
  const answered = [...askedTwice('rag'), ...askedTwice('dki'), ...askedTwice('dki@labels=bullet')];
  // It differs from `rag`, as `dki` does, and not from `dki`.
  expect(checked({ arms: [rag, dki, labelled], answered }).evidence).toBe('no outcome is changed by dki@labels=bullet');
});

it('leaves out the twin, and arms that these data do not let differ', () => {
  const twin = handmadeTraits('rag-twin', { control: 'twin' });
  const full = handmadeTraits('full');
  const answered = [...askedTwice('rag'), ...askedTwice('rag-twin'), ...askedTwice('full', { item: { memories: 2 } })];
  expect(checked({ arms: [rag, twin, full], answered })).toMatchObject({
    status: 'undecided',
    evidence: 'nothing in these data could vary against rag',
  });
  const once = [changedTurn('rag'), changedTurn('dki-blocks', same)];
  expect(checked({ arms: [rag, blocks], answered: once }).status).toBe('undecided');
});

it('is undecided without a baseline', () => {
  expect(checked({ arms: [dki], answered: askedTwice('dki') }).status).toBe('undecided');
  expect(checked({ answered: askedTwice('dki') }).status).toBe('undecided');
});
