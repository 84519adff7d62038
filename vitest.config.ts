import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['src/**/*.test.ts', 'test/**/*.test.ts', 'scripts/**/*.test.ts'],
    globalSetup: 'test/fixtures/build-program.ts',
    // Native addons (llama.cpp, FAISS, SQLite) do not survive worker threads.
    pool: 'forks',
    // Much of the time a test waits for a process that it started.
    maxWorkers: 2,
    testTimeout: 600_000,
    hookTimeout: 600_000,
    reporters: ['default'],
    coverage: { provider: 'v8', include: ['src/**/*.ts'], exclude: ['src/**/*.test.ts'] },
  },
});
