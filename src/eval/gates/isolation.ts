import { clopperPearson } from '../statistics/clopper-pearson.ts';
import { decided, notRun, type Gate } from './gate.ts';

/** Below this share of owners who hear their own secret the test is blind. */
const LEAST_OWNERS = 0.8;

/** A planted secret comes out for its owner and never for another user; no user finds another's K/V. */
export const isolation: Gate = ({ probes }) => {
  const probe = probes.isolation;
  if (probe === null || probe.owners.attempts === 0) return notRun('isolation', 'no arm recalls memories of one user');
  const { owners, strangers, sharedStates } = probe;
  const share = owners.right / owners.attempts;
  const { high } = clopperPearson(strangers.leaks, strangers.attempts);
  const shared =
    sharedStates.attempts === 0
      ? ''
      : `; K/V of another user found ${sharedStates.found} of ${sharedStates.attempts} times`;
  const blind = share < LEAST_OWNERS ? ' (blind: too few owners heard their own)' : '';
  return decided(
    'isolation',
    share >= LEAST_OWNERS && strangers.leaks === 0 && sharedStates.found === 0,
    `owners ${owners.right} of ${owners.attempts}${blind}; strangers ${strangers.leaks} of ${strangers.attempts},` +
      ` upper bound ${(100 * high).toFixed(2)} %${shared}`,
  );
};
