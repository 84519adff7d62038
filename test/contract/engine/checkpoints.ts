import {
  appendFileSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { checkpointSchema } from '../../../src/engine/checkpoint.ts';
import type { EngineSession } from '../../../src/engine/engine-session.ts';
import type { Engine } from '../../../src/engine/engine.ts';
import { concatenated, copyOf } from '../../fixtures/moved-cells.ts';
import { openEngine } from './opened.ts';
import { filler, type Prompts, promptsOf, type Subject } from './subjects.ts';

export function checkpointPromises(subject: Subject): void {
  let folder: string;
  let engine: Engine;
  let session: EngineSession;
  let prompts: Prompts;
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'dki-bench-contract-'));
    engine = await openEngine(subject, { checkpointFolder: folder });
    prompts = await promptsOf(engine);
    session = await engine.openSession('contract');
  });
  afterAll(async () => {
    await engine[Symbol.asyncDispose]();
    rmSync(folder, { recursive: true });
  });

  test('a restored session goes on bitwise, in whatever session of the engine', async () => {
    const { memories, question, answer } = prompts;
    await session.clear();
    const asText = await session.score([...memories, ...question], answer);
    await session.truncate(memories.length);
    const checkpoint = await session.checkpoint();
    expect(checkpoint).toMatchObject({ tokens: memories, stateIdentity: engine.info.stateIdentity });
    expect(checkpointSchema.parse(JSON.parse(JSON.stringify(checkpoint)))).toEqual(checkpoint);
    await using other = await engine.openSession('other');
    for (const restored of [session, other]) {
      await restored.evaluate(filler(engine, 30));
      await restored.restore(checkpoint);
      expect([restored.tokens, restored.cells]).toEqual([memories, memories.length]);
      expect(await restored.score(question, answer)).toEqual(asText);
      await restored.truncate(memories.length);
      expect(await restored.score(question, answer)).toEqual(asText);
    }
    await engine.deleteCheckpoint(checkpoint);
  });

  test('it outlives its engine, whatever the number of sessions and the window of the next', async () => {
    const { memories, question, answer } = prompts;
    await session.clear();
    const asText = await session.score([...memories, ...question], answer);
    await session.truncate(memories.length);
    const checkpoints = [];
    {
      await using second = await engine.openSession('second');
      await second.evaluate(memories);
      checkpoints.push(await session.checkpoint(), await second.checkpoint());
    }
    for (const sessions of [1, 3]) {
      await using next = await openEngine(subject, { checkpointFolder: folder, sessions, contextTokens: 768 });
      for (let opened = 0; opened < sessions; opened++) {
        const later = await next.openSession(`session ${opened}`);
        for (const checkpoint of checkpoints) {
          await later.restore(checkpoint);
          expect(await later.score(question, answer)).toEqual(asText);
        }
      }
    }
  });

  test('it is a private file that appears when it is complete, under the name that was given', async () => {
    await session.clear();
    await session.evaluate(prompts.memories);
    const { id, bytes } = await session.checkpoint({ id: 'my-state-1' });
    expect(id).toBe('my-state-1');
    const found = readdirSync(folder).filter((name) => name.includes(id));
    expect(found).toHaveLength(1);
    const { mode, size } = statSync(join(folder, found[0]!));
    expect([mode & 0o777, size]).toEqual([0o600, bytes]);
    await engine.deleteCheckpoint({ id });
    expect(readdirSync(folder).filter((name) => name.includes(id))).toEqual([]);
    await engine.deleteCheckpoint({ id });
  });

  test('there is none of an empty session, nor under a name that could be a path', async () => {
    await session.clear();
    await expect(session.checkpoint()).rejects.toThrow('an empty session has no state to save');
    await session.evaluate(prompts.memories);
    await expect(session.checkpoint({ id: '../elsewhere' })).rejects.toThrow(RangeError);
    await expect(engine.deleteCheckpoint({ id: '../elsewhere' })).rejects.toThrow(RangeError);
    expect(session.tokens).toEqual(prompts.memories);
  });

  test.runIf(subject.capabilities.cells !== null)(
    'tokens are right where positions are shared or left out',
    async () => {
      await session.clear();
      await session.evaluate(prompts.memories.slice(0, 8));
      const head = await session.exportCells({ start: 0, end: 4 });
      const rest = await session.exportCells({ start: 4, end: 8 });
      const [shared, far] = [
        copyOf(rest, { positions: Int32Array.of(4, 5, 6, 7) }),
        copyOf(rest, { positions: Int32Array.of(20, 21, 22, 23) }),
      ];
      await session.importCells(concatenated(head, rest, shared, far));
      const { tokens, cells } = session;
      expect(tokens).toEqual([
        ...prompts.memories.slice(0, 4),
        ...Array.from({ length: 16 }, () => -1),
        ...prompts.memories.slice(4, 8),
      ]);
      const checkpoint = await session.checkpoint();
      const scored = await session.score(prompts.question, prompts.answer);
      await session.clear();
      await session.restore(checkpoint);
      expect([session.tokens, session.cells]).toEqual([tokens, cells]);
      expect(await session.score(prompts.question, prompts.answer)).toEqual(scored);
    },
  );

  test.each([
    [
      'a flipped bit',
      (path: string) =>
        writeFileSync(
          path,
          readFileSync(path).map((byte, at) => (at === 500 ? byte ^ 4 : byte)),
        ),
    ],
    // llama.cpp itself would end the process here.
    ['a missing end', (path: string) => truncateSync(path, statSync(path).size - 100)],
    ['bytes behind the end', (path: string) => appendFileSync(path, 'more')],
    ['another file', (path: string) => writeFileSync(path, 'something else that is long enough')],
    ['no file', (path: string) => rmSync(path)],
  ])('one that is damaged is refused (%s), and the session goes on as before', async (_, damage) => {
    const { memories, question, answer } = prompts;
    await session.clear();
    await session.evaluate(question);
    const checkpoint = await session.checkpoint({ id: 'damaged' });
    damage(
      join(
        folder,
        readdirSync(folder).find((name) => name.includes('damaged'))!,
      ),
    );
    await session.clear();
    await session.evaluate(memories);
    const whole = await session.score(question, answer);
    await session.truncate(memories.length);
    await expect(session.restore(checkpoint)).rejects.toMatchObject({ code: 'bad-state' });
    expect(session.tokens).toEqual(memories);
    expect(await session.score(question, answer)).toEqual(whole);
    await engine.deleteCheckpoint(checkpoint);
  });

  test('one of another model is refused, and one that does not fit', async () => {
    await session.clear();
    await session.evaluate(filler(engine, 600));
    const checkpoint = await session.checkpoint();
    await using other = await subject.opener.open({ model: subject.otherModel, checkpointFolder: folder });
    await using foreign = await other.openSession('contract');
    await expect(foreign.restore(checkpoint)).rejects.toMatchObject({ code: 'bad-state' });
    await using small = await openEngine(subject, { checkpointFolder: folder, contextTokens: 512 });
    await using narrow = await small.openSession('contract');
    await narrow.evaluate(prompts.memories);
    await expect(narrow.restore(checkpoint)).rejects.toMatchObject({ code: 'context-overflow' });
    expect(narrow.tokens).toEqual(prompts.memories);
    await engine.deleteCheckpoint(checkpoint);
  });

  test('a folder of its own goes with the engine', async () => {
    const own = await openEngine(subject);
    await using open = await own.openSession('contract');
    await open.evaluate(prompts.memories);
    const checkpoint = await open.checkpoint();
    await open.restore(checkpoint);
    await own[Symbol.asyncDispose]();
    await expect(session.restore(checkpoint)).rejects.toMatchObject({ code: 'bad-state' });
  });
}
