import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { MemorySearchResult } from '../../retrieval/retriever.ts';
import { buildPrompt, type PromptParts, type PromptRules, reserveFor } from './build-prompt.ts';
import { PromptTokenizer, type TokenizingEngine } from './prompt-tokenizer.ts';

/** One token a code point, so that budgets can be counted by hand. */
const engine: TokenizingEngine = {
  info: { bosToken: 0 },
  tokenize: async (texts) => texts.map(({ text }) => Array.from(text, (character) => character.codePointAt(0)!)),
};
const rules: PromptRules = { windowTokens: 400, reserveTokens: 100, placement: 'rank', labels: 'index' };

function memory(memoryId: string, content: string, createdAt = '2026-01-01T00:00:00Z'): MemorySearchResult {
  return { memoryId, content, score: 1, metadata: { createdAt } };
}

/** What user and assistant said in turn. */
const said = (...contents: string[]): PromptParts['history'] =>
  contents.map((content, index) => ({ role: index % 2 === 0 ? 'user' : 'assistant', content }));

/** A prompt of these parts, in a window of 400 tokens of which 100 are reserved. */
function build(parts: Partial<PromptParts> = {}, changes: Partial<PromptRules> = {}, by = engine) {
  const whole = { query: 'Who?', systemPrompt: 'Help.', memories: [], history: [], ...parts };
  return buildPrompt(whole, { ...rules, ...changes }, new PromptTokenizer(by));
}

it('writes header, memories, history, query and footer in this order', async () => {
  const { info, tokenIds, prefixTokens } = await build({
    memories: [memory('a', 'I ski.'), memory('b', 'I row.')],
    history: said('Hi', 'Hello'),
  });
  expect(info.finalPrompt).toBe(
    'System: Help.\n\nRelevant information:\n[1] I ski.\n[2] I row.\n\nPrevious conversation:\nUser: Hi\nAI: Hello\n\nUser: Who?\n\nAI:',
  );
  expect(info.retrievedContext).toBe('Relevant information:\n[1] I ski.\n[2] I row.\n');
  expect(prefixTokens).toBe(1 + 'System: Help.\n\nRelevant information:\n[1] I ski.\n[2] I row.\n'.length);
  expect(tokenIds).toHaveLength(1 + info.finalPrompt.length);
  expect(info.budget.freeTokens).toBe(400 - 100 - tokenIds.length);
});

it('fills more cells than the window has positions where all lines begin at one, and keeps history within both', async () => {
  // 700 − 100 − 31 = 569 cells for memories; of positions a frame of 23 and the longest line alone.
  const memories = ['a', 'b', 'c', 'd', 'e', 'f', 'g'].map((id) => memory(id, id.repeat(75)));
  const history = said('h'.repeat(60));
  const { info, memories: kept } = await build({ memories, history }, { cellTokens: 700 });
  expect(kept).toHaveLength(6);
  expect(info.budget).toMatchObject({ memoryLimitTokens: 569, memoryTokens: 23 + 6 * 80, sharedTokens: 5 * 80 });
  // 66 cells are left, of which a message of 67 tokens and its frame find no place.
  expect(info.historyMessages).toEqual([]);
  expect(info.budget.freeTokens).toBe(400 - 100 - 31 - 23 - 80);
  const larger = await build({ memories, history }, { cellTokens: 900 });
  expect(larger.memories).toHaveLength(7);
  expect(larger.info.historyMessages).toHaveLength(1);
});

it('leaves out the header of an empty part, and the system line of an empty system prompt', async () => {
  const plain = await build();
  expect(plain.info.finalPrompt).toBe('System: Help.\n\nUser: Who?\n\nAI:');
  expect(plain.prefixTokens).toBe(0);
  const bare = await build({ systemPrompt: '', query: '今天天气怎么样？' });
  expect(bare.info.finalPrompt).toBe('User: 今天天气怎么样？\n\nAI:');
  const one = await build({ systemPrompt: '', memories: [memory('a', 'I ski.')] });
  expect(one.info.finalPrompt).toBe('Relevant information:\n[1] I ski.\n\nUser: Who?\n\nAI:');
  const forced = await build({ systemPrompt: '', query: 'q'.repeat(289), memories: [memory('a', 'I ski.')] });
  expect(forced.info.budget.forced).toBe(true);
  expect(forced.info.budget.dropped.map(({ part }) => part)).not.toContain('system');
});

it('stops at the memory that exceeds half of the rest, and skips none', async () => {
  // 300 − 31 fixed = 269; half is 134; frame 23, so 111 for lines of "[3] …\n".
  const prompt = await build({
    memories: [memory('a', 'x'.repeat(60)), memory('b', 'y'.repeat(60)), memory('c', 'z')],
  });
  expect(prompt.info.budget.memoryLimitTokens).toBe(134);
  expect(prompt.memories.map(({ memoryId }) => memoryId)).toEqual(['a']);
  expect(prompt.info.budget.dropped.map(({ id, rule }) => [id, rule])).toEqual([
    ['b', 'memory-budget'],
    ['c', 'memory-budget'],
  ]);
});

it('does not tokenise memories after the first one that does not fit', async () => {
  const counted: string[] = [];
  const counting: TokenizingEngine = {
    info: engine.info,
    tokenize: (requests) => {
      counted.push(...requests.map(({ text }) => text));
      return engine.tokenize(requests);
    },
  };
  const memories = Array.from({ length: 1000 }, (_, index) => memory(`m${index}`, `memory ${index}`));
  const { memories: kept, info } = await build({ memories }, { windowTokens: 2000 }, counting);
  expect(kept.length).toBeGreaterThan(35);
  expect(counted.filter((text) => /memory \d/.test(text)).length).toBeLessThan(140);
  const { dropped } = info.budget;
  expect(dropped).toHaveLength(1000 - kept.length);
  expect(dropped[0]!.tokens).toBe(`[99] memory ${kept.length}\n`.length);
  expect(new Set(dropped.slice(1).map(({ tokens }) => tokens))).toEqual(new Set([null]));
});

it.each([5, 9, 10, 40])('budgets the labels of %d memories as they are written, of ten thousand', async (fitting) => {
  const memories = Array.from({ length: 10_001 }, (_, index) => memory(`m${index}`, 'x'.repeat(40)));
  const frame = 'Relevant information:\n\n'.length;
  const labels = fitting < 10 ? '[9] ' : '[99] ';
  // One token less than another memory takes.
  const cellTokens = 100 + 31 + frame + (fitting + 1) * (labels.length + 41) - 1;
  const { memories: kept } = await build({ memories }, { cellTokens, windowTokens: 4000 });
  expect(kept).toHaveLength(fitting);
});

it('forces no truncation where the first text of a prompt takes a token more, as with SentencePiece', async () => {
  const spacing: TokenizingEngine = {
    info: engine.info,
    tokenize: (texts) => engine.tokenize(texts.map((one) => ({ ...one, text: `${one.first ? ' ' : ''}${one.text}` }))),
  };
  const history = said(...Array.from({ length: 50 }, () => 'Hi'));
  for (let windowTokens = 380; windowTokens < 390; windowTokens++) {
    const { info } = await build({ history }, { windowTokens }, spacing);
    expect([info.budget.forced, info.budget.freeTokens >= 0]).toEqual([false, true]);
  }
});

it('keeps the newest history and reports how much', async () => {
  const history = said(...Array.from({ length: 50 }, (_, index) => `message ${String(index).padStart(2, '0')}`));
  const prompt = await build({ history });
  const kept = prompt.info.historyMessages.length;
  expect(prompt.info.historyMessages.at(-1)).toEqual(history.at(-1));
  expect(prompt.info.historyMessages).toEqual(history.slice(50 - kept));
  expect(prompt.info.budget.warnings).toEqual([`kept ${kept}/50 history messages`]);
  expect(prompt.tokenIds.length).toBeLessThanOrEqual(300);
  // The next older message would not have fitted.
  expect(prompt.info.budget.freeTokens).toBeLessThan('User: message 00\n'.length);
});

it.each([
  ['chronological', 'by creation, then id', ['third', 'second', 'best']],
  ['rank-last', 'the best last', ['third', 'second', 'best']],
  ['rank', 'the best first', ['best', 'second', 'third']],
] as const)('places %s: %s, and renumbers', async (placement, _, contents) => {
  const memories = [memory('b', 'best', '2026-03-01T00:00:00Z'), memory('c', 'second'), memory('a', 'third')];
  const { info } = await build({ memories }, { placement });
  expect(info.retrievedContext).toBe(
    `Relevant information:\n${contents.map((content, index) => `[${index + 1}] ${content}\n`).join('')}`,
  );
});

it('falls back to the query alone if the fixed part is too long', async () => {
  const prompt = await build({
    systemPrompt: 's'.repeat(300),
    memories: [memory('a', 'x')],
    history: said('h'),
  });
  expect(prompt.info.finalPrompt).toBe('User: Who?\nAI:');
  expect(prompt.info).toMatchObject({ systemPrompt: '', retrievedContext: '', historyText: '', historyMessages: [] });
  expect(prompt.info.budget.forced).toBe(true);
  expect(prompt.info.budget.warnings.at(-1)).toContain('forced truncation: 326 tokens > 300');
});

it('is refused if the query alone is too long, or the reserve leaves nothing', async () => {
  await expect(build({ query: 'q'.repeat(500) })).rejects.toThrow(
    'the query alone takes 511 tokens, but the window of 400 leaves only 300 for the prompt',
  );
  await expect(build({}, { reserveTokens: 400 })).rejects.toThrow(
    '--reserve 400: not smaller than the window of 400 tokens',
  );
});

it('never exceeds the window, whatever it is given', async () => {
  const query = fc.string({ unit: 'grapheme', maxLength: 60 });
  const history = fc.array(
    query.map((content) => ({ role: 'user' as const, content })),
    { maxLength: 12 },
  );
  const memories = fc
    .array(query, { maxLength: 12 })
    .map((contents) => contents.map((content, index) => memory(String(index), content)));
  const labelled = fc.constantFrom('index' as const, 'bullet' as const);
  await fc.assert(
    fc.asyncProperty(fc.record({ query, history, memories }), labelled, async (parts, labels) => {
      const { tokenIds, info, memories: kept } = await build(parts, { labels });
      expect(tokenIds.length).toBeLessThanOrEqual(300);
      expect(info.budget.memoryTokens).toBeLessThanOrEqual(info.budget.memoryLimitTokens);
      expect(kept.map(({ memoryId }) => memoryId)).toEqual(kept.map((_, index) => String(index)));
    }),
  );
});

it('reserves 512 tokens, at most a quarter of the window', () => {
  expect([reserveFor(4096), reserveFor(2048), reserveFor(1024)]).toEqual([512, 512, 256]);
});
