import { type Check, decided, examples, undecided } from './check.ts';
import { pairsOf } from './pairs-of.ts';

/**
 * Token identity: arms that claim the token sequence of another have it, id by id, as the session holds it after the turn;
 * and every arm has that of its own prompt, unless blocks share positions there, of which the session knows one id each, or
 * shared tokens stand in front of them, which are in no prompt.
 */
export const tokenIdentity: Check = ({ arms, answered }) => {
  const claims = arms.flatMap(({ name, equivalence, reference }) =>
    equivalence === 'none' || reference === null ? [] : [{ name, reference }],
  );
  const compared = claims.flatMap(({ name, reference }) => pairsOf(answered, name, reference));
  if (claims.length === 0) return undecided('token identity', 'no arm claims the token sequence of another');
  const unlisted = new Set(arms.filter(({ making }) => making?.sink?.kept === true).map(({ name }) => name));
  const readable = answered.filter(({ arm, account }) => !account.sharesPositions && !unlisted.has(arm));
  const foreign = readable.filter((turn) => turn.observed.firstForeignToken !== null);
  const different = compared
    .filter(({ turn, other }) => turn.observed.sequenceSha256 !== other.observed.sequenceSha256)
    .map(({ turn }) => turn);
  const wrong = [...foreign, ...different];
  const names = claims.map(({ name }) => name).join(', ');
  const references = [...new Set(claims.map(({ reference }) => reference))].join(', ');
  return wrong.length === 0
    ? decided(
        'token identity',
        compared.length > 0,
        `${compared.length} turns of ${names} hold the ids of ${references}, ${readable.length} turns those of their own prompt`,
      )
    : decided('token identity', false, `${wrong.length} turns hold other ids than they claim: ${examples(wrong)}`);
};
