import { expect, test } from 'vitest';
import { ServerErrors } from '../http/server-errors.ts';
import { AnswerStream } from './v1-generation.ts';
import { type Completion, completionShape } from './prompt-sender.ts';

const ENDS = [2];

async function* eventsOf(chunks: readonly object[]): AsyncGenerator<Completion, void> {
  for (const chunk of chunks) yield completionShape.parse(chunk);
}

const chunk = (text: string, more: object = {}) => ({ choices: [{ text, finish_reason: null, ...more }] });
const usage = (completion_tokens: number) => ({ choices: [], usage: { prompt_tokens: 7, completion_tokens } });

/** Ids and text of an answer, and whether the server ended it. */
async function read(chunks: readonly object[]): Promise<[ids: readonly number[], text: string, isWhole: boolean]> {
  const stream = new AnswerStream(eventsOf(chunks), ENDS, {
    maxTokens: 4,
    errors: new ServerErrors({ url: 'http://server', program: 'it' }),
  });
  const ids: number[] = [];
  for (let next = await stream.next(); next.done !== true; next = await stream.next()) ids.push(next.value);
  return [ids, stream.detokenize(ids), stream.isWhole];
}

const first = chunk('a', { token_ids: [11] });

test('ids next to the text, without the end token', async () => {
  const last = chunk(' b', { token_ids: [12, 2], finish_reason: 'stop' });
  expect(await read([first, last, usage(3)])).toEqual([[11, 12], 'a b', true]);
  const alone = chunk('', { token_ids: [2], finish_reason: 'stop', stop_reason: 2 });
  expect(await read([first, alone, usage(2)])).toEqual([[11], 'a', true]);
});

test('an answer that ends at a stop text keeps its last token; one without a finish reason is incomplete', async () => {
  const last = chunk('.', { token_ids: [13], finish_reason: 'stop', stop_reason: '.' });
  expect(await read([first, last, usage(2)])).toEqual([[11, 13], 'a.', true]);
  expect(await read([first])).toEqual([[11], 'a', false]);
});

test('several tokens in one event, and text that is held back', async () => {
  const chunks = [
    chunk('', { token_ids: [11] }),
    chunk('é', { token_ids: [12] }),
    chunk('xy', { token_ids: [13, 14] }),
  ];
  const last = chunk('z', { token_ids: [], finish_reason: 'length' });
  expect(await read([...chunks, last, usage(4)])).toEqual([[11, 12, 13, 14], 'éxyz', true]);
});

test('ids among log-probabilities; those that the server counted and did not list are unknown', async () => {
  const listed = (text: string, id: number, predicted_n: number) => ({
    ...chunk(text, { logprobs: { content: [{ id, logprob: -1, top_logprobs: [] }] } }),
    timings: { cache_n: 0, prompt_n: 7, predicted_n },
  });
  const chunks = [listed('a', 11, 1), listed('é', 13, 3), chunk('', { finish_reason: 'stop' }), usage(4)];
  expect(await read(chunks)).toEqual([[11, -1, 13], 'aé', true]);
});

test('no ids: one token per event, and as many as the server counted', async () => {
  const chunks = [chunk('one'), chunk(' two'), chunk('', { finish_reason: 'length' }), usage(4)];
  expect(await read(chunks)).toEqual([[-1, -1, -1, -1], 'one two', true]);
});

test('more tokens than requested are refused, whether counted or sent', async () => {
  const why = 'tokens, more than the requested limit of 4';
  await expect(read([first, usage(1e9)])).rejects.toThrow(`http://server: it answers with 1000000000 ${why}`);
  const counted = { ...first, timings: { cache_n: 0, prompt_n: 7, predicted_n: 1e9 } };
  await expect(read([counted])).rejects.toThrow(why);
  await expect(read([first, chunk('', { token_ids: Array(9).fill(11) })])).rejects.toThrow(`10 ${why}`);
});
