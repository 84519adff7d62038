import { describe, expect, test } from 'vitest';
import { locomoF1 } from './locomo-f1.ts';
import { scoreTurn } from './score-turn.ts';

describe('LoCoMo\u2019s own F1, by hand', () => {
  test.each([
    // Stems {plant, tulip} of both.
    ['She planted tulips', 'planting a tulip', 'single-hop', (2 * 2) / (3 + 2)],
    ['tulips.', 'Tulip', 'single-hop', 1],
    // "and" and articles do not count, punctuation goes: {bread, chees} twice.
    ['the bread and a cheese', 'bread, cheese', 'single-hop', 1],
    ['1,200 boats', '1200 boat', 'temporal', 1],
    // A word counts as often as the gold has it.
    ['boat boat boat', 'boat', 'open-domain', 2 / 4],
    ['a kite', 'boat', 'temporal', 0],
    ['', 'boat', 'single-hop', 0],
    // Only articles are left: nothing to compare.
    ['the', 'the', 'single-hop', 0],
  ])('%j against %j, %s', (answer, gold, category, expected) => {
    expect(locomoF1(answer, [gold], category)).toBeCloseTo(expected, 12);
  });

  test('parts of a multi-hop gold are averaged, each with the part of the answer that fits it best', () => {
    const gold = 'a red kite, two boats, Turin';
    // 1, 1 and 0; the order does not count, and a part may serve twice.
    expect(locomoF1('boats two, kite red', [gold], 'multi-hop')).toBeCloseTo((1 + 1 + 0) / 3, 12);
    // {red, kite} of {red, kite, in, turin}: 2·2 ÷ 6; {turin}: 2·1 ÷ 5.
    expect(locomoF1('red kite in Turin', [gold], 'multi-hop')).toBeCloseTo(((2 * 2) / 6 + 0 + (2 * 1) / 5) / 3, 12);
    expect(locomoF1('red kite in Turin', [gold], 'single-hop')).toBeCloseTo((2 * 3) / (4 + 5), 12);
  });

  test('the best of several golds counts', () => {
    expect(locomoF1('two boats', ['kite', 'boats'], 'single-hop')).toBeCloseTo(2 / 3, 12);
    expect(locomoF1('two boats', ['kite', 'two boats, kite'], 'multi-hop')).toBeCloseTo(1 / 2, 12);
  });

  test('an adversarial question is declined by phrase', () => {
    expect(locomoF1('That is Not Mentioned anywhere.', [], 'adversarial')).toBe(1);
    expect(locomoF1('No information available', [], 'adversarial')).toBe(1);
    expect(locomoF1("I don't know.", [], 'adversarial')).toBe(0);
  });
});

describe('the score of a turn', () => {
  const profile = { language: 'en', unknownAnswer: "I don't know." } as const;
  const item = { query: 'What?', answer: 'a kite, boats', acceptedAnswers: [], superseded: [], history: [] };
  const turn = { storedIds: ['m'], retrievedIds: [], keptIds: [], shown: [] };
  const scored = (answer: string, changes: object, success: string) =>
    scoreTurn({ ...item, evidence: ['m'], category: 'multi-hop', ...changes }, { ...turn, answer }, profile, {
      metric: success,
      version: 2,
    });

  test('is LoCoMo\u2019s if the data name it, also for absent items, and decides; null for other data', () => {
    expect(scored('boat', {}, 'locomoF1')).toMatchObject({ locomoF1: 0.5, taskSuccess: 0.5, abstention: null });
    const absent = { answer: null, evidence: [], category: 'adversarial' };
    expect(scored('Not mentioned.', absent, 'locomoF1')).toMatchObject({ locomoF1: 1, taskSuccess: 1 });
    expect(scored("I don't know.", absent, 'locomoF1')).toMatchObject({ locomoF1: 0, taskSuccess: 0, abstention: 1 });
    expect(scored('boat', {}, 'tokenF1').locomoF1).toBeNull();
  });
});
