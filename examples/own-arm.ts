/**
 * An arm of one's own: memories as text, most similar first. It has the traits of those that ship, and passes the same checks.
 * `npx tsx examples/own-arm.ts`
 */
import { type ArmDefinition, loadBenchConfig, RAGSystem, runBench } from 'dki-bench';

const byRank: ArmDefinition = {
  name: 'rag-by-rank',
  traits: () => ({
    retrieves: 'retrieved',
    injects: 'nothing',
    equivalence: 'none',
    control: null,
    comparison: 'exploratory',
    keepsSession: false,
    summary: 'memories as text, most similar first',
    mark: { colour: '#555555', shape: 'cross', dash: [1, 0] },
  }),
  open: (parts) => new RAGSystem({ ...parts, rules: { ...parts.rules, placement: 'rank' } }),
};

const config = { ...loadBenchConfig({ flags: { limit: '10' } }), arms: ['rag', 'rag-by-rank'] };
const [results] = await runBench(config, { arms: [byRank] });

for (const { arm, metrics } of results!.arms) console.log(arm, metrics.exactMatch?.mean);
for (const { check, status } of results!.checks) console.log(check, status);
