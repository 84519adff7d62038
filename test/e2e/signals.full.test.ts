import { fileURLToPath } from 'node:url';
import { setTimeout as wait } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { openDatabase } from '../../src/store/database.ts';
import { RunRepository } from '../../src/store/run-repository.ts';
import { TurnRepository } from '../../src/store/turn-repository.ts';
import { program, runProcess } from '../fixtures/run-process.ts';
import { temporaryFolder } from '../fixtures/temporary-folder.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const HEEDED_MS = 2000;
const arms = 'none,rag,rag-cached,dki,dki-blocks';

const folder = temporaryFolder();

/** Starts a bench, and sends a signal so long after a text appears on standard error. */
async function interrupted(words: readonly string[], text: string, delayMs: number, signal: NodeJS.Signals) {
  let sentAt: number | undefined;
  let seen = false;
  const ended = await runProcess([...program, 'bench', '--arms', arms, '--out', folder.path, ...words], {
    cwd: root,
    onStderr: (stderr, child) => {
      if (seen || !stderr.includes(text)) return;
      seen = true;
      void wait(delayMs).then(() => {
        sentAt = performance.now();
        child.kill(signal);
      });
    },
  });
  return { ...ended, heededMs: performance.now() - sentAt! };
}

function storedTurns(name: string): number {
  using database = openDatabase({ path: folder.file('dki-bench.sqlite') });
  const run = new RunRepository(database).findByName(name);
  return run === undefined ? 0 : [...new TurnRepository(database).listByRun(run.id)].length;
}

describe.each(['SIGINT', 'SIGTERM'] as const)('%s', (signal) => {
  const name = `by-${signal.toLowerCase()}`;
  const words = ['--users', '10', '--limit', '16'];

  it('ends the load with nothing begun', async () => {
    const { code, stderr, heededMs } = await interrupted([...words, '--run', name], 'loading model', 0, signal);
    expect([code, stderr.trimEnd().split('\n').at(-1)]).toEqual([130, 'interrupted; no question was asked yet']);
    expect(heededMs).toBeLessThan(HEEDED_MS);
  });

  // Each goes on where the one before it was ended.
  it.each([
    ['the warm-up', '--run', 'warming up', 50],
    ['the self-test', '--resume', 'testing metrics', 100],
    ['turns', '--resume', ': about ', 500],
    ['later turns', '--resume', ' 50 % of', 0],
    ['the isolation probe', '--resume', 'testing isolation', 300],
  ])('ends %s, and says how to go on', async (_, mode, text, delayMs) => {
    const before = storedTurns(name);
    const more = mode === '--run' ? words : [];
    const { code, stdout, stderr, heededMs } = await interrupted([...more, mode, name], text, delayMs, signal);
    expect([code, stdout]).toEqual([130, '']);
    expect(stderr).toMatch(new RegExp(`interrupted; continue with: .* --resume ${name} .*\n$`));
    expect(heededMs).toBeLessThan(HEEDED_MS);
    // Of an unfinished user, the turns are asked again.
    expect(storedTurns(name)).toBeGreaterThanOrEqual(before - 2 * arms.split(',').length);
  });

  it('ends the report, whose turns are stored', async () => {
    // Standard output is where the results come; the report is drawn behind them.
    const { code, stderr, heededMs } = await interrupted(['--resume', name], 'analysing turns', 600, signal);
    if (code === 130) {
      expect(stderr).toMatch(/interrupted; (?:all turns are stored; write the report|continue) with: .*\n$/);
      expect(heededMs).toBeLessThan(HEEDED_MS);
    }
    expect([0, 130]).toContain(code);
    expect(storedTurns(name)).toBe(20 * arms.split(',').length);
  });
});
