import type { ServedLoad } from '../../../store/records/suite-measurements.ts';
import { fail, type OptionalCheck, pass, undecided } from './check.ts';

/**
 * Serving: under load, the engine's count of evaluated tokens equals that of the turns, and exact arms answer as `rag`. Loads in which every
 * turn failed prove nothing. Null without load.
 */
export const serving: OptionalCheck = ({ probes, arms }) => {
  const played = probes.measured?.serving?.loads;
  if (played === undefined) return null;
  const counted = played.map((load) => ({ ...load, answers: load.turns - load.errors }));
  const loads = counted.filter(({ answers }) => answers > 0);
  if (loads.length === 0) return undecided('no turn under load was answered');
  const metered = loads.flatMap(({ meter, ...load }) => (meter === null ? [] : [{ ...load, meter }]));
  const miscounted = metered.filter(({ meter }) => meter.engine !== meter.turns);
  const exact = new Set(arms.filter(({ equivalence }) => equivalence === 'bitwise').map(({ name }) => name));
  const compared = loads.filter(({ arm, sameAsText }) => exact.has(arm) && sameAsText !== null);
  const differing = compared.filter(({ answers, sameAsText }) => answers > sameAsText!);
  if (metered.length + compared.length === 0) {
    return undecided('the engine counts no tokens, and no arm claims to equal rag bit by bit');
  }
  const evidence = [
    miscounted.length === 0
      ? `evaluated tokens as counted by the engine in ${metered.length} of ${played.length} loads`
      : miscounted.map((load) => `${name(load)}: engine ${load.meter.engine}, turns ${load.meter.turns}`).join('; '),
    differing.length === 0
      ? `the answers of rag in ${compared.length} loads of arms that claim to equal it bit by bit`
      : `other answers than rag's: ${differing.map((load) => `${name(load)} ${load.answers - load.sameAsText!}`).join(', ')}`,
  ].join('; ');
  const turns = compared.reduce((sum, { answers }) => sum + answers, 0);
  if (miscounted.length + differing.length > 0) return fail(evidence);
  return pass(evidence, `one token in 1 of ${metered.length} loads, 1 answer of ${turns}`);
};

function name({ arm, offered }: Pick<ServedLoad, 'arm' | 'offered'>): string {
  return `${arm} at ${offered.toFixed(2)}/s`;
}
