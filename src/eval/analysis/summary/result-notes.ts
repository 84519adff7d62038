import { selfTestText } from '../checks/numerical-parity.ts';
import type { ArmTraits } from '../../../store/records/arm-traits.ts';
import { type AnsweredResult, type RetrievalRecord, selectorTokens } from '../../../store/records/turn-record.ts';
import type { RunRecord } from '../../../store/records/run-record.ts';
import type { ParitySelfTest } from '../../../store/records/run-probes.ts';
import { type Turns, turnsOfArm } from '../turns-by-arm.ts';
import type { MetricDefinition } from '../metrics/built-in-metrics.ts';
import type { RunMetrics } from '../metrics/metric-selection.ts';

const MEANING: Readonly<Record<RetrievalRecord['flags'][number]['flag'], string>> = {
  failed: 'retrieval failed, and the question was asked without memories',
  degraded: 'part of the retrieval was missing',
  fallback: 'retrieval took a fallback',
  cached: 'retrieval reused a cached result',
};

/** Notes on unusual retrievals, and on memories that the ingress filter would have dropped. */
export function retrievalNotes(answered: Turns, stats: Readonly<Record<string, unknown>>): string[] {
  const questions = new Map(
    answered.flatMap(({ itemId, repeat, given: { retrieval } }) =>
      retrieval === null ? [] : [[`${repeat}/${itemId}`, retrieval] as const],
    ),
  );
  const notes = Object.entries(MEANING).flatMap(([kind, meaning]) => {
    const flagged = [...questions.values()].flatMap(({ flags }) => flags.filter(({ flag }) => flag === kind));
    if (flagged.length === 0) return [];
    return [`${meaning}: ${flagged.length} of ${questions.size} questions; first reason: ${flagged[0]!.reason}`];
  });
  const { warnings = [], wouldBeFiltered } = stats as {
    readonly warnings?: readonly string[];
    readonly wouldBeFiltered?: Readonly<Record<string, number>>;
  };
  const { admitted = 0, refused = 0, ignored = 0 } = wouldBeFiltered ?? {};
  const dropped = refused + ignored;
  const memories = `${dropped} of ${admitted + dropped} memories, ${ignored} of them for being short`;
  return [...warnings, ...notes, ...(dropped > 0 ? [`the ingress filter would have dropped ${memories}`] : [])];
}

/** A note on items for which the data name no evidence. */
export function evidenceNotes(
  { items, withoutEvidence = 0 }: Pick<RunRecord['dataset'], 'items' | 'withoutEvidence'>,
  arms: readonly Pick<ArmTraits, 'name' | 'retrieves'>[],
): string[] {
  if (withoutEvidence === 0) return [];
  const given = arms.filter(({ retrieves }) => retrieves === 'evidence').map(({ name }) => name);
  const left = [...given, 'ranks of the evidence', 'the evidence funnel'].join(', ');
  return [`${withoutEvidence} of ${items} items name no evidence; they are left out of ${left}`];
}

/** A note on items without an answer prefix, if arms begin answers with the prefix of each item. */
export function answerPrefixNotes(
  answered: Turns,
  arms: readonly Pick<ArmTraits, 'name' | 'settings'>[],
  { answerPrefix, generalAnswerPrefix = '' }: Readonly<Record<string, unknown>>,
): string[] {
  const using = arms
    .filter(({ settings }) => (settings.answerPrefix ?? answerPrefix) === 'item')
    .map(({ name }) => name);
  const turns = using.flatMap((name) => turnsOfArm(answered, name));
  const items = new Map(turns.map(({ itemId, item }) => [itemId, item.answerPrefix]));
  const without = [...items.values()].filter((prefix) => prefix === null).length;
  if (without === 0) return [];
  const scope = using.length === arms.length ? '' : `${using.join(', ')}: `;
  const general = typeof generalAnswerPrefix === 'string' ? [generalAnswerPrefix] : Object.values(generalAnswerPrefix!);
  const quoted = general.map((prefix) => JSON.stringify(prefix)).join(' or ');
  const instead = generalAnswerPrefix === '' ? 'without one' : `with the general one, ${quoted}`;
  return [`${scope}${without} of ${items.size} items have no answer prefix and were asked ${instead}`];
}

/** A note on a primary metric that no answer satisfies though some contain the gold: the model writes sentences. */
export function metricNotes(answered: Turns, { all, primary }: RunMetrics): string[] {
  const above = (metric: MetricDefinition): number => answered.filter((turn) => (metric.of(turn) ?? 0) > 0).length;
  if (primary.unit !== '%' || primary.direction === 'lower' || above(primary) > 0) return [];
  const holding = above(all.find(({ name }) => name === 'contains')!);
  if (holding === 0) return [];
  return [
    `no answer of any arm satisfies ${primary.label}, but ${holding} of ${answered.length} contain the gold: to judge by that, write` +
      ' "primaryMetric":"contains" in the dataset line of the data',
  ];
}

/** A note on arms that claim bitwise equality, if the self-test found differing bits. */
export function exactnessNotes(selfTest: ParitySelfTest, arms: readonly ArmTraits[]): string[] {
  const exact = arms.filter(({ equivalence }) => equivalence === 'bitwise').map(({ name }) => name);
  if (selfTest.bitwiseEqual || exact.length === 0) return [];
  return [`${exact.join(', ')}: bitwise equality cannot be shown here (${selfTestText(selfTest)})`];
}

/** Notes on arms that use knowledge that no deployment has, with the tokens spent to obtain it. */
export function boundNotes(answered: Turns, arms: readonly Pick<ArmTraits, 'name' | 'deployable'>[]): string[] {
  return arms.flatMap(({ name, deployable }) => {
    const own = deployable === false ? turnsOfArm(answered, name) : [];
    const tokens = own.reduce((sum, { account }) => sum + selectorTokens(account, 'whole'), 0);
    if (tokens === 0) return [];
    const cost = `${tokens} of the tokens that its ${own.length} turns evaluated, and their time`;
    return [`${name} is a bound: it uses knowledge that no deployment has. Obtaining it took ${cost}`];
  });
}

/** Notes on prompts that were cut to the budget, by arm. */
export function promptNotes(answered: Turns, arms: readonly string[]): string[] {
  const countCut = (what: string, isCut: (facts: AnsweredResult['facts']) => boolean): string[] => {
    const cut = arms.flatMap((arm) => {
      const turns = turnsOfArm(answered, arm).filter(({ facts }) => isCut(facts)).length;
      return turns === 0 ? [] : [`${arm} in ${turns} turns`];
    });
    return cut.length === 0 ? [] : [`${what}: ${cut.join(', ')}`];
  };
  return [
    ...countCut('forced truncation to the query alone', ({ forced }) => forced),
    ...countCut('retrieved memories dropped by the budget', (facts) => !facts.forced && facts.droppedMemories > 0),
    ...countCut('history cut to its newest messages', (facts) => !facts.forced && facts.droppedHistory > 0),
  ];
}
