import { type Check, examples, fail, pairWithReference, pass, turnsWhere, undecided } from './check.ts';

/**
 * Token identity: after a turn, the session holds the ids of its prompt and, if the arm claims the sequence of another
 * arm, the ids of that arm. Prompts are not compared if blocks share positions, since a session holds one id per
 * position, if the arm keeps shared sink tokens, which are in no prompt, or if its KV was made elsewhere.
 */
export const tokenIdentity: Check = ({ arms, answered }) => {
  const claims = arms.filter(({ equivalence, reference }) => equivalence !== 'none' && reference !== null);
  if (claims.length === 0) return undecided('no arm claims the token sequence of another');
  const pairs = claims.flatMap(({ name, reference }) => pairWithReference(answered, name, reference!));
  const unlike = arms.filter(({ making, external }) => making?.sink?.kept === true || external === true);
  const holdOthers = new Set(unlike.map(({ name }) => name));
  const readable = answered.filter(({ arm, account }) => !holdOthers.has(arm) && !account.sharesPositions);
  const foreign = readable.filter(({ observed }) => observed.firstForeignToken !== null);
  const different = turnsWhere(pairs, (own, other) => own.observed.sequenceSha256 !== other.observed.sequenceSha256);
  const wrong = [...foreign, ...different];
  if (wrong.length > 0) return fail(`${wrong.length} turns hold other ids than they claim: ${examples(wrong)}`);
  const names = claims.map(({ name }) => name).join(', ');
  const references = [...new Set(claims.map(({ reference }) => reference))].join(', ');
  const evidence = `${pairs.length} turns of ${names} hold the ids of ${references}, ${readable.length} turns those of their own prompt`;
  if (pairs.length === 0) return fail(evidence);
  return pass(evidence, `one other id in 1 of ${readable.length + pairs.length} comparisons`);
};
