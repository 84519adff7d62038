import { isDeepStrictEqual } from 'node:util';
import { parityBound } from '../../../store/records/run-probes.ts';
import type { AnsweredResult } from '../../../store/records/turn-record.ts';
import type { Check, CheckInput } from './check.ts';
import { describeFaults, fail, pairWithReference, pass, sampledShare, turnsWhere, undecided } from './check.ts';

/**
 * Answers: the scored answer is the one that the engine generated last. It begins with the likeliest token, within the
 * noise of the self-test; it equals the answer of the arm whose bits the arm claims; generating again from the same KV
 * cache repeats it. All arms of an item have the same limits. Unless the self-test is bitwise equal, different answers
 * are undecided.
 */
export const answers: Check = ({ arms, answered, probes }) => {
  const observed = answered.filter((turn) => turn.observed.answer !== undefined);
  if (observed.length === 0) return undecided('no turn recorded the answer that its engine generated');
  const { bitwiseEqual } = probes.parity;
  const pairs = arms.flatMap(({ name, equivalence, reference }) =>
    equivalence === 'bitwise' && reference !== null ? pairWithReference(observed, name, reference) : [],
  );
  const again = observed.filter((turn) => turn.observed.sameAgain !== undefined);
  const noise = parityBound(probes.parity);
  const unlikely = observed.filter((turn) => (turn.observed.answer!.shortfall ?? 0) > noise);
  const unlike = turnsWhere(pairs, (own, other) => own.observed.answer!.sha256 !== other.observed.answer!.sha256);
  const certain = {
    'are not what the engine generated': observed.filter((turn) => !turn.observed.answer!.asGenerated),
    'were generated under other limits than those of other arms': underOtherLimits({ answered, arms }),
    'do not begin with the likeliest token': unlikely,
  };
  const exact = {
    'differ from those of the arm that they claim to equal': unlike,
    'were different when they were generated again': again.filter((turn) => turn.observed.sameAgain === false),
  };
  const wrong = describeFaults(bitwiseEqual ? { ...certain, ...exact } : certain, 'answers');
  if (wrong !== '') return fail(wrong);
  const differing = describeFaults(exact, 'answers');
  if (differing !== '') return undecided(`${differing}; the self-test is not bitwise equal, which allows for that`);
  const evidence =
    `${observed.length} answers are what the engine generated, ${pairs.length} of them token by token those of the arm they` +
    ` claim to equal; ${again.length} were the same when generated again`;
  const detects = `one other token in 1 of ${observed.length} answers`;
  if (again.length === 0) return pass(evidence, detects);
  return pass(evidence, `${detects}, another answer from the same KV in ${sampledShare(again.length)} of turns`);
};

/** Turns with other limits than the baseline (without one, the first arm) on the same item. */
function underOtherLimits({ answered, arms }: Pick<CheckInput, 'answered' | 'arms'>): AnsweredResult[] {
  const traits = new Map(arms.map((arm) => [arm.name, arm]));
  const form = ({ arm }: AnsweredResult): string => traits.get(arm)?.settings.template ?? '';
  const limited = answered.filter(({ observed }) => observed.limits !== undefined);
  const groups = Map.groupBy(limited, (turn) => JSON.stringify([turn.itemId, turn.repeat, turn.turn, form(turn)]));
  return [...groups.values()].flatMap((turns) => {
    const reference = turns.find(({ arm }) => traits.get(arm)?.comparison === 'baseline') ?? turns[0]!;
    return turns.filter(({ observed }) => !isDeepStrictEqual(observed.limits, reference.observed.limits));
  });
}
