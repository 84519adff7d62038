import { describe, expect, it, test } from 'vitest';
import { decodeTokens, generatedText, stableText } from './generated-text.ts';
import type { GenerationLimits } from './engine-session.ts';

/** One byte per token, so that characters outside ASCII are split between tokens. */
const detokenize = (tokens: readonly number[]): string => Buffer.from(tokens).toString('utf8');

/** Decodes a model's output with limits; also returns all texts given to `onToken`. */
async function decoded(text: string, limits: Partial<GenerationLimits> = {}) {
  const told: string[] = [];
  const written = Buffer.from(text).values();
  const nextToken = async (): Promise<IteratorResult<number, void>> => written.next();
  const onToken = (_: number | null, sofar: string): number => told.push(sofar);
  const generated = await decodeTokens(nextToken, { maxTokens: 1000, onToken, ...limits }, detokenize, { start: 0 });
  return { ...generated, count: generated.tokens.length, told };
}

describe('stop texts', () => {
  const chinese = '我喜欢喝茶，'.repeat(20) + '是的';

  test.each([
    // [stop texts, written, answer, why it ended, tokens]
    [['\nUser:'], ' In Oslo.\nUser: thanks', 'In Oslo.', 'stop-text', 15],
    [['\nUser:', '\n\n'], 'a\n\nUser:', 'a', 'stop-text', 3],
    [['\n\n'], '\n\nUser:', '', 'stop-text', 2],
    [['。用户'], `${chinese}。用户：`, chinese, 'stop-text', 3 * (chinese.length + 3)],
    [['\nUser:'], 'User: \nUse', 'User: \nUse', 'end', 10],
    [[], 'anything. Anything\n\n', 'anything. Anything\n\n', 'end', 20],
  ])('%j end %j as soon as one is complete, and are cut off', async (stopTexts, written, text, stop, count) => {
    expect(await decoded(written, { stopTexts })).toMatchObject({ text, stop, count });
  });

  test.each([
    ['In Oslo.', 'In Oslo.'],
    ['In Oslo.\n', 'In Oslo.'],
    ['In Oslo.\nUse', 'In Oslo.'],
    ['In Oslo.\nUsual', 'In Oslo.\nUsual'],
    ['In Oslo\ufffd', 'In Oslo'],
    ['In Oslo\n\ufffd', 'In Oslo'],
  ])('of %j, %j stays whatever comes', (text, stays) => {
    expect(stableText(text, { stopTexts: ['\nUser:', '\n\n'] })).toBe(stays);
  });
});

describe('one sentence', () => {
  const oneSentence = true;

  it.each([
    // [written, answer, why it ended, tokens]
    [' Dr. Dubois. He is', 'Dr. Dubois.', 'sentence', 13],
    [' Dr. Dubois', 'Dr. Dubois', 'end', 11],
    [' Dr. Dubois.', 'Dr. Dubois.', 'end', 12],
    ['At 9 a.m. Monday in Lyon. Yes', 'At 9 a.m. Monday in Lyon.', 'sentence', 26],
    ['At 9 a.m. You know', 'At 9 a.m.', 'sentence', 14],
    ['Lyon\n\nUser: no', 'Lyon', 'sentence', 5],
    ['\nLyon', 'Lyon', 'end', 5],
    ['在里昂。他', '在里昂。', 'sentence', 15],
    ['他说：“里昂。”', '他说：“里昂。”', 'end', 24],
    ['', '', 'end', 0],
  ])('of %j is %j', async (written, text, stop, count) => {
    const limits = { oneSentence, stopTexts: ['\n\n'] };
    expect(await decoded(written, limits)).toMatchObject({ text, stop, count, thoughtTokens: 0 });
    // Cut from the whole text, as for engines that do not stream.
    expect(generatedText(written, limits, true).text).toBe(text);
  });

  it('is cut at the limit of tokens too, where the limit comes before the end is known', async () => {
    const written = 'At 9 a.m. You know.';
    expect(await decoded(written, { oneSentence, maxTokens: 13 })).toMatchObject({ text: 'At 9 a.m.', stop: 'length' });
    expect(await decoded(written, { oneSentence, maxTokens: 5 })).toMatchObject({ text: 'At 9 ', stop: 'length' });
  });

  it('is streamed as it grows, and never more than the final text', async () => {
    const texts = [
      'At 9 a.m. You know',
      'J. The end',
      'J. Then. Yes',
      '里昂。”他说',
      'Lyon  \nParis',
      'Well... no. So',
    ];
    for (const written of texts) {
      const { text, told } = await decoded(written, { oneSentence });
      for (const sofar of told) expect([written, text.startsWith(sofar), sofar]).toEqual([written, true, sofar]);
      expect(told.at(-1)).toBe(text);
    }
  });
});

test('a limit in the middle of a character leaves the character out', async () => {
  for (let maxTokens = 1; maxTokens <= 13; maxTokens++) {
    const { text } = await decoded('在 里昂 😀', { maxTokens });
    expect('在 里昂 😀'.startsWith(text)).toBe(true);
    expect(text).not.toContain('\ufffd');
  }
});

test('an abort while the next token is awaited keeps the text so far; other errors are thrown', async () => {
  const reason = new Error('stopped');
  const failing = (error: Error) => {
    const controller = new AbortController();
    const written = Buffer.from('In').values();
    const nextToken = async (): Promise<IteratorResult<number, void>> => {
      const next = written.next();
      if (next.done !== true) return next;
      controller.abort(reason);
      throw error;
    };
    return decodeTokens(nextToken, { maxTokens: 9 }, detokenize, { signal: controller.signal, start: 0 });
  };
  expect(await failing(reason)).toMatchObject({ text: 'In', stop: 'aborted', tokens: [...Buffer.from('In')] });
  await expect(failing(new Error('broken'))).rejects.toThrow('broken');
});

describe('a thought', () => {
  const written = '<think>\nOslo? No.\n\nLyon.\n</think>\n\nIn Lyon. Yes.';

  it('is cut off and counted, and stop texts within it do not end the answer', async () => {
    const limits = { oneSentence: true, stopTexts: ['\n\n'] };
    const answer = await decoded(written, { oneSentence: true });
    const thoughtTokens = written.indexOf('</think>') + '</think>'.length;
    expect(answer).toMatchObject({ text: 'In Lyon.', stop: 'sentence', thoughtTokens });
    expect(answer.told.every((sofar) => answer.text.startsWith(sofar))).toBe(true);
    expect(generatedText(written.replace('>\n\nIn', '>In'), limits, true)).toMatchObject({ text: 'In Lyon.' });
  });

  it('that is never closed leaves no answer', async () => {
    expect(await decoded(written, { maxTokens: 20 })).toMatchObject({ text: '', stop: 'length', thoughtTokens: 20 });
  });

  it('counts only at the beginning', async () => {
    expect(await decoded('Lyon <think>x</think>')).toMatchObject({ text: 'Lyon <think>x</think>', thoughtTokens: 0 });
    expect(await decoded('<thin')).toMatchObject({ text: '<thin', thoughtTokens: 0 });
  });
});
