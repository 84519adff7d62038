import type { ArmIsolation } from '../../../store/records/run-probes.ts';
import { clopperPearson } from '../statistics/intervals.ts';
import { type Check, decided, undecided } from './check.ts';

/** Below this share of owners who are told their own secret, the test is blind. */
const MIN_OWNERS = 0.8;

/**
 * Isolation: a planted secret is told to its owner and never to another user, whether users ask one by one, at one moment,
 * or through a system that was reopened on the same store; an owner who is told the secret alone is told it while others ask;
 * and no user is served another user's KV cache. Undecided if no arm tells owners their own secrets.
 */
export const isolation: Check = ({ probes, randomWeights }) => {
  const probed = probes.isolation?.arms ?? [];
  const [first] = probed;
  if (first === undefined) return undecided('isolation', 'no arm retrieves memories of one user');
  const leaking = probed.filter((arm) => total(arm, 'leaks') > 0);
  const sharing = probed.filter(({ doubles, reopened }) => doubles.reused + (reopened?.reused ?? 0) > 0);
  const mixing = probed.filter(({ atOnce }) => (atOnce?.lost ?? 0) > 0);
  // Answers of random weights are chance; a KV cache that served another user is not.
  if (randomWeights && sharing.length === 0) return undecided('isolation', 'random weights answer nothing');
  const deaf = probed.filter(({ owners }) => owners.right < MIN_OWNERS * owners.answers);
  const names = (arms: typeof probed): string => arms.map(({ arm }) => arm).join(', ');
  // Arms with one token sequence answer alike, so the bound is that of one arm's answers.
  const bounds = probed.map((arm) => clopperPearson(total(arm, 'leaks'), total(arm, 'answers')).high);
  const evidence = [
    `${names(probed)}: owners heard their own in ${Math.min(...probed.map(({ owners }) => owners.right))} of ${first.owners.answers} answers or more`,
    ...(deaf.length === 0 ? [] : [`too few to judge ${names(deaf)} by`]),
    leaking.length === 0
      ? `no other's secret in ${total(first, 'answers')} answers of each, upper bound ${(100 * Math.max(...bounds)).toFixed(1)} %`
      : `another's secret came out of ${leaking.map(describeLeak).join(', ')}`,
    ...(mixing.length === 0 ? [] : [`owners who ask at one moment do not hear their own from ${names(mixing)}`]),
    sharing.length === 0
      ? `no KV cache of another user served ${first.doubles.answers} users with the same memories`
      : `KV cache of another user served by ${names(sharing)}`,
  ].join('; ');
  if (leaking.length + mixing.length + sharing.length > 0) return decided('isolation', false, evidence);
  if (deaf.length === probed.length) return undecided('isolation', `the model answers too few owners: ${evidence}`);
  return decided('isolation', !deaf.some(({ mustHear }) => mustHear), evidence);
};

/** Leaks, or answers that could hold another user's secret, over the three ways of asking. */
function total({ strangers, atOnce, reopened }: ArmIsolation, count: 'leaks' | 'answers'): number {
  return strangers[count] + (atOnce?.[count] ?? 0) + (reopened?.[count] ?? 0);
}

function describeLeak({ arm, strangers, atOnce, reopened }: ArmIsolation): string {
  const stages = [
    ['asked one by one', strangers.leaks],
    ['asked at one moment', atOnce?.leaks ?? 0],
    ['opened anew', reopened?.leaks ?? 0],
  ] as const;
  return `${arm} (${stages.flatMap(([stage, leaks]) => (leaks > 0 ? stage : [])).join(', ')})`;
}
