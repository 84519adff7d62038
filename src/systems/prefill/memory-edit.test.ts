import { afterAll, describe, expect, it } from 'vitest';
import { realEngine } from '../../../test/fixtures/engines.ts';
import { openFakeEngine } from '../../../test/fixtures/fake-engine/fake-engine.ts';
import { replacing } from '../../../test/fixtures/replacing.ts';
import { lastExactCut } from '../../engine/engine-capabilities.ts';
import type { Engine } from '../../engine/engine.ts';
import { cutCells } from '../../kv/cut-cells.ts';
import { joinBlocks } from '../../kv/join-blocks.ts';
import { kvOperations } from '../../kv/kv-operations.ts';
import { type EditWay, editWays } from '../../store/records/suite-measurements.ts';
import { requireCells } from '../../engine/engine-capabilities.ts';
import { buildPrompt, type PromptRules } from '../prompt/build-prompt.ts';
import { PromptTokenizer } from '../prompt/prompt-tokenizer.ts';
import { applyEdit, findValue, type MemoryEdit, storeMemories } from './memory-edit.ts';

const rules: PromptRules = { windowTokens: 600, reserveTokens: 50, placement: 'rank', labels: 'index', memoryShare: 1 };
const others = ['My brother asked for tea in the evening.', 'Her dog lives with your father.'];
const correction = 'My cat now lives with a friend from work.';

async function memoryEdit(engine: Engine, oldValue: string, newValue: string): Promise<MemoryEdit> {
  const build = (contents: readonly string[]) => {
    const memories = contents.map((content, index) => ({ memoryId: `m${index}`, content, score: 1, metadata: {} }));
    const parts = { query: 'Where does my cat live?', systemPrompt: 'Help.', memories, history: [] };
    return buildPrompt(parts, rules, new PromptTokenizer(engine));
  };
  const told = (value: string): string[] => [others[0]!, `My cat lives with ${value}. I like her.`, others[1]!];
  const before = await build(told(oldValue));
  const after = await build(told(newValue));
  const prompts = { memoryId: 'm1', before, after };
  const value = await findValue(engine, prompts, oldValue);
  return { ...prompts, corrected: await build([...told(oldValue), correction]), value };
}

/** Stores the memories, and gives a way's tokens evaluated and next-token probabilities. */
async function editing(engine: Engine, edit: MemoryEdit) {
  const session = await engine.openSession('edit');
  const context = { engine, session, kv: kvOperations };
  const stored = await storeMemories(context, edit.before);
  const apply = async (way: EditWay) => {
    const before = await session.meter();
    const rest = await applyEdit(way, context, stored, edit);
    const { next } = await session.score(rest, []);
    const evaluated = (await session.meter()).evaluated! - before.evaluated!;
    const probabilities = next.span === 'all' ? next.probabilities : new Float64Array();
    return { evaluated, probabilities, tokens: [...session.tokens] };
  };
  return { session, context, stored, apply };
}

const difference = (a: Float64Array, b: Float64Array): number =>
  Math.max(...a.map((value, index) => Math.abs(value - b[index]!)));

describe.each([
  ['the fake engine', () => Promise.resolve(openFakeEngine({}))],
  ['llama.cpp', () => realEngine.open({ model: 'random:small-llama:q8_0', threads: 1 })],
  [
    'llama.cpp with weights that are computed in groups',
    () => realEngine.open({ model: 'random:small-llama:q4_k', threads: 1 }),
  ],
] as const)('on %s', (_, open) => {
  it.each([
    ['my mother', 'your friend from work'],
    ['the mother of a friend', 'a dog'],
  ])('a spliced prefix has the bits of the rebuilt one, the others have not: %s, %s', async (oldValue, newValue) => {
    await using engine = await open();
    const edit = await memoryEdit(engine, oldValue, newValue);
    const { before, after, corrected, value } = edit;
    expect(value.before).not.toBe(value.after);
    const { session, apply } = await editing(engine, edit);
    const found = new Map<EditWay, Awaited<ReturnType<typeof apply>>>();
    for (const way of editWays) found.set(way, await apply(way));
    await session[Symbol.asyncDispose]();
    const truth = found.get('rebuild')!.probabilities;
    expect(truth.length).toBeGreaterThan(0);
    expect(found.get('splice')!.probabilities).toEqual(truth);
    for (const way of ['append', 'block', 'overwrite', 'unchanged'] as const) {
      expect(difference(found.get(way)!.probabilities, truth), way).toBeGreaterThan(0);
    }
    const suffix = after.tokenIds.length - after.prefixTokens;
    const line = after.info.segments.find(({ memoryId }) => memoryId === 'm1')!.tokenIds;
    const evaluated = Object.fromEntries([...found].map(([way, one]) => [way, one.evaluated]));
    expect(evaluated).toEqual({
      rebuild: after.tokenIds.length,
      append: corrected.tokenIds.length - before.prefixTokens,
      block: line.length + suffix,
      splice: after.tokenIds.length - lastExactCut(engine.capabilities, value.start),
      overwrite: Math.max(value.after, engine.capabilities.leastTokens) + suffix,
      unchanged: suffix,
    });
    for (const way of ['rebuild', 'block', 'splice', 'overwrite'] as const)
      expect(found.get(way)!.tokens).toEqual(after.tokenIds);
    expect(found.get('append')!.tokens).toEqual(corrected.tokenIds);
    expect(found.get('unchanged')!.tokens).toEqual(before.tokenIds);
  });
});

describe('overwriting the cells of a value', () => {
  const engines: Engine[] = [];
  const opened = (layers: number): Engine => {
    const engine = openFakeEngine({ layers, sessions: 2, kvType: 'F32' });
    engines.push(engine);
    return engine;
  };
  afterAll(() => Promise.all(engines.map((engine) => engine[Symbol.asyncDispose]())));

  it('equals rebuilding if cells do not depend on earlier ones, also if they move', async () => {
    const engine = opened(1);
    const { apply } = await editing(engine, await memoryEdit(engine, 'my mother', 'your friend from work'));
    const truth = (await apply('rebuild')).probabilities;
    expect(difference((await apply('overwrite')).probabilities, truth)).toBeLessThan(1e-6);
    expect(difference((await apply('unchanged')).probabilities, truth)).toBeGreaterThan(1e-4);
  });

  it('takes the cells of the changed text, and keeps all later cells, at their new positions', async () => {
    const engine = opened(2);
    const edit = await memoryEdit(engine, 'my mother', 'your friend from work');
    const { session, context, stored } = await editing(engine, edit);
    const { start, before, after } = edit.value;
    await session.clear();
    await session.evaluate(edit.after.tokenIds.slice(0, start + after));
    const changed = cutCells(await session.exportCells(), 0, start + after);
    const kept = cutCells(stored.prefix, start + before, stored.prefix.positions.length);
    const { rotary } = requireCells(engine);
    const expected = joinBlocks(changed, [{ block: kept, position: start + after, alpha: 1 }], { rotary });
    await applyEdit('overwrite', context, stored, edit);
    const state = await session.exportCells();
    expect(state.positions).toEqual(expected.positions);
    expect(state.keys).toEqual(expected.keys);
    expect(state.values).toEqual(expected.values);
  });

  it('evaluates one token more if the engine cannot evaluate a single one', async () => {
    const engine = opened(2);
    const pairs = replacing(engine, { capabilities: { ...engine.capabilities, leastTokens: 2 } });
    const edit = await memoryEdit(engine, ' work', ' tea');
    expect(edit.value.after).toBe(1);
    const [one, two] = [await editing(engine, edit), await editing(pairs, edit)];
    const [single, double] = [await one.apply('overwrite'), await two.apply('overwrite')];
    expect(double.evaluated).toBe(single.evaluated + 1);
    expect(double.probabilities).toEqual(single.probabilities);
  });
});

it("a value's tokens include those that both values share", async () => {
  await using engine = openFakeEngine({});
  const spans = async (oldValue: string, newValue: string) => {
    const { value, before, after } = await memoryEdit(engine, oldValue, newValue);
    const texts = await engine.detokenize([
      before.tokenIds.slice(value.start, value.start + value.before),
      after.tokenIds.slice(value.start, value.start + value.after),
    ]);
    return texts.map((text) => text.trim());
  };
  expect(await spans('my mother', 'my father')).toEqual(['my mother', 'my father']);
  expect(await spans('a dog', 'the dog')).toEqual(['a dog', 'the dog']);
  // The number of the line is no value.
  expect(await spans('2', '3')).toEqual(['2', '3']);
});
