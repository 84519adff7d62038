import type { AnsweredTurn } from '../stored-turn.ts';
import { decided, examples, notRun, type Gate } from './gate.ts';

/** The cells that a K/V turn must fill, and what it must evaluate, by the segments of its prompt. */
function keepsItsWord({ prompt, tokens, evidence }: AnsweredTurn): boolean {
  const expected = evidence.reuse === 'seen' ? prompt.tokens - prompt.prefixTokens : prompt.tokens;
  return (
    evidence.reuse !== 'none' &&
    tokens.kvResident === prompt.prefixTokens &&
    tokens.prompt + tokens.kvResident === prompt.tokens &&
    tokens.evaluated === expected
  );
}

/**
 * A K/V turn filled the cells of header and memories without reading them: by the token meter it evaluated exactly what
 * stands behind the last memory where its set was seen, and the build besides where it was new. All other arms
 * evaluated what they say. Turns that kept no memory are exempt.
 */
export const materialisation: Gate = ({ arms, answered }) => {
  const kv = new Set(arms.filter((arm) => arm.kv).map((arm) => arm.name));
  if (kv.size === 0) return notRun('materialisation', 'no arm injects K/V');
  const turns = answered.filter((turn) => kv.has(turn.arm));
  const checked = turns.filter((turn) => turn.keptMemories > 0);
  const wrong = [
    ...checked.filter((turn) => !keepsItsWord(turn)),
    ...answered.filter((turn) => !kv.has(turn.arm) && turn.tokens.evaluated !== turn.evidence.expectedEvaluatedTokens),
  ];
  if (checked.length === 0 && wrong.length === 0) return notRun('materialisation', 'no K/V turn kept a memory');
  const [first] = wrong;
  if (first !== undefined) {
    return decided(
      'materialisation',
      false,
      `${wrong.length} turns evaluated other than they claim: ${examples(wrong)} (meter ${first.tokens.evaluated},` +
        ` resident ${first.tokens.kvResident}, prefix ${first.prompt.prefixTokens} of ${first.prompt.tokens} tokens)`,
    );
  }
  const seen = checked.filter((turn) => turn.evidence.reuse === 'seen').length;
  return decided(
    'materialisation',
    true,
    `meter exact on ${seen} seen and ${checked.length - seen} new K/V turns; ${turns.length - checked.length} kept no memory`,
  );
};
