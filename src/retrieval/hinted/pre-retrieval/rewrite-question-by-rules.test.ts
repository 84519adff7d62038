import { describe, expect, test } from 'vitest';
import { validateQuestion } from './pre-retrieval.ts';
import {
  decomposeQuestion,
  expandQuestion,
  extractKeywords,
  rewriteQuestion,
  shortenQuestion,
} from './rewrite-question-by-rules.ts';

describe('keywords', () => {
  test.each([
    ["What is my sister's dog called?", ['sister', 'dog']],
    ['Do you remember it?', []],
    ["Where's the KX-2041, please?", ['kx-2041']],
    ['我姐姐的狗叫什么名字？', ['姐姐', '狗']],
    ['我住在哪里？', ['住']],
  ])('%s', (question, keywords) => {
    expect(extractKeywords(question)).toEqual(keywords);
  });

  test('are extracted up to a number; a question without any is unchanged', () => {
    expect(shortenQuestion('Which red boat in Oslo has a sail?', 2)).toBe('red boat');
    expect(shortenQuestion('What was that?', 5)).toBe('What was that?');
  });
});

describe('optimize', () => {
  test('expand adds synonyms in both languages', () => {
    expect(expandQuestion('Who is my boss?')).toBe('Who is my boss? manager 老板 上司');
    expect(expandQuestion('我的上司是谁？')).toBe('我的上司是谁？ boss manager 老板');
    expect(expandQuestion('Where is the zeppelin?')).toBe('Where is the zeppelin?');
  });

  test.each([
    ["Can you tell me what's my dog called?", 'what is my dog called?'],
    ['Please remind me of my birthday.', 'my birthday.'],
    ['Do you recall it? What colour is my car?', 'it? What colour is my car?'],
    ['请告诉我，我住在哪里？', '我住在哪里？'],
    ['Please tell me.', 'Please tell me.'],
    ['Tell Melissa where the boat is', 'Tell Melissa where the boat is'],
    ["somewhat's else", "somewhat's else"],
    ['İ WHAT’S up with Oslo', 'İ what is up with Oslo'],
  ])('rewrite: %s', (question, rewritten) => {
    expect(rewriteQuestion(question)).toBe(rewritten);
  });
});

describe('decompose', () => {
  test.each([
    ['What is my dog called?', ['What is my dog called?']],
    ['Where is my car and what is its colour?', ['Where is my car', 'what is its colour?']],
    ['Where do I live? Who is my boss?', ['Where do I live?', 'Who is my boss?']],
    ['Do you recall it? Where is my boat?', ['Where is my boat?']],
    ['我住在哪里？我的狗叫什么？', ['我住在哪里？', '我的狗叫什么？']],
    ['我住在哪里，还有我的猫叫什么', ['我住在哪里', '我的猫叫什么']],
    ['Do you remember?', ['Do you remember?']],
    ['I like salt and whatever comes.', ['I like salt and whatever comes.']],
  ])('%s', (question, parts) => {
    expect(decomposeQuestion(question)).toEqual(parts);
  });

  test('five parts at most', () => {
    expect(decomposeQuestion('boat? '.repeat(50))).toHaveLength(5);
  });
});

describe('validate', () => {
  test.each([
    ['  my\u0000 dog \n\t called ', { question: 'my dog called' }],
    ['caf\u0065\u0301', { question: 'café' }],
    ['\ud800ab', { question: 'ab' }],
    ['', { question: '', invalid: 'the question is empty' }],
    [' \u0007 ', { question: '', invalid: 'the question is empty' }],
    ['?', { question: '?', invalid: 'the question has 1 characters, 2 are needed' }],
    ['狗'.repeat(20), { question: '狗'.repeat(20) }],
    ['𠀀'.repeat(21), { question: '𠀀'.repeat(21), invalid: 'the question has 21 characters, 20 are allowed' }],
  ])('%j', (question, result) => {
    expect(validateQuestion(question, { min_length: 2, max_length: 20 })).toEqual(result);
  });
});
