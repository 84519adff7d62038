import { appendFileSync, readdirSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { beforeAll, expect, test } from 'vitest';
import { checkpointSchema } from '../../../src/engine/engine-session.ts';
import { concatenated, copyOf } from '../../fixtures/moved-cells.ts';
import { TestFolder } from '../../model/bench-fixture.ts';
import { openedFor, openEngine } from './opened.ts';
import { filler, type Subject } from './subjects.ts';

export function checkpointPromises(subject: Subject): void {
  let folder: TestFolder;
  beforeAll(() => {
    folder = new TestFolder();
    return () => folder[Symbol.dispose]();
  });
  const opened = openedFor(subject, () => ({ checkpointFolder: folder.path }));
  const filesOf = (id: string): string[] => readdirSync(folder.path).filter((name) => name.includes(id));

  test('a restored session goes on bitwise, in whatever session of the engine', async () => {
    const { engine, session, memories, question, answer } = opened;
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
  });

  test('it outlives its engine, whatever the number of sessions and the window of the next', async () => {
    const { engine, session, memories, question, answer } = opened;
    const asText = await session.score([...memories, ...question], answer);
    await session.truncate(memories.length);
    const checkpoints = [];
    {
      await using second = await engine.openSession('second');
      await second.evaluate(memories);
      checkpoints.push(await session.checkpoint(), await second.checkpoint());
    }
    for (const sessions of [1, 3]) {
      await using next = await openEngine(subject, { checkpointFolder: folder.path, sessions, contextTokens: 768 });
      for (let place = 0; place < sessions; place++) {
        const later = await next.openSession(`session ${place}`);
        for (const checkpoint of checkpoints) {
          await later.restore(checkpoint);
          expect(await later.score(question, answer)).toEqual(asText);
        }
      }
    }
  });

  test('it is a private file that appears when it is complete, under the name that was given', async () => {
    const { engine, session, memories } = opened;
    await session.evaluate(memories);
    const { id, bytes } = await session.checkpoint({ id: 'my-state-1' });
    expect(id).toBe('my-state-1');
    const found = filesOf(id);
    expect(found).toHaveLength(1);
    const { mode, size } = statSync(folder.file(found[0]!));
    expect([mode & 0o777, size]).toEqual([0o600, bytes]);
    await engine.deleteCheckpoint({ id });
    expect(filesOf(id)).toEqual([]);
    await engine.deleteCheckpoint({ id });
  });

  test('there is none of an empty session, nor under a name that could be a path', async () => {
    const { engine, session, memories } = opened;
    await expect(session.checkpoint()).rejects.toThrow('an empty session has no state to save');
    await session.evaluate(memories);
    await expect(session.checkpoint({ id: '../elsewhere' })).rejects.toThrow(RangeError);
    await expect(engine.deleteCheckpoint({ id: '../elsewhere' })).rejects.toThrow(RangeError);
    expect(session.tokens).toEqual(memories);
  });

  test.runIf(subject.capabilities.cells !== null)(
    'tokens are right where positions are shared or left out',
    async () => {
      const { session, memories, question, answer } = opened;
      await session.evaluate(memories.slice(0, 8));
      const head = await session.exportCells({ start: 0, end: 4 });
      const rest = await session.exportCells({ start: 4, end: 8 });
      const shared = copyOf(rest, { positions: Int32Array.of(4, 5, 6, 7) });
      const far = copyOf(rest, { positions: Int32Array.of(20, 21, 22, 23) });
      await session.importCells(concatenated(head, rest, shared, far));
      const { tokens, cells } = session;
      expect(tokens).toEqual([...memories.slice(0, 4), ...Array<number>(16).fill(-1), ...memories.slice(4, 8)]);
      const checkpoint = await session.checkpoint();
      const scored = await session.score(question, answer);
      await session.clear();
      await session.restore(checkpoint);
      expect([session.tokens, session.cells]).toEqual([tokens, cells]);
      expect(await session.score(question, answer)).toEqual(scored);
    },
  );

  test.each([
    ['a flipped bit', (path: string) => writeFileSync(path, flipped(readFileSync(path), 500))],
    // llama.cpp itself would end the process here.
    ['a missing end', (path: string) => truncateSync(path, statSync(path).size - 100)],
    ['bytes behind the end', (path: string) => appendFileSync(path, 'more')],
    ['another file', (path: string) => writeFileSync(path, 'something else that is long enough')],
    ['no file', (path: string) => rmSync(path)],
  ])('one that is damaged is refused (%s), and the session goes on as before', async (_, damage) => {
    const { session, memories, question, answer } = opened;
    await session.evaluate(question);
    const checkpoint = await session.checkpoint();
    damage(folder.file(filesOf(checkpoint.id)[0]!));
    await session.clear();
    await session.evaluate(memories);
    const whole = await session.score(question, answer);
    await session.truncate(memories.length);
    await expect(session.restore(checkpoint)).rejects.toMatchObject({ code: 'bad-state' });
    expect(session.tokens).toEqual(memories);
    expect(await session.score(question, answer)).toEqual(whole);
  });

  test('one of another model is refused, and one that does not fit', async () => {
    const { engine, session, memories } = opened;
    await session.evaluate(filler(engine, 600));
    const checkpoint = await session.checkpoint();
    await using other = await subject.opener.open({ model: subject.otherModel, checkpointFolder: folder.path });
    await using foreign = await other.openSession('contract');
    await expect(foreign.restore(checkpoint)).rejects.toMatchObject({ code: 'bad-state' });
    await using small = await openEngine(subject, { checkpointFolder: folder.path, contextTokens: 512 });
    await using narrow = await small.openSession('contract');
    await narrow.evaluate(memories);
    await expect(narrow.restore(checkpoint)).rejects.toMatchObject({ code: 'context-overflow' });
    expect(narrow.tokens).toEqual(memories);
  });

  test('a folder of its own goes with the engine', async () => {
    const own = await openEngine(subject);
    await using open = await own.openSession('contract');
    await open.evaluate(opened.memories);
    const checkpoint = await open.checkpoint();
    await open.restore(checkpoint);
    await own[Symbol.asyncDispose]();
    await expect(opened.session.restore(checkpoint)).rejects.toMatchObject({ code: 'bad-state' });
  });
}

const flipped = (bytes: Buffer, at: number): Uint8Array => bytes.with(at, bytes[at]! ^ 4);
