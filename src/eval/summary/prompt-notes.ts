import type { AnsweredTurn } from '../stored-turn.ts';

/** What budgets did to the prompts, arm by arm: a reader must know whose prompts were cut. */
export function promptNotes(answered: readonly AnsweredTurn[], arms: readonly string[]): string[] {
  const counted = (what: string, isCut: (turn: AnsweredTurn) => boolean): string[] => {
    const cut = arms
      .map((arm) => ({ arm, turns: answered.filter((turn) => turn.arm === arm && isCut(turn)).length }))
      .filter(({ turns }) => turns > 0);
    return cut.length === 0 ? [] : [`${what}: ${cut.map(({ arm, turns }) => `${arm} in ${turns} turns`).join(', ')}`];
  };
  return [
    ...counted('forced truncation to the query alone', ({ prompt }) => prompt.forced),
    ...counted('recalled memories dropped by the budget', ({ prompt }) => !prompt.forced && prompt.droppedMemories > 0),
    ...counted('history cut to the newest', ({ prompt }) => !prompt.forced && prompt.droppedHistory > 0),
  ];
}
