import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type BenchDatabase, openDatabase } from '../../src/db/database.ts';
import { InfluenceRepository } from '../../src/db/influence-repository.ts';
import { RunRepository } from '../../src/db/run-repository.ts';
import { influences, type RunRow, type TurnRow } from '../../src/db/schema.ts';
import { TurnRepository } from '../../src/db/turn-repository.ts';
import { runBench } from '../../src/eval/bench-run.ts';
import { influenceOf } from '../../src/eval/influence/influence-of.ts';
import { loadRunModel, runModel } from '../../src/eval/influence/model-of-run.ts';
import { memoriesOf, partsOf, storedSequence } from '../../src/eval/influence/stored-sequence.ts';
import { openReplay } from '../../src/eval/influence/turn-replay.ts';
import { InfluenceService } from '../../src/cli/influence-port.ts';
import { StateStore } from '../../src/kv/state-store.ts';
import type { LanguageModel } from '../../src/llm/language-model.ts';
import type { ModelSequence } from '../../src/llm/model-sequence.ts';
import { smallConfig, TestFolder } from './bench-fixture.ts';

const arms = ['rag', 'dki', 'dki@alpha=0.5', 'dki-blocks', 'dki-parallel', 'dki-link:2', 'dki-link:1000'];

let folder: TestFolder;
let config: ReturnType<typeof smallConfig>;
let database: BenchDatabase;
let run: RunRow;
let model: LanguageModel;

beforeAll(async () => {
  folder = new TestFolder();
  config = smallConfig(folder, { arms: arms.join(), run: 'small', limit: '8' });
  await runBench(config);
  database = openDatabase({ path: config.db });
  run = new RunRepository(database).findByName('small')!;
  model = await loadRunModel(runModel(run), config.model);
}, 120_000);
afterAll(async () => {
  await model.dispose();
  database.close();
  folder[Symbol.dispose]();
});

const turnsOf = (arm: string): TurnRow[] => [...new TurnRepository(database).listByRun(run.id, { arm })];
const evidenceOf = (row: TurnRow): string | undefined =>
  (row.memories as { memoryId: string; evidence: boolean }[]).find(({ evidence }) => evidence)?.memoryId;
const isRight = (row: TurnRow): boolean => (row.scores as { exactMatch: number | null }).exactMatch === 1;
/** A right answer that rests on one of several memories. */
const telling = (arm: string): TurnRow =>
  turnsOf(arm).find(
    (row) => isRight(row) && evidenceOf(row) !== undefined && (row.memories as readonly unknown[]).length > 1,
  )!;
const meterOf = ({ meter }: ModelSequence): number => meter.inputTokens + meter.outputTokens;

describe('influenceOf', () => {
  it.each(arms)('finds the memory that the answer of %s rests on', async (arm) => {
    const row = telling(arm);
    const { logProbability, memories, method } = await influenceOf(row, model);
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
      const { memories } = await influenceOf(row, model, { onProgress: (done, of) => progress.push(`${done}/${of}`) });
      await using sequence = model.openSequence();
      const { tokens, stop } = await sequence.generate(
        turn.segments.flatMap(({ tokenIds }) => tokenIds),
        { maxTokens: 48, stopTexts: ['\nUser:', '\n\n'] },
      );
      const answer = stop === 'end-of-text' ? [...tokens, model.info.eosToken!] : tokens;
      for (const { memoryId, logProbability } of memories) {
        await sequence.clear();
        const without = turn.segments.filter((segment) => segment.memoryId !== memoryId);
        const score = await sequence.score(
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

  it('gives for blocks that are linked whole what it gives for text', async () => {
    const row = telling('rag');
    const linked = turnsOf('dki-link:1000').find(({ itemId }) => itemId === row.itemId)!;
    const [text, blocks] = [await influenceOf(row, model), await influenceOf(linked, model)];
    expect(blocks.method).toBe('blocks');
    expect(blocks.logProbability).toBeCloseTo(text.logProbability, 3);
    blocks.memories.forEach(({ logProbability }, index) => {
      // Cells were rotated and stored as F16, so that bits differ.
      expect(Math.abs(logProbability / text.memories[index]!.logProbability - 1)).toBeLessThan(0.02);
    });
  });

  it('refuses a turn that does not come out as it is stored', async () => {
    const row = telling('dki-blocks');
    const scores = structuredClone(row.scores) as { evidence: { nextTokens: { probability: number }[] } };
    scores.evidence.nextTokens[0]!.probability *= 0.9;
    const kv = structuredClone(row.kv) as { alpha: number; blocks: { position: number }[] };
    const moved = { ...kv, blocks: kv.blocks.map(({ position, ...block }) => ({ ...block, position: position + 1 })) };
    const info = structuredClone(row.promptInfo) as { segments: { tokenIds: number[] }[] };
    info.segments.at(-2)!.tokenIds[0]! += 1;
    const wrong: [Partial<TurnRow>, RegExp][] = [
      [{ scores }, /next token 1 \(".*"\) has p = .* is stored/],
      [{ answer: 'Something else.' }, /it now answers ".*", not "Something else\."/],
      [{ kv: { ...kv, alpha: 0.3 } }, /next token|it now answers/],
      [{ kv: moved }, /other positions/],
      [{ promptInfo: info }, /its ids are not those that were read back/],
      [{ error: 'out of memory' }, /it failed/],
    ];
    for (const [changes, message] of wrong) {
      await expect(influenceOf({ ...row, ...changes }, model)).rejects.toMatchObject({
        code: 'not-reproduced',
        message: expect.stringMatching(message),
      });
    }
    await expect(influenceOf(row, model, { signal: AbortSignal.abort(new Error('ended')) })).rejects.toThrow('ended');
  });

  it('refuses another model than that of the run', async () => {
    const other = { ...runModel(run), sha256: 'ab'.repeat(32) };
    await expect(loadRunModel(other, config.model)).rejects.toMatchObject({
      code: 'bad-model',
      message: expect.stringMatching(/not the model of the run: .* recall-base has abababababab…/),
    });
    await expect(loadRunModel(runModel(run), folder.file('none.gguf'))).rejects.toMatchObject({ code: 'bad-model' });
  });
});

describe('openReplay', () => {
  it.each([
    ['dki-blocks', 0],
    ['dki-parallel', 0],
    ['dki-link:2', 2],
  ])('leaves a block of %s out without reading a memory again', async (arm, linkTokens) => {
    const turn = storedSequence(telling(arm));
    await using sequence = model.openSequence();
    const replay = openReplay(turn, { info: model.info, sequence, states: new StateStore(folder.file('kv'), 2 ** 28) });
    const { lines } = partsOf(turn);
    const built = meterOf(sequence);
    await replay.begin();
    const { header, suffix } = partsOf(turn);
    const prefix = header.length + lines.reduce((sum, { tokenIds }) => sum + tokenIds.length, 0);
    // A linked block sees what precedes it: all but the first are evaluated again, for as many tokens as the mode says.
    expect(meterOf(sequence) - built).toBe(prefix + linkTokens * (lines.length - 1));
    for (const { memoryId } of lines) {
      const before = meterOf(sequence);
      const rest = await replay.begin(memoryId);
      expect(rest).toEqual(suffix);
      expect(meterOf(sequence) - before).toBe(linkTokens * (lines.length - 2));
      const joined = meterOf(sequence);
      await sequence.score(rest, [7, 8, 9]);
      expect(meterOf(sequence) - joined).toBe(suffix.length + 2);
    }
  });
});

describe('InfluenceService', () => {
  it('stores one row a turn, replaced when it is computed again, one computation after the other', async () => {
    await using service = new InfluenceService(config);
    const [row, other] = [telling('rag'), telling('dki-blocks')];
    const refOf = ({ itemId, arm, repeat, turn }: TurnRow) => ({ run: 'small', item: itemId, arm, repeat, turn });
    const repository = new InfluenceRepository(database);
    repository.put(row.id, { method: 'blocks', logProbability: -9, memories: [], modelMs: 1 });
    const open = new AbortController().signal;
    let running: string | undefined;
    const compute = (turn: TurnRow) =>
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
    expect(database.query.select().from(influences).all()).toHaveLength(2);
    new TurnRepository(database).deleteUser(run.id, row.userId);
    expect(repository.find(row.id)).toBeUndefined();
  });
});
