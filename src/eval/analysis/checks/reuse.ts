import { booksAgree } from '../../../store/records/engine-audit.ts';
import type { AnsweredResult } from '../../../store/records/turn-result.ts';
import { whereOf } from '../statistics/sublist.ts';
import { turnField } from '../turn-field.ts';
import { type CheckOfSome, decided, examples, undecided } from './check.ts';

const FOUND = turnField('account', 'found');

/**
 * True where a turn evaluated what its account says: to the token, or within a block of the engine's own prefix cache, which
 * finds whole blocks.
 */
export function evaluatesAsClaimed({ tokens, account }: Pick<AnsweredResult, 'tokens' | 'account'>): boolean {
  const block = account.found?.blockTokens ?? 1;
  return Math.abs(tokens.evaluated - account.evaluated) < block;
}

/**
 * Reuse: behind an engine that caches prefixes by itself, turns that claim nothing of that cache found nothing, those that use
 * it found what they share with earlier prompts of their user, within a block, and the answers of the server say what its own
 * counters say. Counters tell of everybody: another user of the server shows in them. No check of an engine that has neither.
 */
export const reuse: CheckOfSome = ({ answered, probes }) => {
  const { audit } = probes;
  const cached = whereOf(answered, FOUND, (found) => found !== undefined);
  if (audit === undefined && cached.length === 0) return null;
  const plain = answered.filter(({ account }) => account.found === undefined && account.cache === 'bypass');
  const wrong = [...plain, ...cached].filter((turn) => !evaluatesAsClaimed(turn));
  const [first] = wrong;
  if (first !== undefined) {
    return decided(
      'reuse',
      false,
      `${wrong.length} turns evaluated other than their prompts and the prefix cache leave: ${examples(wrong)}` +
        ` (${first.tokens.evaluated} tokens in place of ${first.account.evaluated})`,
    );
  }
  const found = cached.reduce((sum, { account, tokens }) => sum + account.positions - tokens.evaluated, 0);
  const turns =
    `${plain.length} turns evaluated all that they say` +
    (cached.length === 0 ? '' : `, ${cached.length} found ${found} tokens of earlier prompts, within a block`);
  if (audit === undefined) {
    return undecided('reuse', `${turns}; no counters of the server's own say so: it shows none, or an answer was lost`);
  }
  const { answers, counters } = audit;
  const said = `its answers say ${answers.evaluated} evaluated and ${answers.reused ?? 'unknown'} reused`;
  const counted = `its counters ${counters.evaluated} and ${counters.reused ?? 'unknown'}`;
  return decided('reuse', booksAgree(audit), `${turns}; of the server, ${said}, ${counted}`);
};
