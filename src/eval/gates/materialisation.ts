import type { AnsweredTurn } from '../stored-turn.ts';
import { decided, examples, notRun, type Gate } from './gate.ts';

/** The cells that a K/V turn must fill, and what it must evaluate, by the segments of its prompt and the meter. */
function keepsItsWord({ prompt, tokens, evidence }: AnsweredTurn): boolean {
  const { reuse, builtTokens, linkTokens, gateTokens } = evidence;
  const built = reuse === 'new' ? builtTokens > 0 && builtTokens <= evidence.injectableTokens : builtTokens === 0;
  return (
    reuse !== 'none' &&
    built &&
    tokens.kvResident === evidence.injectableTokens &&
    tokens.prompt + tokens.kvResident === prompt.tokens &&
    tokens.evaluated === prompt.tokens - evidence.injectableTokens + linkTokens + gateTokens + builtTokens
  );
}

/**
 * A K/V turn filled the cells of its injected memories, header included, without reading them: by the token meter it
 * evaluated exactly what stands behind them, its link tokens and its gate pass where its set was seen, and the build
 * besides where it was new. How many cells that must be is counted from the segments of the stored prompt. All other
 * arms evaluated what they say. Turns that had no memory to inject are exempt.
 */
export const materialisation: Gate = ({ arms, answered }) => {
  const kv = new Set(arms.filter((arm) => arm.injects !== 'nothing').map((arm) => arm.name));
  if (kv.size === 0) return notRun('materialisation', 'no arm injects K/V');
  const turns = answered.filter((turn) => kv.has(turn.arm));
  const checked = turns.filter((turn) => turn.evidence.injectableMemories > 0);
  const isChecked = new Set(checked);
  const wrong = [
    ...checked.filter((turn) => !keepsItsWord(turn)),
    ...answered.filter(
      (turn) => !isChecked.has(turn) && turn.tokens.evaluated !== turn.evidence.expectedEvaluatedTokens,
    ),
  ];
  if (checked.length === 0 && wrong.length === 0) return notRun('materialisation', 'no K/V turn kept a memory');
  const [first] = wrong;
  if (first !== undefined) {
    return decided(
      'materialisation',
      false,
      `${wrong.length} turns evaluated other than they claim: ${examples(wrong)} (meter ${first.tokens.evaluated},` +
        ` resident ${first.tokens.kvResident} of ${first.prompt.tokens} tokens)`,
    );
  }
  const seen = checked.filter((turn) => turn.evidence.reuse === 'seen').length;
  return decided(
    'materialisation',
    true,
    `meter exact on ${seen} seen and ${checked.length - seen} new K/V turns of ${[...kv].join(', ')};` +
      ` ${turns.length - checked.length} had none to inject`,
  );
};
