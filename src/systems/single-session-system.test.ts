import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { foundMemories, openParts } from '../../scripts/open-parts.ts';
import { fakeAdapter } from '../../test/fixtures/fake-engine/fake-adapter.ts';
import { BenchError } from '../base/bench-error.ts';
import { grammars } from '../base/english-and-chinese-wordings.ts';
import type { PromptText } from '../config/bench-config.ts';
import { type BenchDatabase, openDatabase } from '../store/database.ts';
import type { HistoryMessage } from '../store/records/prompt-info.ts';
import type { MemorySearchResult } from '../retrieval/retriever.ts';
import type { ChatRequest } from './memory-system.ts';
import { ConversationLog } from './conversation-log.ts';
import { RAGSystem } from './rag-system.ts';
import { answerLimits, answerRecord, type OpenEngine, type SystemParts } from './answer-turn.ts';

let opened: OpenEngine;
let database: BenchDatabase;
let parts: SystemParts;

beforeAll(async () => {
  const engine = await fakeAdapter.opener({}).open({ model: 'fake' });
  opened = { engine, session: await engine.openSession('turns') };
});
afterAll(async () => opened.engine[Symbol.asyncDispose]());
beforeEach(() => {
  database = openDatabase({ path: ':memory:' });
  parts = openParts(opened, database);
});

const dog: MemorySearchResult = { memoryId: 'm1', content: 'My dog is called Brenko.', score: 0.9, metadata: {} };
const request: ChatRequest = {
  query: 'What is my dog called?',
  sessionId: 's',
  userId: 'ann',
  maxNewTokens: 4,
  retrieved: foundMemories([dog]),
};
const roles = ['user', 'assistant'] as const;
const messages = (count: number): HistoryMessage[] =>
  Array.from({ length: count }, (_, index) => ({ role: roles[index % 2]!, content: `message ${index}` }));

it('traces the turn that it made: retrieved memories, suffix, account, answer', async () => {
  await using system = new RAGSystem(parts);
  const retrieved = { memories: [dog], elapsedMs: 3, record: null };
  const { trace, promptInfo, tokens, timings, text } = await system.chat({ ...request, retrieved });
  const ids = promptInfo.segments.flatMap(({ tokenIds }) => tokenIds);
  expect(trace).toMatchObject({ retrieved: [dog], retrieval: null, prefill: null, gating: null, prefixPositions: 0 });
  expect(trace.suffix).toEqual(ids);
  expect(trace.sessionTokens).toEqual(ids);
  expect(trace.account).toEqual({
    cache: 'bypass',
    evaluated: ids.length,
    ...{ built: 0, recomputed: 0, gate: 0, resident: 0 },
    positions: ids.length,
    sharesPositions: false,
  });
  expect(trace.answer).toMatchObject({ text, stop: 'length' });
  expect(trace.answer.tokenIds).toHaveLength(4);
  expect(tokens).toEqual({
    ...{ prompt: ids.length, kvResident: 0, evaluated: ids.length },
    ...{ generated: 4, positions: ids.length },
  });
  expect(timings).toMatchObject({ retrieve: 3, gate: 0, kvLoad: 0, kvCompute: 0 });
  expect(timings.firstToken).toBeCloseTo(3 + timings.assemble + timings.prefill, 6);
});

it('takes the newest turns of history from the request, or else from the log', async () => {
  await using system = new RAGSystem(parts);
  const shown = async (changes: Partial<ChatRequest>) =>
    (await system.chat({ ...request, ...changes })).promptInfo.historyMessages.map(({ content }) => content);
  const newest = ['message 2', 'message 3', 'message 4', 'message 5'];
  expect(await shown({ history: messages(6), maxHistoryTurns: 2 })).toEqual(newest);
  expect(await shown({ history: messages(6), maxHistoryTurns: 0 })).toEqual([]);
  expect(await shown({ history: messages(6), includeHistory: false })).toEqual([]);
  expect(await shown({ history: messages(30) })).toHaveLength(30);
  new ConversationLog(database).seed('said', 'ann', messages(3));
  expect(await shown({ sessionId: 'said' })).toEqual(['message 0', 'message 1', 'message 2']);
  expect(await shown({ sessionId: 'said', history: [] })).toEqual([]);
});

it("says the instruction in the user's language, in the turn's own words, or not at all", async () => {
  const asked = async (changes: Partial<ChatRequest>, systemPrompt?: PromptText) => {
    const rules = systemPrompt === undefined ? parts.rules : { ...parts.rules, systemPrompt };
    await using system = new RAGSystem({ ...parts, rules });
    const { systemPrompt: said, finalPrompt } = (await system.chat({ ...request, history: [], ...changes })).promptInfo;
    expect(finalPrompt.startsWith(said === '' ? 'Relevant information' : `System: ${said}\n`)).toBe(true);
    return said;
  };
  const both = { en: 'Help.', zh: '帮助。' };
  expect(await asked({}, both)).toBe('Help.');
  expect(await asked({ query: '我的狗叫什么？' }, both)).toBe('帮助。');
  expect(await asked({ language: 'zh' }, both)).toBe('帮助。');
  expect(await asked({ query: '我的狗叫什么？', language: 'en' }, both)).toBe('Help.');
  expect(await asked({ language: 'zh' }, 'Be brief.')).toBe('Be brief.');
  expect(await asked({ systemPrompt: 'Mine.' }, both)).toBe('Mine.');
  expect(await asked({ systemPrompt: '' }, both)).toBe('');
  expect(await asked({}, '')).toBe('');
  expect(await asked({ language: 'zh' })).toBe(grammars.zh.systemPrompts[0]);
});

it("writes the line above the memories in the user's language", async () => {
  const memoryHeader = { en: 'Notes:', zh: '笔记：' };
  await using system = new RAGSystem({ ...parts, rules: { ...parts.rules, memoryHeader } });
  const context = async (language: string) =>
    (await system.chat({ ...request, history: [], language })).promptInfo.retrievedContext.split('\n')[0];
  expect([await context('en'), await context('zh'), await context('de')]).toEqual(['Notes:', '笔记：', 'Notes:']);
});

it('drops history by the budget, and by a limit only where one is set: the prompt counts what each dropped', async () => {
  await using limited = new RAGSystem({ ...parts, rules: { ...parts.rules, historyTurns: 3 } });
  const rulesOf = async (system: RAGSystem, changes: Partial<ChatRequest>) => {
    const { budget, historyMessages } = (await system.chat({ ...request, ...changes })).promptInfo;
    const dropped = budget.dropped.filter(({ part }) => part === 'history');
    expect(dropped.map(({ id }) => id)).toEqual(dropped.map((_, index) => String(index + 1)));
    expect(dropped.every(({ tokens }) => tokens !== null && tokens > 0)).toBe(true);
    const of = (rule: string) => dropped.filter((part) => part.rule === rule).length;
    return { kept: historyMessages.length, byLimit: of('history-turns'), byBudget: of('history-budget') };
  };
  expect(await rulesOf(limited, { history: messages(30) })).toEqual({ kept: 6, byLimit: 24, byBudget: 0 });
  const raised = await rulesOf(limited, { history: messages(30), maxHistoryTurns: 20 });
  expect(raised).toEqual({ kept: 30, byLimit: 0, byBudget: 0 });
  const reserveTokens = opened.engine.info.contextTokens - 300;
  await using system = new RAGSystem({ ...parts, rules: { ...parts.rules, reserveTokens } });
  const { kept, byLimit, byBudget } = await rulesOf(system, { history: messages(200) });
  expect({ byLimit, byBudget }).toEqual({ byLimit: 0, byBudget: 200 - kept });
  expect(kept).toBeGreaterThan(0);
});

it('logs the turn, or nothing without a log', async () => {
  const log = new ConversationLog(database);
  await using silent = new RAGSystem({ ...parts, log: null });
  await silent.chat(request);
  expect(log.history('s', 10)).toEqual([]);
  await using system = new RAGSystem(parts);
  const { text } = await system.chat(request);
  expect(log.history('s', 10)).toEqual([
    { role: 'user', content: request.query },
    { role: 'assistant', content: text },
  ]);
});

it('tries again to open its engine after a failure', async () => {
  let failures = 1;
  const open = async (): Promise<OpenEngine> => {
    if (failures-- > 0) throw new BenchError('not-found', 'no such model', 'name another');
    return opened;
  };
  await using system = new RAGSystem({ ...parts, open });
  await expect(system.chat(request)).rejects.toThrow('no such model');
  expect(system.getStats().model).toBeNull();
  expect((await system.chat(request)).trace.answer.tokenIds).toHaveLength(4);
  expect(system.getStats().model).toMatchObject({ engine: 'fake' });
});

it('streams the text so far, which becomes the answer if the turn is aborted', async () => {
  await using system = new RAGSystem(parts);
  const texts: string[] = [];
  const controller = new AbortController();
  const onText = (text: string): void => {
    texts.push(text);
    if (texts.length === 2) controller.abort();
  };
  const { text, trace } = await system.chat({ ...request, maxNewTokens: 9, onText, signal: controller.signal });
  expect(trace.answer.stop).toBe('aborted');
  expect(trace.answer.tokenIds).toHaveLength(2);
  expect(texts).toHaveLength(2);
  expect(text.startsWith(texts[0]!)).toBe(true);
});

it('generates 48 tokens by default, and never more than the reserve', () => {
  const form = { stopTexts: ['\n'] };
  expect(answerLimits(form, 512)).toEqual({ maxTokens: 48, stopTexts: ['\n'], oneSentence: true, temperature: 0 });
  expect(answerLimits(form, 16)).toMatchObject({ maxTokens: 16 });
  const asked = { maxNewTokens: 9, temperature: 0.5 };
  expect(answerLimits(form, 16, asked)).toMatchObject({ maxTokens: 9, temperature: 0.5 });
});

it('limits the requested tokens to the reserve, with a warning that names both numbers', async () => {
  const warned: string[] = [];
  const rules = { ...parts.rules, reserveTokens: 5 };
  await using system = new RAGSystem({ ...parts, rules, warn: (message) => warned.push(message) });
  const { promptInfo, trace } = await system.chat({ ...request, maxNewTokens: 600 });
  expect(trace.answer.tokenIds.length).toBeLessThanOrEqual(5);
  const warning = 'maxNewTokens 600 is above the reserve: the answer ends after 5 tokens';
  expect([promptInfo.budget.warnings, warned]).toEqual([[warning], [warning]]);
  await system.chat({ ...request, maxNewTokens: 5 });
  expect(warned).toEqual([warning]);
});

it('gives the model the beginning of its answer, which the reader sees but metrics do not', async () => {
  const general = 'According to your notes,';
  const asked = async (use: 'none' | 'general' | 'item', answerPrefix?: string) => {
    const rules = { ...parts.rules, answerPrefix: { general, use } };
    await using system = new RAGSystem({ ...parts, rules });
    const told: string[] = [];
    const onText = (text: string): number => told.push(text);
    const more = answerPrefix === undefined ? {} : { answerPrefix };
    const sessionId = `${use} ${answerPrefix}`;
    return { ...(await system.chat({ ...request, ...more, sessionId, maxNewTokens: 8, onText })), told };
  };
  const bare = await asked('none', 'You like');
  expect(bare.text).toBe(bare.trace.answer.text);
  expect(bare.trace.answer).not.toHaveProperty('prefix');

  const { text, trace, promptInfo, tokens, told } = await asked('general', 'You like');
  const last = promptInfo.segments.at(-1)!;
  expect([last.role, last.text]).toEqual(['answerPrefix', ` ${general}`]);
  expect(trace.opening).toEqual({ form: 'plain', prefix: general, prefixTokens: last.tokenIds.length });
  expect(tokens.evaluated - bare.tokens.evaluated).toBe(last.tokenIds.length);
  expect(text).toBe(trace.answer.prefix! + trace.answer.text);
  expect(trace.answer.prefix!.trimEnd()).toBe(general);
  expect(told.every((sofar) => sofar.startsWith(general))).toBe(true);
  const history = parts.log!.history('general You like', 1);
  expect(history).toEqual([{ role: 'assistant', content: text }]);

  expect((await asked('item', 'You like')).text.startsWith('You like')).toBe(true);
  expect((await asked('item')).text.startsWith(general)).toBe(true);
});

it('counts the tokens of a thought, if there was one', () => {
  const tokens = [1, 2, 3, 4];
  const answer = { text: 'Lyon', stop: 'end' } as const;
  const generation = { ...answer, tokens, firstTokenMs: 1, decodeMs: 1, retries: [] };
  const recorded = { ...answer, tokenIds: tokens };
  expect(answerRecord({ ...generation, thoughtTokens: 3 }, '')).toEqual({ ...recorded, thoughtTokens: 3 });
  const behind = answerRecord({ ...generation, thoughtTokens: 0 }, 'You moved to');
  expect(behind).toEqual({ ...recorded, prefix: 'You moved to ' });
});
