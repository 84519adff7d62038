import type { EvaluatedTokens } from '../../../store/records/results.ts';
import { selectedByFirstLayers, selectedByModel } from '../../../store/records/turn-account.ts';
import type { AnsweredResult } from '../../../store/records/turn-result.ts';
import type { ArmTraits } from '../../../store/records/arm-traits.ts';
import { sumOf } from '../statistics/per-item.ts';
import { tokensOf } from '../turn-measures.ts';
import { type Check, decided, examples, undecided } from './check.ts';
import { evaluatesAsClaimed } from './reuse.ts';
import { plannedTurns } from './sample.ts';

/** The cells that a K/V turn must fill, and the tokens that it must evaluate, by the segments of its prompt and the meter. */
function isAccounted({ facts, tokens, account, observed }: AnsweredResult, arm: ArmTraits | undefined): boolean {
  const { cache, built, recomputed, gate } = account;
  const { injectableTokens, injectableCells = injectableTokens } = observed;
  // The memory before each block is evaluated with it, once more.
  const { context, sink } = arm?.making ?? {};
  const mostBuilt = (context === 'previous' ? 2 : 1) * injectableTokens + (sink?.tokens ?? 0);
  return (
    cache !== 'bypass' &&
    (cache === 'miss' ? built > 0 && built <= mostBuilt : built === 0) &&
    tokens.kvResident === injectableCells &&
    tokens.prompt + injectableTokens === facts.tokens &&
    tokens.evaluated === facts.tokens - injectableTokens + recomputed + selectedByModel(account) + gate + built &&
    (tokens.firstLayers ?? 0) === selectedByFirstLayers(account)
  );
}

/**
 * Token accounting: a K/V turn filled the cells of its injected memories, header included, without reading them: by the
 * token meter it evaluated exactly the tokens behind them, the recomputed ones, those that select these and those of its gate
 * on a cache hit, and the K/V that it built besides on a miss; through the model's first layers alone, what it says. The number of these cells is counted from the segments of the stored prompt, and by the ratio of an arm that evicts.
 * Every other turn evaluated what its account says. Turns that had no memory to inject are exempt.
 */
export const tokenAccounting: Check = ({ arms, answered, failed, probes, plan }) => {
  const isWhole = answered.length + failed.length === plannedTurns(arms, plan);
  const books = isWhole ? wrongBooks(answered, failed.length > 0, probes.profile.evaluatedTokens) : null;
  if (books !== null) return decided('token accounting', false, books);
  const byName = new Map(arms.map((arm) => [arm.name, arm]));
  const kv = new Set(arms.filter((arm) => arm.injects !== 'nothing').map((arm) => arm.name));
  if (kv.size === 0) return undecided('token accounting', 'no arm injects K/V');
  const turns = answered.filter((turn) => kv.has(turn.arm));
  const isChecked = (turn: AnsweredResult): boolean => kv.has(turn.arm) && turn.observed.injectableMemories > 0;
  const checked = turns.filter(isChecked);
  const wrong = [
    ...checked.filter((turn) => !isAccounted(turn, byName.get(turn.arm))),
    ...answered.filter((turn) => !evaluatesAsClaimed(turn) && !isChecked(turn)),
  ];
  if (checked.length === 0 && wrong.length === 0) return undecided('token accounting', 'no K/V turn kept a memory');
  const [first] = wrong;
  if (first !== undefined) {
    return decided(
      'token accounting',
      false,
      `${wrong.length} turns evaluated other than they claim: ${examples(wrong)} (meter ${first.tokens.evaluated},` +
        ` resident ${first.tokens.kvResident} of ${first.facts.tokens} tokens)`,
    );
  }
  const hits = checked.filter((turn) => turn.account.cache === 'hit').length;
  return decided(
    'token accounting',
    true,
    `meter exact on ${hits} cache hits and ${checked.length - hits} misses of ${[...kv].join(', ')};` +
      ` ${turns.length - checked.length} turns had nothing to inject`,
  );
};

/**
 * The reason why the books of the whole run do not close; null where they do, and where the engine does not count. Turns are
 * the sum of their own counts, but for what turns that failed had evaluated; nothing is evaluated between turns and work that
 * is declared.
 */
function wrongBooks(
  answered: readonly AnsweredResult[],
  someFailed: boolean,
  booked: EvaluatedTokens | null | undefined,
): string | null {
  if (booked === null || booked === undefined) return null;
  if (booked.unbooked !== 0) {
    return `${booked.unbooked} tokens were evaluated between turns, on no book`;
  }
  const turns = sumOf(answered, tokensOf.evaluated) ?? 0;
  return turns === booked.turns || (someFailed && turns < booked.turns)
    ? null
    : `turns evaluated ${turns} tokens by their own counts, and ${booked.turns} by the meter of the engine over all sessions`;
}
