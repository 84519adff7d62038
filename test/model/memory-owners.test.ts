import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openSystem, type OpenedSystem } from '../../src/index.ts';
import { openDatabase } from '../../src/store/database.ts';
import { memories } from '../../src/store/schema.ts';
import { errorLike } from '../fixtures/error-like.ts';
import { folderOfEachTest } from '../fixtures/folder-of-each-test.ts';

const folder = folderOfEachTest();
const QUESTION = 'What is my dog called?';
const HEARD = /Brenko/;
const content = 'My dog is called Brenko.';

describe.each(['rag-cached', 'dki', 'dki-blocks'])('with %s,', (arm) => {
  const open = (): Promise<OpenedSystem> =>
    openSystem({ arm, database: folder.file('memories.sqlite'), store: folder.file('kv') });

  /** What a user hears in a new session. */
  let sessions = 0;
  const hears = async (system: OpenedSystem, userId: string, sessionId = `s${sessions++}`): Promise<string> => {
    const { memoriesUsed, promptInfo } = await system.chat({ query: QUESTION, sessionId, userId });
    return `${memoriesUsed.length} ${promptInfo.finalPrompt}`;
  };

  it('a memory is removed for its owner, whether the caller names the owner or not', async () => {
    await using system = await open();
    for (const named of ['ann', undefined]) {
      const memoryId = await system.addMemory('sa', content, { userId: 'ann' });
      expect(await hears(system, 'ann')).toMatch(HEARD);
      expect(await system.removeMemory('sa', memoryId, named)).toBe(true);
      expect(await hears(system, 'ann')).not.toMatch(HEARD);
      expect(await system.removeMemory('sa', memoryId, named)).toBe(false);
    }
    using database = openDatabase({ path: folder.file('memories.sqlite') });
    expect(database.query.select().from(memories).all()).toEqual([]);
  });

  it("another user's memory is neither removed nor touched", async () => {
    await using system = await open();
    await system.addMemory('sb', content, { userId: 'bob', memoryId: 'm1' });
    await hears(system, 'bob');
    expect(await system.removeMemory('sb', 'm1', 'ann')).toBe(false);
    const { trace, memoriesUsed } = await system.chat({ query: QUESTION, sessionId: 'sb', userId: 'bob' });
    expect(memoriesUsed).toHaveLength(1);
    if (arm !== 'rag-cached') expect(trace.account.cache).toBe('hit');
  });

  it('a memory is not removed by way of another session', async () => {
    await using system = await open();
    await system.addMemory('sa', content, { userId: 'ann', memoryId: 'm1' });
    expect(await system.removeMemory('other', 'm1', 'ann')).toBe(false);
    expect(await hears(system, 'ann')).toMatch(HEARD);
  });

  it('a session of another user is refused, to callers without a user too, and before anything is evaluated', async () => {
    await using system = await open();
    await system.addMemory('sc', content, { userId: 'cid' });
    await hears(system, 'cid', 'sc');
    for (const userId of [{ userId: 'dan' }, {}]) {
      const refused = errorLike('no-session', 'session "sc" belongs to another user');
      await expect(system.chat({ query: QUESTION, sessionId: 'sc', ...userId })).rejects.toMatchObject(refused);
      await expect(system.addMemory('sc', 'I am Dan.', userId)).rejects.toMatchObject(refused);
    }
    expect(await hears(system, 'cid', 'sc')).toMatch(HEARD);
  });

  it('what was removed is not repeated from the history, and is not left in any file', async () => {
    const system = await open();
    const memoryId = await system.addMemory('s', content, { userId: 'ann' });
    await hears(system, 'ann', 'same');
    await system.chat({ query: `You know: my dog is called BRENKO!`, sessionId: 'other', userId: 'ann' });
    await system.removeMemory('s', memoryId);
    for (const sessionId of ['same', 'other']) expect(await hears(system, 'ann', sessionId)).not.toMatch(/brenko/i);
    const filesWithIt = (): string[] => {
      const files = readdirSync(folder.path, { recursive: true, withFileTypes: true }).filter((file) => file.isFile());
      const paths = files.map(({ parentPath, name }) => join(parentPath, name));
      return paths.filter((path) => /brenko/i.test(readFileSync(path, 'latin1')));
    };
    expect(filesWithIt()).toEqual([]);
    await system.dispose();
    expect(filesWithIt()).toEqual([]);
  });

  it('what was removed is not repeated from the history where no user is named', async () => {
    await using system = await open();
    const memoryId = await system.addMemory('s', content);
    await system.chat({ query: QUESTION, sessionId: 'same' });
    expect(await system.removeMemory('s', memoryId)).toBe(true);
    const { promptInfo } = await system.chat({ query: QUESTION, sessionId: 'same' });
    expect(promptInfo.historyMessages).toEqual([]);
  });

  it('a memory of no user that has the id of one in another session is removed, and the other stays', async () => {
    await using system = await open();
    await system.addMemory('other', 'I live in Port Dral.', { memoryId: 'm1' });
    await system.addMemory('s', content, { memoryId: 'm1' });
    expect(await system.removeMemory('s', 'm1')).toBe(true);
    const found = await system.searchMemories(QUESTION);
    expect(found.map((memory) => memory.content)).toEqual(['I live in Port Dral.']);
  });

  it('what another process removed is not heard, and its KV does not come back', async () => {
    await using one = await open();
    await using two = await open();
    await one.addMemory('s', content, { userId: 'ann', memoryId: 'm1' });
    await one.addMemory('s', 'I live in Port Dral.', { userId: 'ann', memoryId: 'm2' });
    expect(await hears(one, 'ann')).toMatch(HEARD);
    expect(await two.loadMemoriesFromDb('s')).toBe(2);
    expect(await two.removeMemory('s', 'm1', 'ann')).toBe(true);
    expect(await hears(one, 'ann')).not.toMatch(HEARD);
    expect(await one.searchMemories(QUESTION, { userId: 'ann' })).toHaveLength(1);
    expect(await one.loadMemoriesFromDb('s')).toBe(1);
    await using three = await open();
    await three.loadMemoriesFromDb('s');
    expect(await hears(three, 'ann')).not.toMatch(HEARD);
  });

  it('one memory in two sessions is one: it is replaced, and loading the older session does not bring it back', async () => {
    await using system = await open();
    await system.addMemory('older', 'My dog is called Zorin.', { userId: 'ann', memoryId: 'm1' });
    await system.addMemory('newer', content, { userId: 'ann', memoryId: 'm1' });
    expect(await system.loadMemoriesFromDb('older')).toBe(0);
    expect(await hears(system, 'ann')).toMatch(/^1 .*Brenko/s);
    expect(await system.removeMemory('newer', 'm1', 'ann')).toBe(true);
    await system.loadMemoriesFromDb('older');
    expect(await hears(system, 'ann')).toMatch(/^0 /);
  });

  it('refuses all calls after it is closed', async () => {
    const system = await open();
    await system.dispose();
    const closed = { code: 'no-session' };
    await expect(system.addMemory('s', content, { userId: 'ann' })).rejects.toMatchObject(closed);
    await expect(system.removeMemory('s', 'm1', 'ann')).rejects.toMatchObject(closed);
    await expect(system.loadMemoriesFromDb('s')).rejects.toMatchObject(closed);
    await expect(system.searchMemories(QUESTION)).rejects.toMatchObject(closed);
    await expect(system.chat({ query: QUESTION, sessionId: 's' })).rejects.toMatchObject(closed);
  });
});
