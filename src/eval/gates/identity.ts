import { decided, examples, notRun, ragTurns, turnKey, type Gate } from './gate.ts';

/**
 * Arms that claim one token sequence have it, id by id, as read back from llama.cpp after the turn; and every arm has that
 * of its own prompt, unless blocks share positions there: of those llama.cpp gives back one id a position.
 */
export const identity: Gate = ({ arms, answered }) => {
  const rag = ragTurns(answered);
  const claiming = new Set(arms.filter((arm) => arm.claims !== 'nothing' && arm.name !== 'rag').map((arm) => arm.name));
  if (claiming.size === 0 || rag.size === 0) return notRun('identity', 'no arm claims the token sequence of another');
  const compared = answered.filter((turn) => claiming.has(turn.arm) && rag.has(turnKey(turn)));
  const readable = answered.filter((turn) => !turn.evidence.sharesPositions);
  const foreign = readable.filter((turn) => turn.evidence.firstForeignToken !== null);
  const different = compared.filter((turn) => {
    const reference = rag.get(turnKey(turn))!;
    return turn.evidence.sequenceSha256 !== reference.evidence.sequenceSha256;
  });
  const wrong = [...foreign, ...different];
  return wrong.length === 0
    ? decided(
        'identity',
        compared.length > 0,
        `${compared.length} turns of ${[...claiming].join(', ')} hold the ids of rag, ${readable.length} turns those of their own prompt`,
      )
    : decided('identity', false, `${wrong.length} turns hold other ids than they claim: ${examples(wrong)}`);
};
