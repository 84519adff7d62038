import type { ServedLoad } from '../../../store/records/results.ts';
import { type CheckOfSome, decided, undecided } from './check.ts';

const at = ({ arm, offered }: ServedLoad): string => `${arm} at ${offered.toFixed(2)}/s`;

/**
 * Serving: under load, the engine evaluated what the turns say, turn for turn no token more; arms that claim the bits of the text give
 * the answers that `rag` gave to the same conversations. No check of a run that serves no load.
 */
export const serving: CheckOfSome = ({ probes, arms }) => {
  const loads = probes.measured?.serving?.loads;
  if (loads === undefined) return null;
  const miscounted = loads.filter(({ meter }) => meter !== null && meter.engine !== meter.turns);
  const exact = new Set(arms.filter(({ equivalence }) => equivalence === 'bitwise').map(({ name }) => name));
  const compared = loads.filter(({ arm, sameAsText }) => exact.has(arm) && sameAsText !== null);
  const astray = compared.filter(({ turns, errors, sameAsText }) => sameAsText! < turns - errors);
  const counted = loads.filter(({ meter }) => meter !== null).length;
  if (counted + compared.length === 0)
    return undecided('serving', 'no engine counter, and no arm that claims the bits of rag');
  const evidence = [
    miscounted.length === 0
      ? `evaluated tokens as counted by the engine in ${counted} of ${loads.length} loads`
      : miscounted.map((load) => `${at(load)}: engine ${load.meter!.engine}, turns ${load.meter!.turns}`).join('; '),
    astray.length === 0
      ? `answers of rag in ${compared.length} loads of arms that claim its bits`
      : `other answers than rag's: ${astray.map((load) => `${at(load)} ${load.turns - load.errors - load.sameAsText!}`).join(', ')}`,
  ].join('; ');
  return decided('serving', miscounted.length + astray.length === 0, evidence);
};
