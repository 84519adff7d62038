import { expect, it } from 'vitest';
import { handmadeTraits } from '../../../../test/fixtures/arm-traits.ts';
import {
  askedTwice,
  bothTwice,
  changedTurn,
  type Changes,
  dki,
  rag,
  resultsOf,
  line,
} from '../../../../test/fixtures/check-input.ts';
import type { ArmTraits } from '../../../store/records/arm-traits.ts';
import { effect } from './arms-have-effect.ts';

const { checked, ofDki } = resultsOf(effect);

const same = { tokens: changedTurn('rag').tokens } satisfies Changes;
const injecting = (name: string, prefill: ArmTraits['prefill'] & string, more: Partial<ArmTraits> = {}) =>
  handmadeTraits(name, { injects: 'memories', prefill, ...more });
const blocks = injecting('dki-blocks', 'blocks');
const askedOfEach = (arms: readonly ArmTraits[], changes?: Changes) =>
  arms.flatMap(({ name }) => askedTwice(name, changes));

it('passes for an arm that changes an outcome, and fails for one that changes none', () => {
  expect(line(checked())).toBe('passed: 1 arms and settings change an outcome');
  expect(line(ofDki(same))).toBe('failed: no outcome is changed by dki (against rag)');
});

it('is undecided where the one memory that would make a difference is too long for the prompt', () => {
  const oracle = handmadeTraits('oracle', { retrieves: 'evidence' });
  const dropped = (droppedMemories: number) => {
    const facts = { ...changedTurn('rag').facts, keptMemories: 0 };
    const of = (arm: string, more: object) => askedTwice(arm, { ...same, facts: { ...facts, ...more } });
    return checked({ arms: [rag, oracle], answered: [...of('rag', {}), ...of('oracle', { droppedMemories })] }).status;
  };
  expect([dropped(1), dropped(0)]).toEqual(['undecided', 'failed']);
});

it('counts a likelier gold beyond the noise of the self-test', () => {
  const answered = bothTwice({ ...same, observed: { goldLogProbability: -0.126 } });
  const noisy = (largestDifference: number) =>
    checked({ answered, probes: { parity: { prompts: 1, cuts: 1, bitwiseEqual: false, largestDifference } } }).status;
  expect([noisy(0.0004), noisy(0.0006)]).toEqual(['passed', 'failed']);
});

it('handles more turns than a function call can take arguments', () => {
  const arms = [rag, dki, handmadeTraits('dki@placement=rank', { base: 'dki', settings: { placement: 'rank' } })];
  const turns = askedOfEach(arms);
  const answered = Array.from({ length: 70_000 }, (_, copy) =>
    turns.map((turn) => ({ ...turn, itemId: `${turn.itemId}-${copy}` })),
  ).flat();
  // It differs from `rag`, as `dki` does, and not from the same arm without the setting.
  expect(checked({ arms, answered }).evidence).toBe('no outcome is changed by dki@placement=rank (against dki)');
});

it('compares settings of blocks with the arm that lacks one, by answers and likelihoods alone', () => {
  const context = 'previous' as const;
  const made = (name: string, settings: ArmTraits['settings'], more: Partial<ArmTraits> = {}) =>
    injecting(name, 'blocks', { base: 'dki-blocks', settings, making: { context }, ...more });
  const previous = made('dki-blocks@context=previous', { context });
  const scaled = made('dki-blocks@context=previous@alpha=0.5', { context, alpha: 0.5 }, { alpha: 0.5 });
  const arms = [rag, blocks, previous, scaled];
  const turns = (likelihoods: readonly number[]) =>
    arms.flatMap(({ name }, index) =>
      askedTwice(name, {
        observed: { goldLogProbability: likelihoods[index]! },
        tokens: { evaluated: 20 + index },
      }),
    );
  expect(checked({ arms, answered: turns([-1, -1, -2, -3]) }).status).not.toBe('failed');
  // Tokens that are evaluated and that no token sees are no effect.
  const dead = turns([-1, -1, -1, -3]);
  expect(line(checked({ arms, answered: dead }))).toBe(
    'failed: no outcome is changed by dki-blocks@context=previous (against dki-blocks)',
  );
  const alike = arms.map(({ making: _, ...arm }) => arm);
  expect(checked({ arms: alike, answered: dead }).evidence).toContain(`do not test ${previous.name} (against`);
});

it('leaves out the twin, and arms that these data do not let differ', () => {
  const arms = [rag, handmadeTraits('rag-twin', { control: 'twin' }), handmadeTraits('full')];
  const answered = askedOfEach(arms, { item: { memories: 2 } });
  expect(line(checked({ arms, answered }))).toBe(
    'undecided: these data do not test full (against rag); 0 arms and settings change an outcome',
  );
  const once = [changedTurn('rag'), changedTurn('dki-blocks', same)];
  expect(checked({ arms: [rag, blocks], answered: once }).status).toBe('undecided');
});

it('is undecided without a baseline, or with nothing else', () => {
  expect(checked({ arms: [dki], answered: askedTwice('dki') }).status).toBe('undecided');
  expect(checked({ answered: askedTwice('dki') }).status).toBe('undecided');
  expect(line(checked({ arms: [rag], answered: askedTwice('rag') }))).toBe(
    'undecided: no arm ran that could be compared with the baseline',
  );
});

it('compares recomputed and parallel blocks with plain ones', () => {
  const arms = [rag, blocks, injecting('dki-link:4', 'link:4'), injecting('dki-parallel', 'parallel')];
  // Both differ from `rag`, and not from what they are to be a variety of.
  expect(line(checked({ arms, answered: askedOfEach(arms) }))).toBe(
    'failed: no outcome is changed by dki-link:4 (against dki-blocks), dki-parallel (against dki-blocks)',
  );
});

it('compares random tokens with those that another rule selects at the same share, where there was a choice', () => {
  const rules = ['first:.3', 'random:.3', 'first:.5'] as const;
  const arms = [rag, blocks, ...rules.map((rule) => injecting(`dki-${rule}`, rule))];
  const turnsWith = (selected: number, logProbability: number) => {
    const account = { selection: { selectable: 9, selected, splices: 1, ms: 1 } };
    const selecting = arms.slice(2).flatMap(({ name }) => {
      const goldLogProbability = name === 'dki-random:.3' ? logProbability : -1;
      return askedTwice(name, { account, observed: { goldLogProbability } });
    });
    return [...askedOfEach([rag, blocks]), ...selecting];
  };
  expect(line(checked({ arms, answered: turnsWith(4, -2) }))).toBe('passed: 5 arms and settings change an outcome');
  // They differ from the blocks, and not from each other.
  expect(line(checked({ arms, answered: turnsWith(4, -1) }))).toBe(
    'failed: no outcome is changed by dki-random:.3 (against dki-first:.3)',
  );
  // Of all tokens each rule takes the same.
  expect(checked({ arms, answered: turnsWith(9, -1) }).status).toBe('passed');
});

it('compares evicting arms with whole ones, and random tokens with other rules, separately for blocks and prefixes', () => {
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
  expect(line(checked({ arms, answered: turns(live) }))).toBe(
    'undecided: these data do not test dki-whole (against dki); 6 arms and settings change an outcome',
  );
  expect(line(checked({ arms, answered: turns({ ...live, 'dki-recent': -3, 'dki-drawn': -4 }) }))).toBe(
    'failed: no outcome is changed by dki-drawn (against dki-long), dki-recent (against dki-blocks)',
  );
});

it('compares a quantised store with the unquantised one by answers and likelihoods', () => {
  const answered = (logProbability: number) =>
    ['rag', 'dki', 'dki@store=q8_0'].flatMap((name, index) =>
      askedTwice(name, { observed: { goldLogProbability: index === 2 ? logProbability : -1 } }),
    );
  const settings = { store: 'q8_0' } as const;
  const arms = [rag, injecting('dki', 'prefix'), injecting('dki@store=q8_0', 'prefix', { base: 'dki', settings })];
  expect(checked({ arms, answered: answered(-1.01) }).status).toBe('passed');
  expect(line(checked({ arms, answered: answered(-1) }))).toBe(
    'failed: no outcome is changed by dki@store=q8_0 (against dki)',
  );
});

it('is undecided about a cache if no set of memories recurs within a repeat, and names the arm', () => {
  const answered = [0, 1].flatMap((repeat) => [
    changedTurn('rag', {}, { repeat }),
    changedTurn('dki', same, { repeat }),
  ]);
  expect(line(checked({ answered }))).toBe(
    'undecided: these data do not test dki (against rag); 0 arms and settings change an outcome',
  );
});

it('is undecided about an α that the other arm has too, and about a budget that drops nothing', () => {
  const one = handmadeTraits('dki@alpha=1', { base: 'dki', settings: { alpha: 1 }, alpha: 1 });
  const alike = [rag, { ...dki, alpha: 1 }, one];
  expect(line(checked({ arms: alike, answered: askedOfEach(alike) }))).toBe(
    'undecided: these data do not test dki@alpha=1 (against dki); 1 arms and settings change an outcome',
  );
  const arms = [rag, handmadeTraits('rag@budget=all', { base: 'rag', settings: { budget: 'all' } })];
  const unbound = askedOfEach(arms, { facts: { droppedMemories: 0 } });
  expect(checked({ arms, answered: unbound }).status).toBe('undecided');
});
