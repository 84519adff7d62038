import { afterAll, describe, expect, it } from 'vitest';
import { AttributionRepository } from '../../src/store/attribution-repository.ts';
import { attributions } from '../../src/store/schema.ts';
import { TurnRepository } from '../../src/store/turn-repository.ts';
import { attribute } from '../../src/eval/run/attribution/attribute.ts';
import { loadRunModel } from '../../src/eval/run/attribution/load-run-model.ts';
import { memoryIds, storedSequence } from '../../src/eval/run/attribution/turn-replay.ts';
import { attributeTurns } from '../../src/cli/attribute-turns.ts';
import { selectEngine } from '../../src/bench/select-engine.ts';
import type { TurnRecord } from '../../src/store/records/turn-record.ts';
import { errorLike } from '../fixtures/error-like.ts';
import { changed } from '../fixtures/draft.ts';
import { attributionPromises } from './attribution-promises.ts';
import { finishedRun } from './finished-run.ts';

const arms = ['rag', 'dki-blocks', 'dki-link:1000'];

const finished = await finishedRun(arms);
const { engine } = finished;
afterAll(() => finished[Symbol.asyncDispose]());

attributionPromises(finished, arms, [['dki-blocks', 0]]);

describe('attribute', () => {
  it('reproduces every turn of the run, and gives what scoring the whole text without a line gives', async () => {
    const progress: string[] = [];
    for (const row of finished.turnsOf('rag')) {
      const turn = storedSequence(row);
      if (memoryIds(turn).length === 0) continue;
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
        const ids = without.flatMap(({ tokenIds }) => tokenIds);
        const { logProbabilities } = await session.score(ids, answer);
        const total = logProbabilities.reduce((sum, value) => sum + value, 0);
        expect(logProbability).toBeCloseTo(total, 4);
      }
    }
    expect(progress.length).toBeGreaterThan(8);
    expect(progress.at(-1)).toMatch(/^(\d+)\/\1$/);
  });

  it('gives for blocks that are recomputed whole what it gives for text', async () => {
    const row = finished.telling('rag');
    const linked = finished.turnsOf('dki-link:1000').find(({ itemId }) => itemId === row.itemId)!;
    const [text, blocks] = [await attribute(row, engine), await attribute(linked, engine)];
    expect(blocks.method).toBe('blocks');
    expect(blocks.logProbability).toBeCloseTo(text.logProbability, 3);
    blocks.memories.forEach(({ logProbability }, index) => {
      // Cells were rotated and stored as F16, so that bits differ.
      expect(Math.abs(logProbability / text.memories[index]!.logProbability - 1)).toBeLessThan(0.02);
    });
  });

  it('refuses a turn that does not come out as it is stored', async () => {
    const row = finished.telling('dki-blocks');
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
        /its token ids differ from those in the session/,
      ],
      [failed, /it failed/],
    ];
    for (const [stored, message] of wrong) {
      await expect(attribute(stored, engine)).rejects.toMatchObject(errorLike('not-reproduced', message));
    }
    await expect(attribute(row, engine, { signal: AbortSignal.abort(new Error('ended')) })).rejects.toThrow('ended');
  });

  it('refuses another model than that of the run', async () => {
    const other = { ...finished.run, model: { ...finished.run.model, sha256: 'ab'.repeat(32) } };
    for (const [path, why] of [
      [finished.config.model, /not the model of the run: .* recall-base has abababababab…/],
      [finished.folder.file('none.gguf'), ''],
    ] as const) {
      const loading = loadRunModel(other, path, selectEngine);
      await expect(loading).rejects.toMatchObject(errorLike('bad-model', why));
    }
  });

  it('finds a model of the registry by its hash, whatever file is named', async () => {
    await using found = await loadRunModel(finished.run, finished.folder.file('none.gguf'), selectEngine);
    expect(found.info.modelSha256).toBe(finished.run.model.sha256);
  });
});

describe('attributeTurns', () => {
  it('stores one row a turn, replaced when it is computed again', async () => {
    const [row, other] = [finished.telling('rag'), finished.telling('dki-blocks')];
    const repository = new AttributionRepository(finished.database);
    repository.put(row.id, { method: 'blocks', logProbability: -9, memories: [], modelMs: 1 });
    const told = new Set<string>();
    const { run, database, config } = finished;
    const turns = [row, other].map((turn) => ({ run, turn }));
    await attributeTurns(database, config, turns, { onProgress: (arm) => told.add(arm) });
    expect([...told]).toEqual(['rag', 'dki-blocks']);
    const first = repository.find(row.id)!;
    expect(first.method).not.toBe('blocks');
    expect(repository.find(other.id)!.method).toBe('blocks');
    await attributeTurns(database, config, turns.slice(0, 1));
    expect(repository.find(row.id)!.logProbability).toBe(first.logProbability);
    expect(finished.database.query.select().from(attributions).all()).toHaveLength(2);
    new TurnRepository(finished.database).deleteUser(finished.run.id, row.userId);
    expect(repository.find(row.id)).toBeUndefined();
  });
});
