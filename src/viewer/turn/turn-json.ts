import { printableJson } from '../../render/printable.ts';
import type { TurnModel } from './read-turn-page.ts';

function documentOf({ turn, pieces, attribution, rag }: TurnModel) {
  const ids = new Set(turn.state === 'answered' ? turn.prompt.segments.flatMap(({ tokenIds }) => tokenIds) : undefined);
  return {
    ...turn,
    pieces: Object.fromEntries([...pieces].filter(([id]) => ids.has(id))),
    attribution: attribution ?? null,
    ragNextTokens: rag?.observed.nextTokens ?? null,
  };
}

/**
 * Renders turns of one run for programs, as indented JSON that is safe to show as text:
 *
 * - `run`: `{ id, name, suite, model: { name, sha256 }, hiddenTexts }`; `hiddenTexts`: why hashes stand in place of texts, or null
 * - `turns`: each the record of a turn (`records/turn-record.ts`), and beside it
 *   - `unknownQuality`: the reason why no score is shown, or null; missing for a `failed` turn
 *   - `shownScores`: `{ metric, label, unit, value }` of each score that applies, by the run's primary metric first
 *   - `pieces`: texts of the ids of its segments, by id; empty if the run did not record them
 *   - `attribution`: the leave-one-out attribution of its answer, or null if it was not computed
 *   - `ragNextTokens`: the likeliest next tokens of the arm that gives the same memories as text, or null
 */
export function turnsJson([first, ...others]: readonly [TurnModel, ...TurnModel[]]): string {
  const { id, name, suite, model, hiddenTexts } = first.run;
  return printableJson({ run: { id, name, suite, model, hiddenTexts }, turns: [first, ...others].map(documentOf) });
}

export function turnJson(model: TurnModel): string {
  return turnsJson([model]);
}
