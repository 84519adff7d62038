import { expect, it } from 'vitest';
import { handmadeTraits } from '../../../../test/fixtures/arm-traits.ts';
import { askedTwice, bothTwice, type Changes, checkInput, line } from '../../../../test/fixtures/check-input.ts';
import { negativeControls } from './negative-controls.ts';
import { sameMemories } from './same-memories.ts';

const memories = {
  ...{ given: 3, shown: 2, own: 2, holdsGold: true },
  ...{ foreign: [], altered: [], missing: [], hidden: [], elsewhere: [] },
};

const observed = { memories };
const ofDki = (changes: Changes) =>
  sameMemories(checkInput({ answered: bothTwice({ observed, ...changes }, { observed }) }));

it('passes where every arm shows what it was given', () => {
  expect(line(ofDki({}))).toBe('passed: 4 turns show what they were given, 2 of them the memories of their reference');
});

it.each(['foreign', 'altered', 'missing', 'hidden', 'elsewhere', 'misplaced'] as const)(
  'fails for memories that are %s',
  (list) => {
    expect(line(ofDki({ observed: { memories: { ...memories, [list]: ['m-9'] } } }))).toMatch(/^failed: .*dki on i-1/);
  },
);

it('fails for an arm that shows other memories than its reference, but not for a gated arm that was given none', () => {
  expect(ofDki({ facts: { memoryIds: ['m-1'] } }).status).toBe('failed');
  expect(ofDki({ facts: { memoryIds: ['m-2', 'm-1'] } }).status).toBe('passed');
  const none = { facts: { memoryIds: [] }, observed: { memories: { ...memories, given: 0, shown: 0 } } };
  expect(ofDki(none).status).toBe('passed');
});

it.each([
  ['each', ['altered'], ['foreign', 'missing', 'hidden', 'elsewhere']],
  ['together', ['altered', 'missing'], ['foreign', 'hidden', 'elsewhere']],
] as const)('judges an arm that rewords memories, %s, by ids', (rewords, allowed, refused) => {
  const arms = checkInput().arms.map((arm) => (arm.name === 'dki' ? { ...arm, rewords } : arm));
  const check = (list: string) => {
    const ofReworded = { memories: { ...memories, [list]: ['m-9'] } };
    const answered = bothTwice({ observed: ofReworded, facts: { memoryIds: ['m-1'] } }, { observed });
    return line(sameMemories(checkInput({ arms, answered })));
  };
  const evidence = '4 turns show what they were given, 2 of them in other words, as their arms declare';
  for (const list of allowed) expect(check(list)).toContain(`passed: ${evidence}`);
  for (const list of refused) expect(check(list)).toMatch(/^failed: .*dki on i-1/);
});

it('lets an arm that selects memories leave some out, and nothing else', () => {
  const arms = checkInput().arms.map((arm) => (arm.name === 'dki' ? { ...arm, selects: true as const } : arm));
  const check = (list: string) => {
    const ofSelected = { memories: { ...memories, [list]: ['m-9'] } };
    const answered = bothTwice({ observed: ofSelected, facts: { memoryIds: ['m-1'] } }, { observed });
    return line(sameMemories(checkInput({ arms, answered })));
  };
  expect(check('missing')).toContain(
    'passed: 4 turns show what they were given, 2 of them a selection of it, as their',
  );
  for (const list of ['foreign', 'altered', 'hidden', 'elsewhere'])
    expect(check(list)).toMatch(/^failed: .*dki on i-1/);
});

it('is undecided if the memories of no turn were compared', () => {
  expect(sameMemories(checkInput()).status).toBe('undecided');
});

it("a control that holds the asker's own memories, an answer, or more than the baseline has, fails on any item", () => {
  const wrong = handmadeTraits('dki-wrong', { control: 'negative', retrieves: 'donor', injects: 'memories' });
  const control = (changes: Partial<typeof memories>) => {
    const theirs = { memories: { ...memories, own: 0, holdsGold: false, ...changes } };
    const answered = [...askedTwice('rag', { observed }), ...askedTwice('dki-wrong', { observed: theirs })];
    return negativeControls(checkInput({ arms: [...checkInput().arms, wrong], answered, randomWeights: true })).status;
  };
  expect(control({})).toBe('undecided');
  expect(control({ own: 1 })).toBe('failed');
  expect(control({ holdsGold: true })).toBe('failed');
  expect(control({ given: 4 })).toBe('failed');
});
