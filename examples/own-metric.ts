/**
 * A metric of one's own: how many words a right answer has. Its declaration gives it tables, comparisons and a verdict. Wrong answers
 * have no value: the self-test asks that right answers score better than silence, which has the fewest words.
 * `npx tsx examples/own-metric.ts`
 */
import { loadBenchConfig, registerMetric, runBench } from 'dki-bench';

registerMetric({
  name: 'words',
  label: 'words of right answers',
  kind: 'continuous',
  unit: 'words',
  direction: 'lower',
  margin: 1,
  of: ({ answer, scores }) => (scores.contains === 1 ? answer.text.trim().split(/\s+/).length : null),
});

const config = { ...loadBenchConfig({ flags: { limit: '10' } }), arms: ['none', 'rag'] };
const [results] = await runBench(config);

for (const { arm, metrics } of results!.arms) console.log(arm, metrics['words']?.mean);
console.log('metrics', results!.checks.find(({ check }) => check === 'metrics')!.status);
