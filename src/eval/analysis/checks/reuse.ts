import { booksAgree } from '../../../store/records/run-probes.ts';
import type { AnsweredResult } from '../../../store/records/turn-record.ts';
import { decided, examples, type OptionalCheck, undecided } from './check.ts';

/**
 * True if a turn evaluated what its account says: to the token, or within a block of the engine's own prefix cache, which
 * finds whole blocks.
 */
export function evaluatesAsClaimed({ tokens, account }: Pick<AnsweredResult, 'tokens' | 'account'>): boolean {
  const block = account.found?.blockTokens ?? 1;
  return Math.abs(tokens.evaluated - account.evaluated) < block;
}

/**
 * Reuse, for engines that cache prefixes by themselves: turns that do not use that cache found nothing in it, those that do
 * found what they share with earlier prompts of their user, within a block, and the server's answers agree with its counters.
 * Counters include every user of the server, so that other users show in them. Null for an engine with neither.
 */
export const reuse: OptionalCheck = ({ answered, probes: { audit } }) => {
  const cached = answered.filter(({ account }) => account.found !== undefined);
  if (audit === undefined && cached.length === 0) return null;
  const plain = answered.filter(({ account }) => account.found === undefined && account.cache === 'bypass');
  const wrong = [...plain, ...cached].filter((turn) => !evaluatesAsClaimed(turn));
  const [first] = wrong;
  if (first !== undefined) {
    const evidence = `${wrong.length} turns evaluated other than their prompts and the prefix cache leave: ${examples(wrong)}`;
    const example = `${first.tokens.evaluated} tokens in place of ${first.account.evaluated}`;
    return decided('reuse', false, `${evidence} (${example})`);
  }
  const found = cached.reduce((sum, { account, tokens }) => sum + account.positions - tokens.evaluated, 0);
  const turns =
    `${plain.length} turns evaluated all that they say` +
    (cached.length === 0 ? '' : `, ${cached.length} found ${found} tokens of earlier prompts, within a block`);
  if (audit === undefined) {
    return undecided('reuse', `${turns}; no counters of the server confirm it: it shows none, or an answer was lost`);
  }
  const { answers, counters } = audit;
  const said = `its answers say ${answers.evaluated} evaluated and ${answers.reused ?? 'unknown'} reused`;
  const counted = `its counters ${counters.evaluated} and ${counters.reused ?? 'unknown'}`;
  return decided('reuse', booksAgree(audit), `${turns}; of the server, ${said}, ${counted}`);
};
