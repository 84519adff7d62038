import type { AnsweredTurn } from '../stored-turn.ts';
import { decided, examples, notRun, turnKey, turnsOf, type Gate } from './gate.ts';

/** The turns of an arm beside those of its reference on the same item, where both had the same conversation before. */
function pairsOf(
  answered: readonly AnsweredTurn[],
  arm: string,
  reference: string,
): { readonly turn: AnsweredTurn; readonly other: AnsweredTurn }[] {
  const others = turnsOf(answered, reference);
  return answered.flatMap((turn) => {
    const other = turn.arm === arm ? others.get(turnKey(turn)) : undefined;
    return other?.prompt.historySha256 === turn.prompt.historySha256 ? [{ turn, other }] : [];
  });
}

/**
 * Arms that claim the token sequence of another have it, id by id, as read back from llama.cpp after the turn; and every
 * arm has that of its own prompt, unless blocks share positions there: of those llama.cpp gives back one id a position.
 */
export const identity: Gate = ({ arms, answered }) => {
  const claims = arms.flatMap(({ name, claims: claimed, reference }) =>
    claimed === 'nothing' || reference === null ? [] : [{ name, reference }],
  );
  const compared = claims.flatMap(({ name, reference }) => pairsOf(answered, name, reference));
  if (claims.length === 0) return notRun('identity', 'no arm claims the token sequence of another');
  const readable = answered.filter((turn) => !turn.evidence.sharesPositions);
  const foreign = readable.filter((turn) => turn.evidence.firstForeignToken !== null);
  const different = compared
    .filter(({ turn, other }) => turn.evidence.sequenceSha256 !== other.evidence.sequenceSha256)
    .map(({ turn }) => turn);
  const wrong = [...foreign, ...different];
  const names = claims.map(({ name }) => name).join(', ');
  const references = [...new Set(claims.map(({ reference }) => reference))].join(', ');
  return wrong.length === 0
    ? decided(
        'identity',
        compared.length > 0,
        `${compared.length} turns of ${names} hold the ids of ${references}, ${readable.length} turns those of their own prompt`,
      )
    : decided('identity', false, `${wrong.length} turns hold other ids than they claim: ${examples(wrong)}`);
};
