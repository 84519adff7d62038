import { printableJson } from '../../render/escape-control-characters.ts';
import type { TurnModel } from './read-turn-page.ts';

function turnDocument({ turn, pieces, attribution, rag }: TurnModel) {
  const ids = new Set(turn.state === 'answered' ? turn.prompt.segments.flatMap(({ tokenIds }) => tokenIds) : undefined);
  return {
    ...turn,
    pieces: Object.fromEntries([...pieces].filter(([id]) => ids.has(id))),
    attribution: attribution ?? null,
    ragNextTokens: rag?.observed.nextTokens ?? null,
  };
}

/**
 * Renders turns of one run as indented JSON that is safe to print:
 *
 * - `run`: `{ id, name, suite, model: { name, sha256 }, hiddenTexts }`; `hiddenTexts`: reason why hashes replace texts, or null
 * - `turns`: records of turns (`records/turn-record.ts`) with these fields added
 *   - `unknownQuality`: reason why scores are hidden, or null; missing for a `failed` turn
 *   - `shownScores`: `{ metric, label, unit, value }` of each score, primary metric first
 *   - `pieces`: texts of tokens by token id; empty if the run did not record them
 *   - `attribution`: leave-one-out attribution of the answer, or null if it was not computed
 *   - `ragNextTokens`: likeliest next tokens of the arm that gives the same memories as text, or null
 */
export function turnsJson([first, ...others]: readonly [TurnModel, ...TurnModel[]]): string {
  const { id, name, suite, model, hiddenTexts } = first.run;
  return printableJson({ run: { id, name, suite, model, hiddenTexts }, turns: [first, ...others].map(turnDocument) });
}
