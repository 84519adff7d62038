import { Session } from 'node:inspector/promises';
import { relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { chooseVectorBackend, openSystem } from '../../src/index.ts';
import { TestFolder } from './bench-fixture.ts';

const MAX_FILES = 45;
/** What a search runs besides where FAISS cannot be installed. */
const withoutFaiss = chooseVectorBackend().backend.name === 'typescript' ? ['base/inner-product.ts'] : [];
const src = fileURLToPath(new URL('../../src/', import.meta.url));

/** The files of `src` with a function that ran since the last call, by V8's precise coverage. */
async function executedFiles(inspector: Session): Promise<string[]> {
  const { result } = await inspector.post('Profiler.takePreciseCoverage');
  return result
    .filter(({ functions }) =>
      functions.some(({ functionName, ranges }) => functionName !== '' && ranges[0]!.count > 0),
    )
    .map(({ url }) => (url.startsWith('file:') ? fileURLToPath(url) : url))
    .filter((path) => path.startsWith(src))
    .map((path) => relative(src, path))
    .sort();
}

it(`a warm turn of dki runs code from at most ${MAX_FILES} files of src`, async () => {
  using folder = new TestFolder();
  await using system = await openSystem({ arm: 'dki', store: folder.path });
  await system.addMemory('session-1', 'I live in Lyon.', { userId: 'ada' });
  const ask = () => system.chat({ query: 'Where do I live?', sessionId: 'session-1', userId: 'ada' });
  await ask();
  await ask();
  const inspector = new Session();
  inspector.connect();
  try {
    await inspector.post('Profiler.enable');
    await inspector.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
    await executedFiles(inspector);
    const { trace } = await ask();
    const files = (await executedFiles(inspector)).filter((file) => !withoutFaiss.includes(file));
    expect(trace.account.cache).toBe('hit');
    expect(files).toEqual(
      expect.arrayContaining(['systems/answer-turn.ts', 'kv/kv-disk-store.ts', 'engine/base-session.ts']),
    );
    expect(files.slice(0, MAX_FILES)).toEqual(files);
  } finally {
    inspector.disconnect();
  }
});
