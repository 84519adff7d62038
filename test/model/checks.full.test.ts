import { describe, expect, it } from 'vitest';
import { runBench } from '../../src/bench/run-bench.ts';
import type { CheckName, RunResults } from '../../src/store/records/run-results.ts';
import { ownTraits } from '../../src/systems/arms/arm-registry.ts';
import type { ArmDefinition } from '../../src/systems/arms/arm-definition.ts';
import type { ChatRequest } from '../../src/systems/memory-system.ts';
import { DKISystem } from '../../src/systems/dki-system.ts';
import { parseRecipe } from '../../src/systems/prefill/join-recipe.ts';
import { changed } from '../fixtures/draft.ts';
import { checkOf, lying, shippedArm } from '../fixtures/small-run.ts';
import { failedChecks, passedChecks, smallConfig, TestFolder } from './bench-fixture.ts';

const [rag, dki, wrong] = [shippedArm('rag'), shippedArm('dki'), shippedArm('dki-wrong')];

/** Arms that claim to be one that ships and are not. */
const impostors: readonly {
  readonly title: string;
  readonly name?: string;
  readonly arm: ArmDefinition;
  readonly checks: readonly CheckName[];
}[] = [
  {
    title: 'another system prompt',
    arm: lying(dki, (system) => (request) => system.chat({ ...request, systemPrompt: 'You are a pirate.' })),
    checks: ['token identity'],
  },
  {
    title: 'the prefix of another set of memories',
    arm: lying(dki, (system) => {
      const first = new Map<string | undefined, ChatRequest['retrieved']>();
      return ({ retrieved, ...request }) => {
        if (!first.has(request.userId)) first.set(request.userId, retrieved);
        const shown = first.get(request.userId);
        return system.chat({ ...request, ...(shown === undefined ? {} : { retrieved: shown }) });
      };
    }),
    checks: ['token identity'],
  },
  {
    title: 'memories as text that are called KV',
    arm: { ...dki, open: (parts, argument) => rag.open(parts, argument) },
    checks: ['token accounting', 'effect'],
  },
  {
    title: 'two tokens of KV and the rest as text',
    arm: {
      ...dki,
      open: (...opening) =>
        lying(rag, (system) => async (request) => {
          const response = await system.chat(request);
          return changed(response, ({ tokens, trace: { account } }) => {
            const evaluated = tokens.evaluated - 2;
            Object.assign(tokens, { prompt: tokens.prompt - 2, kvResident: 2, evaluated });
            Object.assign(account, { cache: 'hit', resident: 2, evaluated });
          });
        }).open(...opening),
    },
    checks: ['token accounting'],
  },
  {
    title: 'joined blocks that claim the bits of the text',
    arm: { ...dki, open: (parts) => new DKISystem({ ...parts, prefill: parseRecipe('blocks') }) },
    checks: ['numerical parity'],
  },
  {
    title: 'recomputed tokens that are not owned up to',
    name: 'dki-link:4',
    arm: lying(shippedArm('dki-link'), (system) => async (request) => {
      return changed(await system.chat(request), ({ trace }) => (trace.account.recomputed = 0));
    }),
    checks: ['token accounting'],
  },
  {
    title: 'an answer that it was told',
    arm: {
      ...wrong,
      traits: (...given) => ({ ...ownTraits(wrong, ...given), retrieves: 'evidence' }),
      open: (parts, argument) => rag.open(parts, argument),
    },
    checks: ['token accounting'],
  },
];

/** Runs a small suite in a folder of its own. */
async function run(flags: Readonly<Record<string, string>>, arms: readonly ArmDefinition[] = []): Promise<RunResults> {
  using folder = new TestFolder();
  return (await runBench(smallConfig(folder, flags), { arms }))[0]!;
}

describe('the checks', () => {
  it('pass for the shipped arms on the shipped models and data', async () => {
    const texts = 'none,oracle,full,rag,rag-cached';
    const arms = `${texts},dki,dki-blocks,dki-link:4,dki-parallel,rag-twin,dki-wrong`;
    const results = await run({ arms });
    expect(failedChecks(results)).toEqual([]);
    const proven = ['token identity', 'token accounting', 'numerical parity', 'isolation', 'metrics', 'errors'];
    expect(passedChecks(results)).toEqual(expect.arrayContaining(proven));
    const armNamed = (name: string) => results.arms.find(({ arm }) => arm === name)!;
    const [dkiArm, ragArm, parallel] = [armNamed('dki'), armNamed('rag'), armNamed('dki-parallel')];
    const comparison = results.comparisons.find(({ a, metric }) => a === 'dki' && metric === 'exactMatch');
    expect(comparison).toMatchObject({ verdict: 'identical', delta: 0 });
    expect(dkiArm.metrics.exactMatch).toEqual(ragArm.metrics.exactMatch);
    expect(dkiArm.turns.hit).toBeGreaterThan(0);
    // On a cache hit only the suffix is evaluated; in the prompt the prefix is by far the larger part.
    expect(dkiArm.tokens!.evaluated).toBeLessThan(0.5 * ragArm.tokens!.evaluated);
    expect(dkiArm.tokens!.evaluated + dkiArm.tokens!.kvResident).toBe(ragArm.tokens!.evaluated);
    expect(results.run.kvStores['dki-blocks']).toMatchObject({
      memory: { hits: expect.any(Number), sizeBytes: expect.any(Number) },
      disk: { rejected: 0, evicted: 0 },
    });
    expect(Object.keys(results.run.kvStores)).toContain('rag-cached');
    // Blocks are found for sets that were never asked for; sharing positions is no loss of cells.
    expect(parallel.tokens!.kvResident).toBe(dkiArm.tokens!.kvResident);
    expect(parallel.tokens!.positions).toBeLessThan(dkiArm.tokens!.positions);
    expect(parallel.costMiss!.tokens.evaluated).toBeLessThan(dkiArm.costMiss!.tokens.evaluated);
  });

  it('pass for gated and hybrid injection and for scaled values, and the run says what they mean', async () => {
    const arms = 'rag,dki,dki-link:0,dki-hybrid,dki-gated';
    const results = await run({ arms, alpha: '0.5' });
    expect(failedChecks(results)).toEqual([]);
    expect(results.run.notes).toContain('values of injected memories multiplied by 0.5 (--alpha)');
    expect(results.run.notes.some((note) => note.startsWith('dki-gated injects above a relevance of '))).toBe(true);
    const hybrid = results.arms.find((arm) => arm.arm === 'dki-hybrid')!;
    expect(hybrid.turns.hit).toBeGreaterThan(hybrid.turns.miss);
  });

  it('prove cells on a run whose prompts never have two memories', async () => {
    const cells = checkOf(await run({ arms: 'rag,dki,dki-blocks', topK: '1', users: '10', limit: '6' }), 'cells');
    expect([cells.status, cells.evidence]).toEqual(['passed', expect.stringMatching(/turns of dki, dki-blocks/)]);
  });

  it.each(impostors)('fail for $title', async ({ arm, name = arm.name, checks }) => {
    const results = await run({ arms: `none,rag,${name}` }, [arm]);
    expect(failedChecks(results)).toEqual(expect.arrayContaining([...checks]));
  });
});
