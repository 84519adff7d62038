import { defineConfig } from 'vitest/config';

const everyTest = ['src/**/*.test.ts', 'test/**/*.test.ts', 'scripts/**/*.test.ts'];
const slow = ['**/*.full.test.ts', '**/*.real.test.ts'];

/** Tests that start the program as users do, from `dist`, which is built first. */
const startTheProgram = 'test/e2e/**/*.test.ts';

/** Tests of what llama.cpp says of itself: a second instance in one process silences the log of both. */
const needAProcess = 'src/engine/llama-cpp/llama-cpp-engine.test.ts';

const globalSetup = 'test/fixtures/build-program.ts';

/** The limit of a test that takes long: it ends what hangs, also on a busy machine. */
const HOUR = 3_600_000;

/**
 * Three tiers, told by the name of a file: `*.real.test.ts` asks real models, `*.full.test.ts` takes long (kills, browsers,
 * sweeps, fuzzers, other versions of Node), all others run within minutes. `npm test` runs `parts`, `alone` and `program`,
 * `npm run test:full` adds `full`, `npm run test:real` runs `real`. Files of `parts` share the processes of two workers, so that
 * what they import is loaded twice and not hundreds of times; all others have a process each.
 */
export default defineConfig({
  test: {
    // Native addons (llama.cpp, FAISS, SQLite) do not survive worker threads.
    pool: 'forks',
    // Much of the time a test waits for a process that it started.
    maxWorkers: 2,
    testTimeout: 600_000,
    hookTimeout: 600_000,
    reporters: ['default'],
    coverage: { provider: 'v8', include: ['src/**/*.ts'], exclude: ['src/**/*.test.ts'] },
    projects: [
      {
        extends: true,
        test: { name: 'parts', include: everyTest, exclude: [...slow, startTheProgram, needAProcess], isolate: false },
      },
      { extends: true, test: { name: 'alone', include: [needAProcess] } },
      { extends: true, test: { name: 'program', include: [startTheProgram], exclude: slow, globalSetup } },
      {
        extends: true,
        test: { name: 'full', include: ['{src,test,scripts}/**/*.full.test.ts'], globalSetup, testTimeout: HOUR },
      },
      { extends: true, test: { name: 'real', include: ['{src,test,scripts}/**/*.real.test.ts'], globalSetup } },
    ],
  },
});
