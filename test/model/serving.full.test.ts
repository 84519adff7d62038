import { writeFileSync } from 'node:fs';
import { beforeAll, describe, expect, it } from 'vitest';
import type { RunResults } from '../../src/store/records/run-results.ts';
import type { ArmDefinition } from '../../src/systems/arms/arm-definition.ts';
import type { BenchSystem } from '../../src/systems/memory-system.ts';
import { replacing } from '../fixtures/replacing.ts';
import { TestFolder } from './bench-fixture.ts';
import { checkOf, shippedArm, smallRun } from '../fixtures/small-run.ts';

const ARMS = ['rag', 'rag-cached', 'dki', 'dki-blocks'];
const flags = { suite: 'serving', recurrence: '1', sessions: '2' };

describe('four arms under load', () => {
  let results: RunResults;
  beforeAll(async () => {
    results = await smallRun(ARMS.join(','), { flags });
  });

  it('serves every arm the same conversations at the same rates, five of them', () => {
    const { loads, conversations, sessions, recurrence } = results.measured!.serving!;
    expect({ conversations, sessions, recurrence }).toEqual({ conversations: 2, sessions: 2, recurrence: 1 });
    expect(loads).toHaveLength(5 * ARMS.length);
    for (const arm of ARMS) expect(loads.filter((load) => load.arm === arm)).toHaveLength(5);
    const rates = loads.filter(({ arm }) => arm === 'rag').map(({ offered }) => offered);
    expect(rates).toEqual([...rates].sort((a, b) => a - b));
    for (const { arm, offered, turns, errors } of loads) {
      expect(rates).toContain(offered);
      expect([arm, turns, errors]).toEqual([arm, 6, 0]);
    }
  });

  it('counts what is evaluated, found and moved: a set that comes again is found, and a text is not', () => {
    const { loads } = results.measured!.serving!;
    const of = (arm: string) => loads.filter((load) => load.arm === arm);
    for (const { hits, movedBytes, meter } of of('rag')) {
      expect(hits).toBeNull();
      expect(movedBytes).toBe(0);
      expect(meter!.engine).toBe(meter!.turns);
    }
    // Two conversations of three turns, the later ones of which ask again.
    for (const { hits } of of('dki')) expect(hits).toBe(4);
    for (const arm of ['dki', 'dki-blocks']) {
      for (const { movedBytes } of of(arm)) expect(movedBytes).toBeGreaterThan(0);
    }
    const evaluated = (arm: string): number => of(arm)[0]!.evaluatedTokens!;
    expect(evaluated('dki')).toBeLessThan(evaluated('rag'));
    expect(evaluated('rag-cached')).toBeLessThan(evaluated('rag'));
    // Fewer than a hundred turns have no p95.
    for (const { ttftMs } of loads) expect(Object.keys(ttftMs!)).toEqual(['p50']);
  });

  it('passes its check', () => {
    expect(checkOf(results, 'serving')).toMatchObject({
      status: 'passed',
      evidence:
        'evaluated tokens as counted by the engine in 20 of 20 loads; the answers of rag in 10 loads of arms that claim to equal it bit by bit',
    });
  });
});

it.each(['timestamps', 'think-time'])('replays a trace by %s, at the rate of the trace', async (replay) => {
  using folder = new TestFolder();
  const turn = (time: number, user: string, id: string) => ({
    time,
    user,
    conversation: user,
    memories: [{ id, tokens: 9 }],
  });
  const lines = [turn(0, 'x', 'm'), turn(100, 'y', 'm'), turn(400, 'x', 'm'), turn(500, 'x', 'n')];
  writeFileSync(folder.file('t.jsonl'), lines.map((line) => JSON.stringify(line)).join('\n'));
  const replayed = { suite: 'serving', trace: folder.file('t.jsonl'), replay, topK: 1 };
  const results = await smallRun('rag,dki', { flags: replayed });
  const { loads, ...serving } = results.measured!.serving!;
  expect(serving).toMatchObject({
    ...{ conversations: 2, recurrence: 0.5 },
    replay: { trace: 't.jsonl', by: replay, users: 2, dataUsers: 2 },
  });
  expect(loads.map(({ arm, turns, errors, hits }) => [arm, turns, errors, hits])).toEqual([
    ['rag', 4, 0, null],
    ['dki', 4, 0, 1],
  ]);
  // Three gaps in half a second; answers come on top.
  if (replay === 'timestamps') expect(loads.map(({ offered }) => offered)).toEqual([6, 6]);
  else for (const { offered } of loads) expect(offered).toBeLessThan(6);
  expect(checkOf(results, 'serving')).toMatchObject({ status: 'passed' });
});

/** An arm that does something else where others are asked at the same moment. */
function underLoad(
  name: string,
  other: (system: BenchSystem, request: Parameters<BenchSystem['chat']>[0]) => ReturnType<BenchSystem['chat']>,
): ArmDefinition {
  const arm = shippedArm(name);
  return {
    ...arm,
    open: (parts, argument) => {
      const system = arm.open(parts, argument);
      return replacing(system, {
        chat: (request) => (request.sessionId.startsWith('serving/') ? other(system, request) : system.chat(request)),
      });
    },
  };
}

it('an arm that evaluates more under load than its turns say is found', async () => {
  const twice = underLoad('dki-blocks', async (system, request) => {
    await system.chat(request);
    return system.chat(request);
  });
  const results = await smallRun('rag,dki-blocks', { arms: [twice], flags });
  expect(checkOf(results, 'serving')).toMatchObject({ status: 'failed' });
  expect(checkOf(results, 'serving').evidence).toMatch(/^dki-blocks at [\d.]+\/s: engine \d+, turns \d+/);
});

it("an arm that tells one user another's answer under load is found", async () => {
  const mixed = underLoad('dki', async (system, request) => ({ ...(await system.chat(request)), text: 'Brenko' }));
  const results = await smallRun('rag,dki', { arms: [mixed], flags });
  expect(checkOf(results, 'serving')).toMatchObject({ status: 'failed' });
  expect(checkOf(results, 'serving').evidence).toContain("other answers than rag's: dki at ");
});

it('a run that serves nothing has no such check', async () => {
  const results = await smallRun('rag,dki');
  expect(results.checks.map(({ check }) => check)).not.toContain('serving');
});
