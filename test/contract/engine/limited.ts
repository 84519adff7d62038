import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  type CapabilityName,
  type EngineCapabilities,
  hasCapability,
  unsupported,
} from '../../../src/engine/engine-capabilities.ts';
import type { EngineOpener } from '../../../src/engine/engine-adapter.ts';
import type { EngineSession } from '../../../src/engine/engine-session.ts';
import type { Engine } from '../../../src/engine/engine.ts';
import { llamaCpp } from '../../../src/engine/llama-cpp/llama-cpp-adapter.ts';
import { fakeAdapter } from '../../fixtures/fake-engine/fake-adapter.ts';
import { fakeServerOpener } from '../../fixtures/fake-llama-server/fake-llama-server.ts';
import { fakeOpenAiOpener } from '../../fixtures/fake-openai-server/fake-openai-server.ts';
import { concatenated, copyOf } from '../../fixtures/moved-cells.ts';
import { scaledModel } from '../../fixtures/scaled-model.ts';
import { temporaryFolder } from '../../fixtures/temporary-folder.ts';
import { fakeCells, filler, inProcess, missingKv, noKv, ofFake, ofOpenAi, ofServer, withdrawn } from './subjects.ts';

interface LimitedSubject {
  readonly name: string;
  readonly opener: EngineOpener;
  /** Default: `fake`. */
  readonly model?: (folder: string) => string | Promise<string>;
  readonly capabilities: EngineCapabilities;
}

const fake = (options: object): EngineOpener => fakeAdapter.opener(fakeAdapter.options.parse(options));
const noFolder = 'the server moves KV only through files: name the folder of its --slot-save-path with --slots-folder';
const scaled = 'keys with yarn RoPE scaling cannot be moved to other positions';
const noScores = (why: string) => ({ logProbabilities: why, fullDistribution: why });
const nothingGiven = 'the server gives neither prompt_logprobs nor the log-probability of a forced token';
const noCache =
  'the server reused nothing of a prompt sent twice: start it with prefix caching (vLLM: --enable-prefix-caching)';

const window = 'its layers see only 32 tokens back (sliding window): run it with --context-tokens 32 or less';
const recurrent = 'some of its layers have one state for all tokens (recurrent), not a cell for each';

/** llama.cpp with a model of which it saves states whole. */
function withoutCells(
  name: string,
  model: NonNullable<LimitedSubject['model']>,
  limits: Partial<EngineCapabilities>,
  why: string,
): LimitedSubject {
  const { checkpoints: _, ...missing } = missingKv(why);
  return {
    name: `llama-cpp, ${name}`,
    opener: llamaCpp.opener({}),
    model,
    capabilities: {
      ...inProcess,
      ...noKv,
      checkpoints: true,
      ...limits,
      sessions: 1,
      leastTokens: 2,
      exactCuts: 1,
      missing: { prefixCache: 'a session in this process drops the KV of truncated tokens', ...missing },
    },
  };
}

const subjects: readonly LimitedSubject[] = [
  withoutCells('a model whose keys cannot be rotated', scaledModel, {}, scaled),
  withoutCells(
    'sliding windows',
    () => 'random:tiny-gemma3-window-32',
    { truncatesUpTo: 32, slidingWindowTokens: 32 },
    window,
  ),
  withoutCells('recurrent layers', () => 'random:tiny-lfm2', { truncatesUpTo: 0 }, recurrent),
  {
    name: 'llama-server, without the folder of its slots',
    opener: fakeServerOpener(false),
    capabilities: ofServer({
      checkpoints: false,
      missing: { promptCache: noFolder, checkpoints: noFolder, cells: noFolder, sharedPositions: noFolder },
    }),
  },
  {
    name: 'openai, a server without prefix cache, salt, counters, ids of answers and probabilities',
    opener: fakeOpenAiOpener({
      blockTokens: 0,
      hasNoSalt: true,
      hasNoCounters: true,
      tellsNoIds: true,
      givesNoScores: true,
    }),
    capabilities: ofOpenAi({
      logProbabilities: null,
      prefixCache: null,
      missing: { ...noScores(nothingGiven), prefixCache: noCache, promptCache: noCache },
    }),
  },
  {
    name: 'openai, a server that takes text alone and keeps one prompt',
    opener: fakeOpenAiOpener({ refusesIds: true, hasNoSalt: true, holds: 1 }),
    capabilities: ofOpenAi({
      tokenIds: false,
      logProbabilities: null,
      prefixCache: { span: 'session', blockTokens: 16 },
      missing: {
        tokenIds: 'the server refuses prompts of token ids: they are sent as text, which it may tokenise differently',
        ...noScores('prompts are sent as text, so the positions of gold tokens are unknown'),
        promptCache:
          "another prompt evicted an earlier one from the server's cache: start it with more slots, or a larger cache",
      },
    }),
  },
  {
    name: 'fake, without KV',
    opener: fake({ cells: false, checkpoints: false, shift: false, probabilities: false }),
    capabilities: {
      ...ofFake.capabilities,
      logProbabilities: null,
      ...noKv,
      missing: {
        ...ofFake.capabilities.missing,
        ...noScores(withdrawn),
        promptCache: withdrawn,
        ...missingKv(withdrawn),
      },
    },
  },
  {
    name: 'fake, with the likeliest tokens alone and positions of one cell',
    opener: fake({ sharedPositions: false, probabilities: 5 }),
    capabilities: {
      ...ofFake.capabilities,
      logProbabilities: { next: 5, continuation: 'pass' },
      cells: { ...fakeCells, sharedPositions: false },
      missing: { ...ofFake.capabilities.missing, fullDistribution: withdrawn, sharedPositions: withdrawn },
    },
  },
];

/** One use of each capability that a session or its engine can be asked for. */
const uses: Partial<Record<CapabilityName, (session: EngineSession, engine: Engine) => Promise<unknown>>> = {
  logProbabilities: (session) => session.score([30, 31], [32]),
  checkpoints: async (session) => session.restore(await session.checkpoint()),
  cells: (session) => session.exportCells(),
  sharedPositions: async (session) => {
    const cells = await session.exportCells();
    await session.importCells(concatenated(cells, copyOf(cells)));
  },
  shift: (session) => session.erase({ start: 2, end: 4 }),
  firstLayers: (_, engine) => engine.firstLayers(1),
  queries: (_, engine) => engine.firstLayers(1, { queries: true }),
};

/** Capabilities that are missing are said to be, and refused by name. */
export function limitedPromises(): void {
  describe.each(subjects)('$name', ({ opener, model = () => 'fake', capabilities }) => {
    const folder = temporaryFolder();
    let engine: Engine;
    beforeAll(async () => {
      engine = await opener.open({ model: await model(folder.path), contextTokens: 256 });
    });
    afterAll(() => engine[Symbol.asyncDispose]());

    test('has exactly the others', async () => {
      expect(engine.capabilities).toEqual({ ...capabilities, sessions: 1 });
      expect((await opener.inspect(await model(folder.path))).missing).toEqual(capabilities.missing);
      expect(engine.info.stateIdentity === null).toBe(!capabilities.checkpoints);
    });

    test.each(Object.keys(uses) as CapabilityName[])(
      '%s is there, or refused by name with the reason',
      async (name) => {
        await using session = await engine.openSession('contract');
        await session.evaluate(filler(engine, 8));
        const used = uses[name]!(session, engine);
        if (hasCapability(capabilities, name)) await used;
        else {
          const named = capabilities.cells === null && name === 'sharedPositions' ? 'cells' : name;
          const { code, message } = unsupported(capabilities, name);
          await expect(used).rejects.toMatchObject({ code, message: message.replace(name, named) });
        }
      },
    );

    test('text is answered as ever', async () => {
      await using session = await engine.openSession('contract');
      const answer = () => session.generate(filler(engine, 20), { maxTokens: 3 });
      let { tokens } = await answer();
      // Without a cache salt a random line precedes the prompt, and behind some lines the model ends its answer at once.
      for (let tries = 1; tokens.length === 0 && tries < 5; tries++) {
        await session.clear();
        ({ tokens } = await answer());
      }
      expect(tokens.length).toBeGreaterThan(0);
      await session.truncate(10);
      await session.erase({ start: 5, end: 10 });
      expect(session.tokens).toEqual(filler(engine, 5));
    });
  });
}
