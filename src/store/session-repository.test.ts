import { expect, test } from 'vitest';
import { openDatabase } from './database.ts';
import { MemoryRepository } from './memory-repository.ts';
import { SessionRepository } from './session-repository.ts';

test('sessions are deleted by the beginning of their ids, with their memories, and no others', () => {
  using database = openDatabase({ path: ':memory:' });
  const [sessions, memories] = [new SessionRepository(database), new MemoryRepository(database)];
  const ids = ['run/isolation/canary-1', 'run/isolation/canary-2', 'run/u01', 'run_/isolation/x', 'run/isolatioN/y'];
  for (const sessionId of ids) {
    sessions.getOrCreate(sessionId);
    memories.create({
      id: `m of ${sessionId}`,
      sessionId,
      userId: 'u',
      content: 'I ski.',
    });
  }
  sessions.deleteBeginningWith('run/isolation/');
  expect(memories.getByUser('u').map(({ sessionId }) => sessionId)).toEqual(ids.slice(2));
});
