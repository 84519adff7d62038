import { prefixCacheOf } from '../eval/analysis/summary/compared-arms.ts';
import type { ArmResults, RunResults } from '../store/records/results.ts';
import { qualitySentences } from './quality-text.ts';
import { savingsSentences } from './savings-text.ts';
import { formatNumber, lackOfProof, modelSize, undecidedChecks } from '../render/table.ts';

/** The arm that all others are compared with; undefined if it did not run. */
export function baselineOf(arms: readonly ArmResults[]): ArmResults | undefined {
  return arms.find(({ traits }) => traits.comparison === 'baseline');
}

/** The arm whose cache hits and misses divide the turns of every arm; undefined if it did not run. */
export function primaryOf(arms: readonly ArmResults[]): ArmResults | undefined {
  return arms.find(({ traits }) => traits.comparison === 'primary');
}

/** The arm of text that keeps its prefixes; undefined if it did not run. */
export function prefixCacheIn(arms: readonly ArmResults[]): ArmResults | undefined {
  const traits = prefixCacheOf(arms.map((arm) => arm.traits));
  return arms.find((arm) => arm.traits === traits);
}

/** The price of a cache hit: `A cache miss of dki evaluates 134.3 tokens (171 of 300 turns).` */
function missSentence({ arm, costMiss, turns }: ArmResults): string {
  if (costMiss === null) return `${arm} had no cache miss.`;
  const { tokens } = costMiss;
  return `A cache miss of ${arm} evaluates ${formatNumber(tokens.evaluated, 1)} tokens (${turns.miss} of ${turns.hit + turns.miss} turns with memories).`;
}

/** The users who have the cache hits: those whose memories all come back every time, or those of whose memories retrieval selects. */
function hittersSentence({ arm, byRetrieval = [] }: ArmResults): string[] {
  const everything = byRetrieval.find(({ kind }) => kind === 'everything');
  const hits = byRetrieval.reduce((sum, part) => sum + part.hits, 0);
  if (hits === 0) return [];
  return [`${everything?.hits ?? 0} of ${hits} cache hits of ${arm} are of users all of whose memories are retrieved.`];
}

/**
 * The verdict of a run: first what K/V injection saves that prefix caching does not, then what both save against reading the
 * text, then quality, then what could not be decided; what failed comes before all, and the last sentence limits its scope.
 */
export function verdictSentences(results: RunResults): string[] {
  const { arms, run } = results;
  const lack = lackOfProof(results);
  const unproven = undecidedChecks(results);
  const [rag, dki, cached] = [baselineOf(arms), primaryOf(arms), prefixCacheIn(arms)];
  const measured = rag !== undefined && dki !== undefined && rag.n > 0 && dki.n > 0;
  const savings = !measured
    ? []
    : dki.turns.hit === 0
      ? ['No cache hits in this run: savings were not measured.']
      : [
          ...(cached === undefined || cached.n === 0 ? [] : savingsSentences(dki, cached.arm, results)),
          ...savingsSentences(dki, rag.arm, results),
          missSentence(dki),
          ...hittersSentence(dki),
        ];
  const { users, name } = run.dataset;
  const whose = users === 1 ? 'one user, and says nothing of others' : `${users} users`;
  return [
    ...(lack === undefined ? [] : [`${lack}. Do not quote these numbers.`]),
    ...savings,
    ...(run.unknownQuality === null
      ? qualitySentences(results, rag?.arm ?? '')
      : [`No quality: ${run.unknownQuality}.`]),
    ...(unproven === undefined ? [] : [unproven]),
    `This holds for ${run.model.name}, a model of ${modelSize(run.model)}, on ${name}, ${whose}; ` +
      'it does not show that larger models or other domains behave alike.',
  ];
}
