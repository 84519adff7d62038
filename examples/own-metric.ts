/**
 * A metric of one's own: how many words an answer has. It gets tables, comparisons and a verdict by what it says of itself.
 * `npx tsx examples/own-metric.ts`
 */
import { loadBenchConfig, registerMetric, runBench } from 'dki-bench';

registerMetric({
  name: 'words',
  label: 'words',
  kind: 'continuous',
  unit: 'words',
  direction: 'lower',
  margin: 1,
  of: ({ answer }) => answer.text.split(/\s+/).filter((word) => word !== '').length,
});

const config = { ...loadBenchConfig({ flags: { limit: '10' } }), arms: ['none', 'rag'] };
const [results] = await runBench(config);

for (const { arm, metrics } of results!.arms) console.log(arm, metrics['words']?.mean);
