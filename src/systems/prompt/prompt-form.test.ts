import { describe, expect, it } from 'vitest';
import { answerLead, chooseAnswerPrefix, answerPrefixSegments, withPrefix } from './prompt-form.ts';

const general = 'According to your notes,';

describe('the prefix of an answer', () => {
  it.each([
    ['none', 'You moved to', ''],
    ['general', 'You moved to', general],
    ['item', 'You moved to', 'You moved to'],
    ['item', undefined, general],
    ['item', null, general],
  ] as const)('by the rule %s, of an item with %j, is %j', (use, own, prefix) => {
    expect(chooseAnswerPrefix({ general, use }, own, { query: '' })).toBe(prefix);
  });

  it("is in the user's language, else in that of the question", () => {
    const rule = { general: { en: 'You said', zh: '你说' }, use: 'general' } as const;
    expect(chooseAnswerPrefix(rule, null, { query: 'Where?' })).toBe('You said');
    expect(chooseAnswerPrefix(rule, null, { query: '在哪里？' })).toBe('你说');
    expect(chooseAnswerPrefix(rule, null, { query: '在哪里？', language: 'de' })).toBe('You said');
  });

  it('has no trailing white space, which would be a token of its own', () => {
    expect(chooseAnswerPrefix({ general, use: 'item' }, ' You moved to \n', { query: '' })).toBe('You moved to');
    expect(chooseAnswerPrefix({ general: '  ', use: 'general' }, null, { query: '' })).toBe('');
  });

  it('is one line of text, a word away from "AI:" and right behind a chat template', () => {
    expect(answerPrefixSegments('plain', 'You\nmoved to')).toEqual([{ role: 'answerPrefix', text: ' You moved to' }]);
    expect(answerPrefixSegments('chat', 'You moved to')).toEqual([{ role: 'answerPrefix', text: 'You moved to' }]);
    expect(answerPrefixSegments('chat', '')).toEqual([]);
  });
});

describe('the space in front of an answer', () => {
  it.each([
    ['plain', '', 'Lyon', ' '],
    ['plain', '', '里昂', ' '],
    ['chat', '', 'Lyon', ''],
    ['plain', 'You moved to', 'Lyon', ' '],
    ['chat', 'You moved to', 'Lyon', ' '],
    ['chat', general, 'Lyon', ' '],
    ['chat', '根据您的笔记，', '您住在里昂', ''],
    ['chat', '您搬到了', '里昂', ''],
    ['chat', '您搬到了', 'Lyon', ''],
    ['chat', 'You moved to', '里昂', ''],
    ['chat', 'It costs $', '4.50', ''],
    ['chat', 'Your code is A-', '17', ''],
    ['chat', 'He said "', 'Lyon', ''],
    ['chat', 'The "old" town is "', 'Lyon', ''],
    ['chat', 'After "Hi"', 'he left', ' '],
    ['chat', 'Your dentist is Dr', '. Dubois', ''],
  ] as const)('in the %s form behind %j, %j, is %j', (form, prefix, answer, lead) => {
    expect(answerLead(form, prefix, answer)).toBe(lead);
  });

  it('shows between prefix and answer', () => {
    expect(withPrefix(general, 'it is Lyon.')).toBe('According to your notes, it is Lyon.');
    expect(withPrefix('', 'It is Lyon.')).toBe('It is Lyon.');
    expect(withPrefix(general, '')).toBe(general);
  });
});
