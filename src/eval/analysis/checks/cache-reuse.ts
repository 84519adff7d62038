import { auditAgrees, type PromptTokenAudit } from '../../../store/records/prompt-token-audit.ts';
import { type AnsweredResult, evaluatesAsClaimed } from '../../../store/records/turn-record.ts';
import type { Turns } from '../turns-by-arm.ts';
import { type CheckInput, describeFaults, examples, fail, type OptionalCheck, pass, undecided } from './check.ts';

/**
 * Reuse: a prompt cache in this process finds exactly the tokens that earlier prompts of its user share; each repeat
 * finds the same KV as the first; work before a turn (`@built=ahead`) is in its account. An engine's prefix cache gives
 * each turn what it claims from it, to within a block, and a server's answers agree with its counters. Null if nothing
 * can be reused.
 */
export const reuse: OptionalCheck = (input) => {
  const { answered, plan, probes } = input;
  const { audit } = probes;
  const cached = answered.filter(({ account }) => account.found !== undefined);
  const own = inProcess(input);
  const faults = describeFaults(own.faults);
  if (faults !== '') return fail(faults);
  if (audit === undefined && cached.length === 0) {
    const reusing = own.shared + own.ahead;
    if (reusing === 0 && plan.repeats === 1) return null;
    const [repeats, compared] =
      plan.repeats === 1 ? ['', reusing] : [`; ${plan.repeats} repeats found the same KV`, answered.length];
    const evidence = `${own.shared} turns found what earlier prompts share with theirs, ${own.ahead} had work done ahead${repeats}`;
    return pass(evidence, `one token in 1 of ${compared} turns`);
  }
  const plain = answered.filter(({ account }) => account.found === undefined && account.cache === 'bypass');
  const wrong = [...plain, ...cached].filter((turn) => !evaluatesAsClaimed(turn));
  const [first] = wrong;
  if (first !== undefined) {
    const evidence = `${wrong.length} turns did not evaluate what their prompts and the prefix cache leave: ${examples(wrong)}`;
    const example = `${first.tokens.evaluated} tokens instead of ${first.account.evaluated}`;
    return fail(`${evidence} (${example})`);
  }
  const found = cached.reduce((sum, { account, tokens }) => sum + account.positions - tokens.evaluated, 0);
  const turns =
    `${plain.length} turns evaluated all that they say` +
    (cached.length === 0 ? '' : `, ${cached.length} found ${found} tokens of earlier prompts, within a block`);
  if (audit === undefined) {
    return undecided(`${turns}; no server counters confirm it: the server has none, or an answer was lost`);
  }
  const detects = `one token in 1 of ${plain.length + cached.length} turns`;
  const evidence = `${turns}; ${auditText(audit)}`;
  return auditAgrees(audit) ? pass(evidence, detects) : fail(evidence);
};

function auditText({ answers, counters }: PromptTokenAudit): string {
  const said = `the server's answers say ${answers.evaluated} evaluated and ${answers.reused ?? 'unknown'} reused`;
  const counted = `its counters ${counters.evaluated} and ${counters.reused ?? 'unknown'}`;
  const external = answers.external ?? counters.external;
  const origins = external === undefined ? '' : `; ${external} of the reused came from outside the server`;
  return `${said}, ${counted}${origins}`;
}

/** Turns that used a cache in this process, and their faults. */
function inProcess({ answered, plan, probes }: CheckInput) {
  const shared = answered.filter(({ observed, account }) => observed.sharedTokens !== undefined && !account.found);
  const loses = ({ arm }: AnsweredResult): boolean => {
    const { evicted = 0, rejected = 0 } = (probes.kvStores[arm] ?? {}) as Record<string, number>;
    return evicted + rejected > 0;
  };
  const excess = ({ facts, tokens, observed }: AnsweredResult): number =>
    facts.tokens - tokens.evaluated - observed.sharedTokens!;
  const ahead = answered.filter(({ observed }) => observed.aheadTokens !== undefined);
  return {
    shared: shared.length,
    ahead: ahead.filter(({ account }) => account.ahead !== undefined).length,
    faults: {
      'found less of earlier prompts than they share': shared.filter((turn) => excess(turn) < 0 && !loses(turn)),
      'found more of earlier prompts than they share': shared.filter((turn) => excess(turn) > 0),
      'found other KV than the same turn of the first repeat': plan.sharesKv === true ? [] : unlikeFirst(answered),
      'have other tokens evaluated before them than they say': ahead.filter(
        ({ observed, account }) => observed.aheadTokens !== (account.ahead?.tokens ?? 0),
      ),
    },
  };
}

/** Turns of later repeats that found other KV than the first one did, with the same conversation before. */
function unlikeFirst(answered: Turns): Turns {
  const key = ({ arm, itemId, turn, facts }: AnsweredResult): string =>
    JSON.stringify([arm, itemId, turn, facts.historySha256]);
  const first = new Map(answered.filter(({ repeat }) => repeat === 0).map((turn) => [key(turn), turn]));
  return answered.filter((turn) => {
    const { cache, built, resident } = turn.account;
    const { account: other } = first.get(key(turn)) ?? turn;
    return other.cache !== cache || other.built !== built || other.resident !== resident;
  });
}
