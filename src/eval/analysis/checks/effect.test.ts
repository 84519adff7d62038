import { expect, it } from 'vitest';
import { handmadeTraits } from '../../../../test/fixtures/arm-traits.ts';
import { askedTwice, changedTurn, type Changes, checkInput, dki, rag } from '../../../../test/fixtures/check-input.ts';
import type { ArmTraits } from '../../../store/records/arm-traits.ts';
import type { CheckResult } from '../../../store/records/results.ts';
import type { CheckInput } from './check.ts';
import { effect } from './effect.ts';

const checked = (changes: Partial<CheckInput> = {}): CheckResult => effect(checkInput(changes));

const same = { tokens: changedTurn('rag').tokens } satisfies Changes;
const injecting = (name: string, prefill: ArmTraits['prefill'] & string, more: Partial<ArmTraits> = {}) =>
  handmadeTraits(name, { injects: 'memories', prefill, ...more });
const blocks = injecting('dki-blocks', 'blocks');

it('passes for an arm that changes an outcome, and fails for one that changes none', () => {
  expect(checked()).toMatchObject({ status: 'passed', evidence: '1 arms and settings change an outcome' });
  expect(checked({ answered: [...askedTwice('rag'), ...askedTwice('dki', same)] })).toMatchObject({
    status: 'failed',
    evidence: 'no outcome is changed by dki (against rag)',
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

it('takes more turns of an arm than a function takes arguments', () => {
  const changed = handmadeTraits('dki@placement=rank', { base: 'dki', settings: { placement: 'rank' } });
  const turns = [rag, dki, changed].flatMap(({ name }) => askedTwice(name));
  const answered = Array.from({ length: 70_000 }, (_, copy) =>
    turns.map((turn) => ({ ...turn, itemId: `${turn.itemId}-${copy}` })),
  ).flat();
  expect(checked({ arms: [rag, dki, changed], answered }).evidence).toBe(
    'no outcome is changed by dki@placement=rank (against dki)',
  );
});

it('compares an arm with settings with the same arm without them', () => {
  const labelled = handmadeTraits('dki@labels=bullet', { base: 'dki', settings: { labels: 'bullet' } });
  const answered = [...askedTwice('rag'), ...askedTwice('dki'), ...askedTwice('dki@labels=bullet')];
  // It differs from `rag`, as `dki` does, and not from `dki`.
  expect(checked({ arms: [rag, dki, labelled], answered }).evidence).toBe(
    'no outcome is changed by dki@labels=bullet (against dki)',
  );
});

it('compares settings of blocks with the arm that lacks one, by answers and likelihoods alone', () => {
  const context = 'previous' as const;
  const made = (name: string, settings: ArmTraits['settings']) =>
    injecting(name, 'blocks', { base: 'dki-blocks', settings, making: { context } });
  const arms = [
    rag,
    blocks,
    made('dki-blocks@context=previous', { context }),
    made('dki-blocks@context=previous@alpha=0.5', { context, alpha: 0.5 }),
  ];
  const [, , previous, scaled] = arms.map(({ name }) => name);
  const turns = (likelihoods: readonly number[], evaluated = 20) => [
    ...askedTwice('rag'),
    ...arms.slice(1).flatMap(({ name }, index) =>
      askedTwice(name, {
        observed: { goldLogProbability: likelihoods[index]! },
        tokens: { ...changedTurn('dki').tokens, evaluated: evaluated + index },
      }),
    ),
  ];
  const withAlpha = arms.map((arm) => (arm.name === scaled ? { ...arm, alpha: 0.5 } : arm));
  expect(checked({ arms: withAlpha, answered: turns([-1, -2, -3]) }).status).not.toBe('failed');
  // Tokens that are evaluated and that no token sees are no effect.
  expect(checked({ arms: withAlpha, answered: turns([-1, -1, -3]) })).toMatchObject({
    status: 'failed',
    evidence: `no outcome is changed by ${previous} (against dki-blocks)`,
  });
  const alike = withAlpha.map(({ making: _, ...arm }) => arm);
  expect(checked({ arms: alike, answered: turns([-1, -1, -3]) }).evidence).toContain(`lets ${previous} (against`);
});

it('leaves out the twin, and arms that these data do not let differ', () => {
  const twin = handmadeTraits('rag-twin', { control: 'twin' });
  const full = handmadeTraits('full');
  const answered = [...askedTwice('rag'), ...askedTwice('rag-twin'), ...askedTwice('full', { item: { memories: 2 } })];
  expect(checked({ arms: [rag, twin, full], answered })).toMatchObject({
    status: 'undecided',
    evidence: 'nothing in these data lets full (against rag) differ; 0 arms and settings change an outcome',
  });
  const once = [changedTurn('rag'), changedTurn('dki-blocks', same)];
  expect(checked({ arms: [rag, blocks], answered: once }).status).toBe('undecided');
});

it('is undecided without a baseline', () => {
  expect(checked({ arms: [dki], answered: askedTwice('dki') }).status).toBe('undecided');
  expect(checked({ answered: askedTwice('dki') }).status).toBe('undecided');
});

it('compares recomputed and parallel blocks with plain ones', () => {
  const arms = [rag, blocks, injecting('dki-link:4', 'link:4'), injecting('dki-parallel', 'parallel')];
  const answered = [...askedTwice('rag'), ...arms.slice(1).flatMap(({ name }) => askedTwice(name))];
  // Both differ from `rag`, and not from what they are to be a variety of.
  expect(checked({ arms, answered })).toMatchObject({
    status: 'failed',
    evidence: 'no outcome is changed by dki-link:4 (against dki-blocks), dki-parallel (against dki-blocks)',
  });
});

it('compares random tokens with those that another rule selects at the same share, where there was a choice', () => {
  const rules = ['first:.3', 'random:.3', 'first:.5'] as const;
  const arms = [rag, blocks, ...rules.map((rule) => injecting(`dki-${rule}`, rule))];
  const turnsWith = (selected: number, logProbability: number) => [
    ...askedTwice('rag'),
    ...askedTwice('dki-blocks'),
    ...rules.flatMap((rule, index) =>
      askedTwice(`dki-${rule}`, {
        account: { selection: { selectable: 9, selected, splices: 1, ms: 1 } },
        observed: { goldLogProbability: index === 1 ? logProbability : -1 },
      }),
    ),
  ];
  expect(checked({ arms, answered: turnsWith(4, -2) })).toMatchObject({
    status: 'passed',
    evidence: '5 arms and settings change an outcome',
  });
  // They differ from the blocks, and not from each other.
  expect(checked({ arms, answered: turnsWith(4, -1) })).toMatchObject({
    status: 'failed',
    evidence: 'no outcome is changed by dki-random:.3 (against dki-first:.3)',
  });
  // Of all tokens each rule takes the same.
  expect(checked({ arms, answered: turnsWith(9, -1) }).status).toBe('passed');
});

it('compares what evicts with what does not, and random tokens with those of another rule, of blocks and prefixes apart', () => {
  const arms = [
    rag,
    injecting('dki', 'prefix'),
    blocks,
    injecting('dki-whole', 'prefix', { evict: 'knorm:0' }),
    injecting('dki-long', 'prefix', { evict: 'knorm:.5' }),
    injecting('dki-drawn', 'prefix', { evict: 'random:.5' }),
    injecting('dki-recent', 'blocks', { evict: 'streaming:.5' }),
  ];
  const turns = (logProbabilities: Readonly<Record<string, number>>) =>
    arms.flatMap(({ name }) =>
      askedTwice(name, {
        tokens: changedTurn('rag').tokens,
        observed: { goldLogProbability: logProbabilities[name] ?? -1, ...(name !== 'rag' && { injectableCells: 5 }) },
      }),
    );
  const live = { dki: -2, 'dki-blocks': -3, 'dki-long': -4, 'dki-drawn': -5, 'dki-recent': -4 };
  expect(checked({ arms, answered: turns(live) })).toMatchObject({
    status: 'undecided',
    evidence: 'nothing in these data lets dki-whole (against dki) differ; 6 arms and settings change an outcome',
  });
  expect(checked({ arms, answered: turns({ ...live, 'dki-recent': -3, 'dki-drawn': -4 }) })).toMatchObject({
    status: 'failed',
    evidence: 'no outcome is changed by dki-drawn (against dki-long), dki-recent (against dki-blocks)',
  });
});

it('compares a store with the engine’s own numbers by what comes out', () => {
  const answered = (logProbability: number) =>
    ['rag', 'dki', 'dki@store=q8_0'].flatMap((name, index) =>
      askedTwice(name, { observed: { goldLogProbability: index === 2 ? logProbability : -1 } }),
    );
  const settings = { store: 'q8_0' } as const;
  const arms = [rag, injecting('dki', 'prefix'), injecting('dki@store=q8_0', 'prefix', { base: 'dki', settings })];
  expect(checked({ arms, answered: answered(-1.01) }).status).toBe('passed');
  expect(checked({ arms, answered: answered(-1) })).toMatchObject({
    status: 'failed',
    evidence: 'no outcome is changed by dki@store=q8_0 (against dki)',
  });
});

it('is undecided of a cache where no set recurs, another repeat of the question included, and names the arm', () => {
  const twice = (arm: string, changes: Changes = {}) => [0, 1].map((repeat) => changedTurn(arm, changes, { repeat }));
  expect(checked({ answered: [...twice('rag'), ...twice('dki', same)] })).toMatchObject({
    status: 'undecided',
    evidence: 'nothing in these data lets dki (against rag) differ; 0 arms and settings change an outcome',
  });
});

it("is undecided of an α that is the other arm's, and of a budget that binds nowhere", () => {
  const one = handmadeTraits('dki@alpha=1', { base: 'dki', settings: { alpha: 1 }, alpha: 1 });
  const answered = [...askedTwice('rag'), ...askedTwice('dki'), ...askedTwice('dki@alpha=1')];
  expect(checked({ arms: [rag, { ...dki, alpha: 1 }, one], answered })).toMatchObject({
    status: 'undecided',
    evidence: 'nothing in these data lets dki@alpha=1 (against dki) differ; 1 arms and settings change an outcome',
  });
  const all = handmadeTraits('rag@budget=all', { base: 'rag', settings: { budget: 'all' } });
  const unbound = { facts: { droppedMemories: 0 } };
  const turns = [...askedTwice('rag', unbound), ...askedTwice('rag@budget=all', unbound)];
  expect(checked({ arms: [rag, all], answered: turns }).status).toBe('undecided');
});
