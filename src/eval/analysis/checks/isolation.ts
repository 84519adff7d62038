import type { ArmIsolation } from '../../../store/records/run-probes.ts';
import { clopperPearson } from '../statistics/intervals.ts';
import { type Check, fail, pass, sampledShare, undecided } from './check.ts';

/** If a smaller share of owners, rounded down, hears its own secret, silence towards others proves nothing. */
const MIN_OWNERS = 0.8;

/**
 * Isolation: planted secrets reach their owners and no other user, whether users ask one by one, concurrently, or
 * through a system that was reopened on the same store. Owners who hear their secret alone also hear it while others
 * ask. No user is served another user's KV cache. Undecided if no arm tells owners their own secrets.
 */
export const isolation: Check = ({ probes, randomWeights }) => {
  const { arms: probed } = probes.isolation ?? { arms: [] };
  const [first] = probed;
  if (first === undefined) return undecided('no arm retrieves memories by user');
  const leaking = probed.filter((arm) => total(arm, 'leaks') > 0);
  const sharing = probed.filter(({ doubles, reopened }) => doubles.reused + (reopened?.reused ?? 0) > 0);
  const mixing = probed.filter(({ atOnce }) => (atOnce?.lost ?? 0) > 0);
  // Answers of random weights are chance; a KV cache that served another user is not.
  if (randomWeights && sharing.length === 0) return undecided('random weights answer nothing');
  const deaf = probed.filter(({ owners }) => owners.right < Math.floor(MIN_OWNERS * owners.answers));
  const names = (arms: typeof probed): string => arms.map(({ arm }) => arm).join(', ');
  // Arms with equal token sequences answer alike, so answers of different arms are not added up for the bound.
  const bounds = probed.map((arm) => clopperPearson(total(arm, 'leaks'), total(arm, 'answers')).high);
  const evidence = [
    `${names(probed)}: owners heard their own secret in at least ${Math.min(...probed.map(({ owners }) => owners.right))} of ${first.owners.answers} answers`,
    ...(deaf.length === 0 ? [] : [`too few to judge ${names(deaf)}`]),
    leaking.length === 0
      ? `no secret of another user in ${total(first, 'answers')} answers of each arm, upper bound ${(100 * Math.max(...bounds)).toFixed(1)} %`
      : `secrets of other users came out of ${leaking.map(describeLeak).join(', ')}`,
    ...(mixing.length === 0 ? [] : [`owners who ask concurrently do not hear their own secret from ${names(mixing)}`]),
    sharing.length === 0
      ? `no KV cache of another user served ${count(first.doubles.answers)} with the same memories`
      : `KV cache of another user served by ${names(sharing)}`,
  ].join('; ');
  if (leaking.length + mixing.length + sharing.length > 0) return fail(evidence);
  if (deaf.length === probed.length) return undecided(`the model answers too few owners: ${evidence}`);
  const fewest = Math.min(...probed.map((arm) => total(arm, 'answers')));
  const detects = `a leak in ${sampledShare(fewest)} of answers with 95 % certainty, or in 1 of ${count(first.doubles.answers)} with the same memories`;
  return deaf.some(({ mustHear }) => mustHear) ? fail(evidence) : pass(evidence, detects);
};

/** Leaks, or answers that could contain another user's secret, over the three ways of asking. */
function total({ strangers, atOnce, reopened }: ArmIsolation, count: 'leaks' | 'answers'): number {
  return strangers[count] + (atOnce?.[count] ?? 0) + (reopened?.[count] ?? 0);
}

const count = (users: number): string => `${users} user${users === 1 ? '' : 's'}`;

function describeLeak({ arm, strangers, atOnce, reopened }: ArmIsolation): string {
  const stages = { 'asked one by one': strangers, 'asked concurrently': atOnce, reopened };
  const leaking = Object.entries(stages).filter(([, stage]) => (stage?.leaks ?? 0) > 0);
  return `${arm} (${leaking.map(([stage]) => stage).join(', ')})`;
}
