import { isDeepStrictEqual } from 'node:util';
import type { ArmTraits } from '../../../store/records/arm-traits.ts';
import { type AnsweredResult, evaluatesAsClaimed, selectorTokens } from '../../../store/records/turn-record.ts';
import { type Check, type CheckInput, examples, fail, pass, undecided } from './check.ts';
import { plannedTurns } from '../planned-sample.ts';

/**
 * Token accounting: by the engine's meter, an injecting turn evaluates the tokens behind its memories, the recomputed
 * ones, those for selecting them and for its gate, and on a miss those that build KV; the cells of its memories,
 * counted from the stored prompt, are filled. Other turns, and those with KV made elsewhere, evaluate what their account says.
 */
export const tokenAccounting: Check = (input) => {
  const { arms, answered } = input;
  const mismatch = totalMismatch(input);
  if (mismatch !== null) return fail(mismatch);
  const isCounted = ({ injects, external }: ArmTraits): boolean => injects !== 'nothing' && external !== true;
  const injecting = new Map(arms.filter(isCounted).map((arm) => [arm.name, arm]));
  if (injecting.size === 0) return undecided('no arm injects a KV cache of its own');
  const isChecked = ({ arm, observed }: AnsweredResult) => injecting.has(arm) && observed.injectableMemories > 0;
  const checked = answered.filter(isChecked);
  const wrong = [
    ...checked.filter((turn) => !isAccounted(turn, injecting.get(turn.arm)!)),
    ...answered.filter((turn) => !isChecked(turn) && !evaluatesAsClaimed(turn)),
  ];
  if (checked.length === 0 && wrong.length === 0) return undecided('no turn that injects kept a memory');
  const [first] = wrong;
  if (first !== undefined) {
    const evidence = `${wrong.length} turns did not evaluate what they claim: ${examples(wrong)}`;
    const { evaluated, kvResident } = first.tokens;
    const example = `meter ${evaluated}, resident ${kvResident} of ${first.facts.tokens} tokens`;
    return fail(`${evidence} (${example})`);
  }
  const hits = checked.filter(({ account }) => account.cache === 'hit').length;
  const idle = answered.filter((turn) => injecting.has(turn.arm) && !isChecked(turn)).length;
  const exact = `meter exact on ${hits} cache hits and ${checked.length - hits} misses of ${[...injecting.keys()].join(', ')}`;
  const evidence = `${exact}; ${idle} turns had nothing to inject`;
  return pass(evidence, `one token too many or too few in 1 of ${answered.length} turns`);
};

/** True if prompt, account and meter agree on the cells and evaluated tokens of an injecting turn. */
function isAccounted({ facts, tokens, account, observed }: AnsweredResult, { making }: ArmTraits): boolean {
  const { cache, built, recomputed, gate } = account;
  const { injectableTokens, injectableCells = injectableTokens, remainderTokens = 0 } = observed;
  const prompt = facts.tokens - injectableTokens + remainderTokens;
  const expected = {
    kvResident: injectableCells - remainderTokens,
    prompt,
    evaluated: prompt + recomputed + selectorTokens(account, 'whole') + gate + built,
    firstLayers: selectorTokens(account, 'first-layers'),
  };
  const { kvResident, evaluated, firstLayers = 0 } = tokens;
  const counted = { kvResident, prompt: tokens.prompt, evaluated, firstLayers };
  if (cache === 'bypass' || !isDeepStrictEqual(counted, expected)) return false;
  return cache === 'miss' ? isBuilt(built, injectableTokens, making) : built === 0;
}

/** True if a cache miss built something, and no more than it injects. */
function isBuilt(built: number, injectableTokens: number, making: ArmTraits['making']): boolean {
  // `context=previous` evaluates each block behind the memory before it, so memories are evaluated twice.
  const most = (making?.context === 'previous' ? 2 : 1) * injectableTokens + (making?.sink?.tokens ?? 0);
  return built > 0 && built <= most;
}

/** How the engine's total differs from the sum over turns; null if it does not, or is unknown, or turns are missing. */
function totalMismatch({ arms, answered, failed, probes, plan }: CheckInput): string | null {
  const total = probes.profile.evaluatedTokens;
  const isWhole = answered.length + failed.length === plannedTurns(arms, plan);
  if (!isWhole || total === null || total === undefined) return null;
  if (total.unbooked !== 0) return `${total.unbooked} tokens were evaluated between turns and declared nowhere`;
  const turns = answered.reduce((sum, { tokens }) => sum + tokens.evaluated, 0);
  if (turns === total.turns || (failed.length > 0 && turns < total.turns)) return null;
  return `turns report ${turns} evaluated tokens, and the engine's meter over all sessions ${total.turns}`;
}
