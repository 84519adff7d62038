import { decided, examples, notRun, type Gate } from './gate.ts';

/**
 * The token meter counts what an arm says that it evaluated: a seen K/V turn its suffix alone, a new one its build too.
 * A K/V turn that kept a memory must have filled cells without evaluating them again; one that kept none is exempt.
 */
export const materialisation: Gate = ({ arms, answered }) => {
  const kv = new Set(arms.filter((arm) => arm.kv).map((arm) => arm.name));
  if (kv.size === 0) return notRun('materialisation', 'no arm injects K/V');
  const turns = answered.filter((turn) => kv.has(turn.arm));
  const exempt = turns.filter((turn) => turn.keptMemories === 0);
  const checked = turns.filter((turn) => turn.keptMemories > 0);
  const wrong = checked.filter(({ tokens, evidence }) => {
    const suffix = tokens.positions - tokens.kvResident;
    const expected = evidence.reuse === 'seen' ? suffix : suffix + tokens.kvResident;
    return (
      tokens.kvResident === 0 ||
      evidence.reuse === 'none' ||
      tokens.evaluated !== expected ||
      tokens.evaluated !== evidence.expectedEvaluatedTokens
    );
  });
  const miscounted = answered.filter(
    (turn) => !kv.has(turn.arm) && turn.tokens.evaluated !== turn.evidence.expectedEvaluatedTokens,
  );
  if (wrong.length + miscounted.length > 0) {
    const first = [...wrong, ...miscounted][0]!;
    return decided(
      'materialisation',
      false,
      `${wrong.length + miscounted.length} turns evaluated other than they claim: ${examples([...wrong, ...miscounted])}` +
        ` (meter ${first.tokens.evaluated}, claimed ${first.evidence.expectedEvaluatedTokens} tokens)`,
    );
  }
  const seen = checked.filter((turn) => turn.evidence.reuse === 'seen').length;
  return decided(
    'materialisation',
    checked.length > 0,
    `meter exact on ${seen} seen and ${checked.length - seen} new K/V turns; ${exempt.length} kept no memory`,
  );
};
