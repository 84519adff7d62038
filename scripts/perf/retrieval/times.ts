import { Bench } from 'tinybench';
import type { Retrieval } from '../../../src/retrieval/retriever.ts';

/** Search and ranking of each of so many retrievals, ms, by rising time; what embedding takes is left out. */
export async function retrievalTimes(
  retrievals: number,
  retrieve: (index: number) => Promise<Pick<Retrieval, 'timingsMs'>>,
): Promise<readonly number[]> {
  const bench = new Bench({ time: 0, iterations: retrievals, warmup: false, retainSamples: true, throws: true });
  let index = 0;
  const once = async (): Promise<{ overriddenDuration: number }> => {
    const { timingsMs } = await retrieve(index++ % retrievals);
    return { overriddenDuration: timingsMs.search + timingsMs.ranking };
  };
  bench.add('retrieve', once, { async: true });
  await bench.run();
  const { result } = bench.tasks[0]!;
  if (result.state !== 'completed') throw new Error(`a retrieval is ${result.state}`);
  return [...result.latency.samples!].sort((a, b) => a - b);
}
