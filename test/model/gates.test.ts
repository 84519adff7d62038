import { describe, expect, it } from 'vitest';
import { runBench } from '../../src/eval/bench-run.ts';
import type { GateName, RunResults } from '../../src/eval/results.ts';
import { type Arm, armsNamed, type ArmDefinition } from '../../src/eval/run/arms.ts';
import { StateStore, type StoredState } from '../../src/kv/state-store.ts';
import type { BenchSystem } from '../../src/systems/bench-system.ts';
import { DKISystem } from '../../src/systems/dki/dki-system.ts';
import { smallConfig, TestFolder } from './bench-fixture.ts';

/** Finds, in place of the state that was asked for, the first that it ever kept for that user. */
class ConfusedStore extends StateStore {
  readonly #first = new Map<string, string>();

  override find(userId: string, key: string): StoredState | undefined {
    if (!this.#first.has(userId)) this.#first.set(userId, key);
    return super.find(userId, this.#first.get(userId)!);
  }
}

function withChat(system: BenchSystem, chat: BenchSystem['chat']): BenchSystem {
  return {
    chat,
    addMemory: (...args) => system.addMemory(...args),
    loadMemoriesFromDb: (sessionId) => system.loadMemoriesFromDb(sessionId),
    searchMemories: (...args) => system.searchMemories(...args),
    getStats: () => system.getStats(),
    replay: (sequence) => system.replay(sequence),
    forgetMemory: (userId, memoryId) => system.forgetMemory(userId, memoryId),
    reset: () => {
      system.reset();
    },
    [Symbol.asyncDispose]: () => system[Symbol.asyncDispose](),
  };
}

const [rag, dki, link] = armsNamed(['rag', 'dki', 'dki-link:4'], { alpha: 1, gatingThreshold: 0.7 }) as [Arm, Arm, Arm];

/** Arms that claim to be `dki` and are not. */
const impostors: readonly {
  readonly what: string;
  readonly arm: ArmDefinition;
  readonly gates: readonly GateName[];
}[] = [
  {
    what: 'another system prompt',
    arm: {
      ...dki,
      open: (...args) => {
        const system = dki.open(...args);
        return withChat(system, (request) => system.chat({ ...request, systemPrompt: 'You are a pirate.' }));
      },
    },
    gates: ['identity'],
  },
  {
    what: 'the prefix of another set of memories',
    arm: {
      ...dki,
      open: (parts, item, openStore) => {
        openStore();
        const folder = new TestFolder();
        return new DKISystem({ ...parts, recall: item.recall, store: new ConfusedStore(folder.path, 2 ** 28) });
      },
    },
    gates: ['identity', 'parity'],
  },
  {
    what: 'memories as text that are called K/V',
    arm: { ...dki, open: rag.open },
    gates: ['materialisation', 'live flags'],
  },
  {
    what: 'two tokens of K/V and the rest as text',
    arm: {
      ...dki,
      open: (...args) => {
        const system = rag.open(...args);
        return withChat(system, async (request) => {
          const response = await system.chat(request);
          const { prompt, evaluated } = response.tokens;
          return {
            ...response,
            tokens: { ...response.tokens, prompt: prompt - 2, kvResident: 2, evaluated: evaluated - 2 },
            metadata: { ...response.metadata, reuse: 'seen', expectedEvaluatedTokens: evaluated - 2 },
          };
        });
      },
    },
    gates: ['materialisation'],
  },
  {
    what: 'joined blocks that claim the bits of the text',
    arm: {
      ...dki,
      open: (parts, item, openStore) =>
        new DKISystem({ ...parts, recall: item.recall, ...openStore(), mode: 'blocks' }),
    },
    gates: ['parity'],
  },
  {
    what: 'link tokens that are not owned up to',
    arm: {
      ...link,
      open: (...args) => {
        const system = link.open(...args);
        return withChat(system, async (request) => {
          const response = await system.chat(request);
          return { ...response, metadata: { ...response.metadata, linkTokens: 0 } };
        });
      },
    },
    gates: ['materialisation'],
  },
  {
    what: 'an answer that it was told',
    arm: {
      ...dki,
      name: 'dki-wrong',
      claims: 'nothing',
      open: (parts, item) =>
        rag.open(
          { ...parts },
          { ...item, recall: { search: () => Promise.resolve({ memories: item.evidence(), elapsedMs: 0 }) } },
          () => {
            throw new Error('not used');
          },
        ),
    },
    gates: ['materialisation'],
  },
];

function broken(results: RunResults): GateName[] {
  return results.gates.filter((gate) => !gate.held).map((gate) => gate.gate);
}

describe('the gates', () => {
  it('hold for the shipped arms on the shipped models and data', async () => {
    using folder = new TestFolder();
    const texts = 'none,oracle,full,rag,rag-cached';
    const arms = `${texts},dki,dki-blocks,dki-link:4,dki-parallel,rag-twin,dki-wrong`;
    const results = (await runBench(smallConfig(folder, { arms })))[0]!;
    expect(broken(results)).toEqual([]);
    expect(results.gates.map((gate) => gate.gate)).toEqual(
      expect.arrayContaining(['identity', 'materialisation', 'parity', 'isolation', 'metrics', 'errors']),
    );
    const dkiArm = results.arms.find((arm) => arm.arm === 'dki')!;
    const ragArm = results.arms.find((arm) => arm.arm === 'rag')!;
    expect(results.comparisons.find(({ a, metric }) => a === 'dki' && metric === 'exactMatch')).toMatchObject({
      verdict: 'identical',
      delta: 0,
    });
    expect(dkiArm.metrics.exactMatch).toEqual(ragArm.metrics.exactMatch);
    expect(dkiArm.turns.seen).toBeGreaterThan(0);
    // On a seen turn only the suffix is evaluated; in the prompt the prefix is by far the larger part.
    expect(dkiArm.tokens!.evaluated).toBeLessThan(0.5 * ragArm.tokens!.evaluated);
    expect(dkiArm.tokens!.evaluated + dkiArm.tokens!.kvResident).toBe(ragArm.tokens!.evaluated);
    expect(results.run.kvStores['dki-blocks']).toMatchObject({
      memory: { hits: expect.any(Number), sizeBytes: expect.any(Number) },
      disk: { rejected: 0, evicted: 0 },
    });
    expect(Object.keys(results.run.kvStores)).toContain('rag-cached');
    // Blocks are found for sets that were never seen; sharing positions is no loss of cells.
    const parallel = results.arms.find((arm) => arm.arm === 'dki-parallel')!;
    expect(parallel.tokens!.kvResident).toBe(dkiArm.tokens!.kvResident);
    expect(parallel.tokens!.positions).toBeLessThan(dkiArm.tokens!.positions);
    expect(parallel.costNew!.tokens.evaluated).toBeLessThan(dkiArm.costNew!.tokens.evaluated);
  });

  it('hold for gated and hybrid injection and for scaled values, and the run says what they mean', async () => {
    using folder = new TestFolder();
    const arms = 'rag,dki,dki-link:0,dki-hybrid,dki-gated';
    const results = (await runBench(smallConfig(folder, { arms, alpha: '0.5' })))[0]!;
    expect(broken(results)).toEqual([]);
    expect(results.run.notes).toContain('values of injected memories multiplied by 0.5 (--alpha)');
    expect(results.run.notes.some((note) => note.startsWith('dki-gated injects above a relevance of '))).toBe(true);
    const hybrid = results.arms.find((arm) => arm.arm === 'dki-hybrid')!;
    expect(hybrid.turns.seen).toBeGreaterThan(hybrid.turns.new);
  });

  it('hold for random weights as far as these can show anything', async () => {
    using folder = new TestFolder();
    const flags = { arms: 'none,rag,dki,dki-blocks,dki-link:1', model: 'random:tiny-qwen3' };
    const results = (await runBench(smallConfig(folder, flags)))[0]!;
    expect(broken(results)).toEqual([]);
    expect(results.gates.map(({ gate }) => gate)).toEqual(
      expect.arrayContaining(['identity', 'materialisation', 'parity', 'errors']),
    );
    expect(results.gatesNotRun).toEqual(
      expect.arrayContaining(['controls', 'isolation'].map((gate) => ({ gate, why: 'random weights answer nothing' }))),
    );
  });

  it('see through a setting that changes nothing', async () => {
    using folder = new TestFolder();
    const dead: ArmDefinition = { ...dki, name: 'dki@alpha=0.5' };
    const config = smallConfig(folder, { arms: 'rag,dki,dki@alpha=0.5,dki@alpha=0.2' });
    const [results] = await runBench(config, { arms: [dead] });
    const flags = results!.gates.find(({ gate }) => gate === 'live flags');
    expect(flags).toMatchObject({ held: false, evidence: 'no outcome is changed by dki@alpha=0.5' });
  });

  it.each(impostors)('fail for $what', async ({ arm, gates }) => {
    using folder = new TestFolder();
    const results = (await runBench(smallConfig(folder, { arms: `none,rag,${arm.name}` }), { arms: [arm] }))[0]!;
    expect(broken(results)).toEqual(expect.arrayContaining([...gates]));
  });
});
