import { setTimeout } from 'node:timers/promises';
import { afterAll, expect, it } from 'vitest';
import { openParts } from '../../../../scripts/open-parts.ts';
import { openFakeEngine } from '../../../../test/fixtures/fake-engine/fake-engine.ts';
import { openDatabase } from '../../../store/database.ts';
import type { Engine } from '../../../engine/engine.ts';
import { TurnRecorder } from './turn-recorder.ts';

const engine = openFakeEngine({ sessions: 2 });
const session = await engine.openSession('turns');
const database = openDatabase({ path: ':memory:' });
afterAll(async () => {
  await engine[Symbol.asyncDispose]();
  database.close();
});

const PROMPT = Array.from({ length: 40 }, (_, index) => 60 + index);

/** A recorder, and session and engine as an arm sees them. */
async function recorded() {
  const recorder = new TurnRecorder(engine);
  const parts = openParts({ engine, session }, database);
  const opened = await recorder.parts(parts, () => Promise.reject(new Error('no store'))).open();
  return { recorder, seen: opened.session, own: opened.engine };
}

it('measures the time to first token, and the part of it that is spent outside engine calls', async () => {
  const { recorder, seen } = await recorded();
  const idle = await recorder.turn(async () => {
    await seen.clear();
    await setTimeout(30);
    await seen.generate(PROMPT, { maxTokens: 3 });
    await setTimeout(30);
  });
  const { firstTokenMs, totalMs, ownMs } = idle.recorded;
  expect(ownMs).toBeGreaterThanOrEqual(29);
  expect(firstTokenMs! - ownMs).toBeGreaterThan(0);
  expect(totalMs - firstTokenMs!).toBeGreaterThanOrEqual(29);
  const busy = await recorder.turn(async () => {
    await seen.clear();
    await seen.generate(PROMPT, { maxTokens: 3 });
  });
  expect(busy.recorded.ownMs).toBeLessThan(busy.recorded.firstTokenMs! / 2);
});

it('keeps the last generation and its limits, and counts what every session evaluated', async () => {
  const { recorder, seen, own } = await recorded();
  const { recorded: turn } = await recorder.turn(async () => {
    await using other = await own.openSession('hidden');
    await other.evaluate(PROMPT.slice(0, 7));
    await seen.clear();
    await seen.generate(PROMPT, { maxTokens: 1 });
    await seen.generate(PROMPT.slice(0, 5), { maxTokens: 2 });
  });
  expect(turn.evaluated).toBe(7 + 40 + 5);
  expect(turn.generation).toMatchObject({ session, suffix: PROMPT.slice(0, 5), limits: { maxTokens: 2 } });
  expect(turn.generation!.before.slice(0, 40)).toEqual(PROMPT);
  expect(turn.generation!.given.tokens.length).toBeLessThanOrEqual(2);
  const silent = await recorder.turn(async () => seen.clear());
  expect(silent.recorded).toMatchObject({ evaluated: 0, generation: null, firstTokenMs: null });
});

it("passes tokens on to the system's own callback", async () => {
  const { recorder, seen } = await recorded();
  const told: (number | null)[] = [];
  const { value } = await recorder.turn(async () => {
    await seen.clear();
    return seen.generate(PROMPT, { maxTokens: 3, onToken: (id) => told.push(id) });
  });
  expect(told.filter((id) => id !== null)).toEqual(value.tokens);
});

it('refuses calls outside of turns, and counts them', async () => {
  const { recorder, seen, own } = await recorded();
  const refused = { code: 'no-session', message: expect.stringContaining('outside of a turn') as string };
  await expect((async () => seen.evaluate(PROMPT))()).rejects.toMatchObject(refused);
  await expect((async () => own.openSession('hidden'))()).rejects.toMatchObject(refused);
  expect(recorder.refused).toBe(2);
  await recorder.declared(async () => seen.clear());
  expect([recorder.refused, seen.tokens]).toEqual([2, []]);
});

it('counts tokens of first-layer engines separately, and refuses their use outside of turns', async () => {
  const { recorder, own } = await recorded();
  const evaluate = async (count: number): Promise<Engine> => {
    const early = await own.firstLayers(1);
    await using other = await early.openSession('hidden');
    await other.evaluate(PROMPT.slice(0, count));
    return early;
  };
  const { value: early, recorded: first } = await recorder.turn(() => evaluate(7));
  expect([first.evaluated, first.firstLayers]).toEqual([0, 7]);
  const { recorded: second } = await recorder.turn(() => evaluate(5));
  expect([second.evaluated, second.firstLayers]).toEqual([0, 5]);
  await expect((async () => early.openSession('outside'))()).rejects.toMatchObject({ code: 'no-session' });
  expect(recorder.refused).toBe(1);
});

it('counts preparation for the next turn, and a probe, or preparation before a reset, for none', async () => {
  const { recorder, seen } = await recorded();
  const evaluate = async (): Promise<void> => {
    await seen.clear();
    await seen.generate(PROMPT, { maxTokens: 1 });
  };
  const aheadOfTurn = async () => (await recorder.turn(async () => seen.clear())).recorded.aheadTokens;
  await recorder.preparation(evaluate);
  expect([await aheadOfTurn(), await aheadOfTurn()]).toEqual([PROMPT.length, 0]);
  await recorder.declared(evaluate);
  expect(await aheadOfTurn()).toBe(0);
  await recorder.preparation(evaluate);
  await recorder.declared(async () => seen.clear());
  expect(await aheadOfTurn()).toBe(0);
});
