import { runBench } from '../../../src/bench/run-bench.ts';
import { loadBenchConfig } from '../../../src/bench/load-config.ts';

// A run of the bench by its flags, which sends its progress in turns.
await runBench(loadBenchConfig({ flags: JSON.parse(process.argv[2]!) as Readonly<Record<string, string>> }), {
  onProgress: ({ phase, done, total }) => {
    if (phase === 'turns') process.send!({ done, total });
  },
});
