import type { ArmIsolation } from '../../../store/records/run-probes.ts';
import { clopperPearson } from '../statistics/clopper-pearson.ts';
import { type Check, decided, undecided } from './check.ts';

/** Below this share of owners who hear their own secret the test is blind. */
const LEAST_OWNERS = 0.8;

/**
 * Isolation: a planted secret comes out for its owner and never for another user, whether they ask one by one, at one moment,
 * or through a system that was opened anew on the same store; who hears their own alone hears it while others ask; no user is
 * served another's K/V. Where no arm tells owners their
 * own, the model cannot answer such questions, and nothing is shown.
 */
export const isolation: Check = ({ probes, randomWeights }) => {
  const probed = probes.isolation?.arms ?? [];
  const [first] = probed;
  if (first === undefined) return undecided('isolation', 'no arm retrieves memories of one user');
  const leaking = probed.filter((arm) => leaksOf(arm) > 0);
  const sharing = probed.filter(({ doubles, reopened }) => doubles.reused + (reopened?.reused ?? 0) > 0);
  const mixing = probed.filter(({ atOnce }) => (atOnce?.lost ?? 0) > 0);
  // What random weights say is chance; K/V that served another is none.
  if (randomWeights && sharing.length === 0) return undecided('isolation', 'random weights answer nothing');
  const deaf = probed.filter(({ owners }) => owners.right < LEAST_OWNERS * owners.answers);
  const blind = deaf.filter(({ mustHear }) => mustHear);
  const names = (arms: typeof probed): string => arms.map(({ arm }) => arm).join(', ');
  // Arms of one token sequence answer alike: the bound is that of one arm's answers, not of all together.
  const worst = Math.max(...probed.map((arm) => clopperPearson(leaksOf(arm), answersOf(arm)).high));
  const evidence = [
    `${names(probed)}: owners heard their own in ${Math.min(...probed.map(({ owners }) => owners.right))} of ${first.owners.answers} answers or more`,
    ...(deaf.length === 0 ? [] : [`too few to judge ${names(deaf)} by`]),
    leaking.length === 0
      ? `no other's secret in ${answersOf(first)} answers of each, upper bound ${(100 * worst).toFixed(1)} %`
      : `another's secret came out of ${leaking.map(leakOf).join(', ')}`,
    ...(mixing.length === 0 ? [] : [`owners who ask at one moment do not hear their own from ${names(mixing)}`]),
    sharing.length === 0
      ? `no K/V of another user served ${first.doubles.answers} users with the same memories`
      : `K/V of another user served by ${names(sharing)}`,
  ].join('; ');
  if (leaking.length + mixing.length + sharing.length > 0) return decided('isolation', false, evidence);
  if (deaf.length === probed.length) return undecided('isolation', `the model answers too few owners: ${evidence}`);
  return decided('isolation', blind.length === 0, evidence);
};

/** The stages in which an arm leaked: a fault that needs two users at one moment is another than one of the index. */
function leakOf({ arm, strangers, atOnce, reopened }: ArmIsolation): string {
  const stages = [
    ['asked one by one', strangers.leaks],
    ['asked at one moment', atOnce?.leaks ?? 0],
    ['opened anew', reopened?.leaks ?? 0],
  ] as const;
  return `${arm} (${stages.flatMap(([stage, leaks]) => (leaks > 0 ? stage : [])).join(', ')})`;
}

function leaksOf({ strangers, atOnce, reopened }: ArmIsolation): number {
  return strangers.leaks + (atOnce?.leaks ?? 0) + (reopened?.leaks ?? 0);
}

/** Answers that could hold somebody else's secret. */
function answersOf({ strangers, atOnce, reopened }: ArmIsolation): number {
  return strangers.answers + (atOnce?.answers ?? 0) + (reopened?.answers ?? 0);
}
