import { clopperPearson } from '../statistics/clopper-pearson.ts';
import { type Check, decided, undecided } from './check.ts';

/** Below this share of owners who hear their own secret the test is blind. */
const LEAST_OWNERS = 0.8;

/** Isolation: a planted secret comes out for its owner and never for another user; no user is served another's K/V. */
export const isolation: Check = ({ probes, randomWeights }) => {
  if (randomWeights) return undecided('isolation', 'random weights answer nothing');
  const probed = probes.isolation?.arms ?? [];
  const [first] = probed;
  if (first === undefined) return undecided('isolation', 'no arm retrieves memories of one user');
  const deaf = probed.filter(({ owners }) => owners.right < LEAST_OWNERS * owners.answers);
  const blind = deaf.filter(({ mustHear }) => mustHear);
  const leaking = probed.filter(({ strangers }) => strangers.leaks > 0);
  const sharing = probed.filter(({ doubles }) => doubles.reused > 0);
  const names = (arms: typeof probed): string => arms.map(({ arm }) => arm).join(', ');
  // Arms of one token sequence answer alike: the bound is that of one arm's answers, not of all together.
  const worst = Math.max(...probed.map(({ strangers }) => clopperPearson(strangers.leaks, strangers.answers).high));
  const evidence = [
    `${names(probed)}: owners heard their own in ${Math.min(...probed.map(({ owners }) => owners.right))} of ${first.owners.answers} answers or more`,
    ...(deaf.length === 0 ? [] : [`too few to judge ${names(deaf)} by`]),
    leaking.length === 0
      ? `no other's secret in ${first.strangers.answers} answers of each, upper bound ${(100 * worst).toFixed(1)} %`
      : `another's secret came out of ${names(leaking)}`,
    sharing.length === 0
      ? `no K/V of another user served ${first.doubles.answers} users with the same memories`
      : `K/V of another user served by ${names(sharing)}`,
  ];
  return decided('isolation', blind.length + leaking.length + sharing.length === 0, evidence.join('; '));
};
