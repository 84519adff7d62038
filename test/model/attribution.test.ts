import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type BenchDatabase, openDatabase } from '../../src/db/database.ts';
import { AttributionRepository } from '../../src/db/attribution-repository.ts';
import { RunRepository } from '../../src/db/run-repository.ts';
import { attributions } from '../../src/db/schema.ts';
import { type StoredTurn, TurnRepository } from '../../src/db/turn-repository.ts';
import { attribute } from '../../src/eval/attribution/attribute.ts';
import { loadRunModel, runModel } from '../../src/eval/attribution/model-of-run.ts';
import { memoriesOf, partsOf, storedSequence } from '../../src/eval/attribution/stored-sequence.ts';
import { openReplay } from '../../src/eval/attribution/turn-replay.ts';
import { AttributionService } from '../../src/cli/attribution-service.ts';
import { composeEngine, runBench } from '../../src/cli/compose.ts';
import type { Engine } from '../../src/engine/engine.ts';
import type { EngineSession } from '../../src/engine/engine-session.ts';
import type { RunRecord } from '../../src/records/run-record.ts';
import type { AnsweredTurn, TurnRecord } from '../../src/records/turn-record.ts';
import { changed } from '../fixtures/draft.ts';
import { smallConfig, TestFolder } from './bench-fixture.ts';

type Answered = AnsweredTurn & { readonly id: number };

const arms = [
  ...['rag', 'dki', 'dki@alpha=0.5', 'dki-blocks', 'dki-parallel', 'dki-link:2', 'dki-link:1000'],
  ...['dki-blocks@context=previous', 'dki-blocks@sink=2:kept'],
];

let folder: TestFolder;
let config: ReturnType<typeof smallConfig>;
let database: BenchDatabase;
let run: RunRecord;
let engine: Engine;

beforeAll(async () => {
  folder = new TestFolder();
  config = smallConfig(folder, { arms: arms.join(), run: 'small', limit: '8' });
  await runBench(config);
  database = openDatabase({ path: config.db });
  run = new RunRepository(database).findByName('small')!;
  engine = await loadRunModel(runModel(run), config.model, composeEngine);
}, 120_000);
afterAll(async () => {
  await engine[Symbol.asyncDispose]();
  database.close();
  folder[Symbol.dispose]();
});

const isAnswered = (turn: StoredTurn): turn is Answered => turn.state === 'answered';
const turnsOf = (arm: string): Answered[] =>
  [...new TurnRepository(database).listByRun(run.id, { arm })].filter(isAnswered);
const evidenceOf = ({ given }: Answered): string | undefined =>
  given.retrieved.find(({ evidence }) => evidence)?.memoryId;
/** A right answer that rests on one of several memories. */
const telling = (arm: string): Answered =>
  turnsOf(arm).find(
    (turn) => turn.scores.exactMatch === 1 && evidenceOf(turn) !== undefined && turn.given.retrieved.length > 1,
  )!;
/** Tokens that the model has evaluated in a session. */
const meterOf = async (session: EngineSession): Promise<number> => {
  const { evaluated, decoded } = await session.meter();
  return evaluated! + decoded!;
};

describe('attribute', () => {
  it.each(arms)('finds the memory that the answer of %s rests on', async (arm) => {
    const row = telling(arm);
    const { logProbability, memories, method } = await attribute(row, engine);
    expect(method).toBe(arm.startsWith('dki-') ? 'blocks' : 'text');
    expect(memories.map(({ memoryId }) => memoryId)).toEqual(memoriesOf(storedSequence(row)));
    const lost = memories.map((memory) => logProbability - memory.logProbability);
    const evidence = memories.findIndex(({ memoryId }) => memoryId === evidenceOf(row));
    expect(lost.indexOf(Math.max(...lost))).toBe(evidence);
    expect(lost[evidence]).toBeGreaterThan(5);
  });

  it('reproduces every turn of the run, and gives what scoring the whole text without a line gives', async () => {
    const progress: string[] = [];
    for (const row of turnsOf('rag')) {
      const turn = storedSequence(row);
      if (memoriesOf(turn).length === 0) continue;
      const { memories } = await attribute(row, engine, { onProgress: (done, of) => progress.push(`${done}/${of}`) });
      await using session = await engine.openSession('test');
      const { tokens, stop } = await session.generate(
        turn.segments.flatMap(({ tokenIds }) => tokenIds),
        { maxTokens: 48, stopTexts: ['\nUser:', '\n\n'] },
      );
      const answer = stop === 'end' ? [...tokens, engine.info.endTokens[0]!] : tokens;
      for (const { memoryId, logProbability } of memories) {
        await session.clear();
        const without = turn.segments.filter((segment) => segment.memoryId !== memoryId);
        const score = await session.score(
          without.flatMap(({ tokenIds }) => tokenIds),
          answer,
        );
        expect(logProbability).toBeCloseTo(
          score.logProbabilities.reduce((sum, value) => sum + value, 0),
          4,
        );
      }
    }
    expect(progress.length).toBeGreaterThan(8);
    expect(progress.at(-1)).toMatch(/^(\d+)\/\1$/);
  });

  it('gives for blocks that are recomputed whole what it gives for text', async () => {
    const row = telling('rag');
    const linked = turnsOf('dki-link:1000').find(({ itemId }) => itemId === row.itemId)!;
    const [text, blocks] = [await attribute(row, engine), await attribute(linked, engine)];
    expect(blocks.method).toBe('blocks');
    expect(blocks.logProbability).toBeCloseTo(text.logProbability, 3);
    blocks.memories.forEach(({ logProbability }, index) => {
      // Cells were rotated and stored as F16, so that bits differ.
      expect(Math.abs(logProbability / text.memories[index]!.logProbability - 1)).toBeLessThan(0.02);
    });
  });

  it('refuses a turn that does not come out as it is stored', async () => {
    const row = telling('dki-blocks');
    const { prefill, itemId, userId, arm, repeat, turn, position } = row;
    if (prefill === null || prefill.strategy === 'prefix') throw new Error('the arm joins blocks');
    const moved = prefill.blocks.map((block) => ({ ...block, position: block.position + 1 }));
    const key = { itemId, userId, arm, repeat, turn, position };
    const failed: TurnRecord = { state: 'failed', ...key, error: { code: null, message: 'out of memory' } };
    const wrong: [TurnRecord, RegExp][] = [
      [
        changed(row, ({ observed }) => (observed.nextTokens[0]!.probability *= 0.9)),
        /next token 1 \(".*"\) has p = .* is stored/,
      ],
      [changed(row, ({ answer }) => (answer.text = 'Something else.')), /it now answers ".*", not "Something else\."/],
      [{ ...row, prefill: { ...prefill, alpha: 0.3 } }, /next token|it now answers/],
      [{ ...row, prefill: { ...prefill, blocks: moved } }, /other positions/],
      [
        changed(row, ({ prompt }) => (prompt.segments.at(-2)!.tokenIds[0]! += 1)),
        /its ids are not those that the session held/,
      ],
      [failed, /it failed/],
    ];
    for (const [stored, message] of wrong) {
      await expect(attribute(stored, engine)).rejects.toMatchObject({
        code: 'not-reproduced',
        message: expect.stringMatching(message),
      });
    }
    await expect(attribute(row, engine, { signal: AbortSignal.abort(new Error('ended')) })).rejects.toThrow('ended');
  });

  it('refuses another model than that of the run', async () => {
    const other = { ...runModel(run), sha256: 'ab'.repeat(32) };
    await expect(loadRunModel(other, config.model, composeEngine)).rejects.toMatchObject({
      code: 'bad-model',
      message: expect.stringMatching(/not the model of the run: .* recall-base has abababababab…/),
    });
    await expect(loadRunModel(other, folder.file('none.gguf'), composeEngine)).rejects.toMatchObject({
      code: 'bad-model',
    });
  });

  it('finds a model of the registry by its hash, whatever file is named', async () => {
    await using found = await loadRunModel(runModel(run), folder.file('none.gguf'), composeEngine);
    expect(found.info.modelSha256).toBe(run.model.sha256);
  });
});

describe('openReplay', () => {
  it.each([
    ['dki-blocks', 0],
    ['dki-parallel', 0],
    ['dki-link:2', 2],
  ])('leaves a block of %s out without reading a memory again', async (arm, recomputedTokens) => {
    const turn = storedSequence(telling(arm));
    await using session = await engine.openSession('test');
    await using replay = await openReplay(turn, engine, session);
    const { lines } = partsOf(turn);
    const built = await meterOf(session);
    await replay.begin();
    const { header, suffix } = partsOf(turn);
    const prefix = header.length + lines.reduce((sum, { tokenIds }) => sum + tokenIds.length, 0);
    // The first tokens of all blocks but the first are recomputed at their final place.
    expect((await meterOf(session)) - built).toBe(prefix + recomputedTokens * (lines.length - 1));
    for (const { memoryId } of lines) {
      const before = await meterOf(session);
      const rest = await replay.begin(memoryId);
      expect(rest).toEqual(suffix);
      expect((await meterOf(session)) - before).toBe(recomputedTokens * (lines.length - 2));
      const joined = await meterOf(session);
      await session.score(rest, [7, 8, 9]);
      expect((await meterOf(session)) - joined).toBe(suffix.length + 2);
    }
  });
});

describe('AttributionService', () => {
  it('stores one row a turn, replaced when it is computed again, one computation after the other', async () => {
    await using service = new AttributionService(config, composeEngine);
    const [row, other] = [telling('rag'), telling('dki-blocks')];
    const refOf = ({ itemId, arm, repeat, turn }: TurnRecord) => ({ run: 'small', item: itemId, arm, repeat, turn });
    const repository = new AttributionRepository(database);
    repository.put(row.id, { method: 'blocks', logProbability: -9, memories: [], modelMs: 1 });
    const open = new AbortController().signal;
    let running: string | undefined;
    const compute = (turn: TurnRecord) =>
      service.compute(
        refOf(turn),
        (done, of) => {
          running ??= turn.arm;
          expect(running).toBe(turn.arm);
          if (done === of) running = undefined;
        },
        open,
      );
    const [first] = await Promise.all([compute(row), compute(other)]);
    expect(repository.find(row.id)).toEqual(first);
    expect(repository.find(other.id)!.method).toBe('blocks');
    await expect(service.compute({ ...refOf(row), turn: 3 }, () => undefined, open)).rejects.toMatchObject({
      code: 'not-found',
      message: expect.stringContaining('has no turn 3 of item'),
    });
    expect((await compute(row)).logProbability).toBe(first.logProbability);
    expect(database.query.select().from(attributions).all()).toHaveLength(2);
    new TurnRepository(database).deleteUser(run.id, row.userId);
    expect(repository.find(row.id)).toBeUndefined();
  });
});
