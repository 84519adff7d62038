import { type Check, decided, examples, undecided } from './check.ts';
import { whereOf } from '../statistics/sublist.ts';
import { turnField } from '../turn-field.ts';
import { pairsOf, turnsWhere } from './pairs-of.ts';

const ARM = turnField(null, 'arm');
const SHARES_POSITIONS = turnField('account', 'sharesPositions');
const FOREIGN_TOKEN = turnField('observed', 'firstForeignToken');
const SEQUENCE = turnField('observed', 'sequenceSha256');

/**
 * Token identity: arms that claim the token sequence of another have it, id by id, as the session holds it after the turn;
 * and every arm has that of its own prompt, unless blocks share positions there, of which the session knows one id each, or
 * shared tokens stand in front of them, which are in no prompt.
 */
export const tokenIdentity: Check = ({ arms, answered }) => {
  const claims = arms.flatMap(({ name, equivalence, reference }) =>
    equivalence === 'none' || reference === null ? [] : [{ name, reference }],
  );
  const compared = claims.map(({ name, reference }) => pairsOf(answered, name, reference));
  const pairs = compared.reduce((sum, { turns }) => sum + turns.length, 0);
  if (claims.length === 0) return undecided('token identity', 'no arm claims the token sequence of another');
  const unlisted = new Set(arms.filter(({ making }) => making?.sink?.kept === true).map(({ name }) => name));
  const listed = whereOf(answered, ARM, (arm) => !unlisted.has(arm));
  const readable = whereOf(listed, SHARES_POSITIONS, (shares) => !shares);
  const foreign = whereOf(readable, FOREIGN_TOKEN, (token) => token !== null);
  const different = compared.flatMap((some) => turnsWhere(some, SEQUENCE, (own, other) => own !== other));
  const wrong = [...foreign, ...different];
  const names = claims.map(({ name }) => name).join(', ');
  const references = [...new Set(claims.map(({ reference }) => reference))].join(', ');
  return wrong.length === 0
    ? decided(
        'token identity',
        pairs > 0,
        `${pairs} turns of ${names} hold the ids of ${references}, ${readable.length} turns those of their own prompt`,
      )
    : decided('token identity', false, `${wrong.length} turns hold other ids than they claim: ${examples(wrong)}`);
};
