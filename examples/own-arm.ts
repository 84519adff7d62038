/**
 * An arm of one's own: only the two most similar memories, as text. Its trait `selects` declares that it leaves some out; it passes
 * the same checks as the arms that ship. `npx tsx examples/own-arm.ts`
 */
import { type ArmDefinition, loadBenchConfig, RAGSystem, runBench } from 'dki-bench';

const bestTwo: ArmDefinition = {
  name: 'rag-best-two',
  traits: () => ({
    retrieves: 'retrieved',
    selects: true,
    injects: 'nothing',
    equivalence: 'none',
    control: null,
    comparison: 'exploratory',
    keepsSession: false,
    summary: 'the two most similar memories as text',
    mark: { colour: '#555555', shape: 'cross', dash: [1, 0] },
  }),
  open: (parts) => new RAGSystem({ ...parts, rules: { ...parts.rules, select: (memories) => memories.slice(0, 2) } }),
};

const config = { ...loadBenchConfig({ flags: { limit: '10' } }), arms: ['rag', 'dki', 'rag-best-two'] };
const [results] = await runBench(config, { arms: [bestTwo] });

for (const { arm, metrics } of results!.arms) console.log(arm, metrics.exactMatch?.mean);
for (const { check, status } of results!.checks) console.log(check, status);
