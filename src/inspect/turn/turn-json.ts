import { printableJson } from '../../report/render/printable.ts';
import type { TurnModel } from './read-turn.ts';

function documentOf({ turn, pieces, influence, rag }: TurnModel) {
  const ids = new Set(
    turn.state === 'answered' ? turn.promptInfo.segments.flatMap(({ tokenIds }) => tokenIds) : undefined,
  );
  return {
    ...turn,
    pieces: Object.fromEntries([...pieces].filter(([id]) => ids.has(id))),
    influence: influence ?? null,
    ragNextTokens: rag?.scores.evidence.nextTokens ?? null,
  };
}

/**
 * Turns of one run for programs, all that is shown of them, as indented JSON that is safe to show as text:
 *
 * - `run`: `{ id, name, suite, model: { name, sha256 } }`
 * - `turns`: of each `itemId`, `userId`, `arm`, `repeat`, `turn` and `state`; of a `failed` one `error`; of an `answered`
 *   one `answer`, `promptInfo` (`segments` with `role`, `text`, `tokenIds`, `origin`; `budget`, in tokens), `timings`
 *   (ms), `tokens`, `scores` (with `evidence`, `retrieval`, `passedStages`), `memories` (by rank), `kv` (null where
 *   nothing was injected) and `unknownQuality` (why no score may be shown, or null); and beside these
 *   - `pieces`: what the ids of its segments stand for, by id; empty where the run did not record them
 *   - `influence`: of each memory on the answer, or null where it was not computed
 *   - `ragNextTokens`: the likeliest next tokens of the arm that hands the same memories over as text, or null
 */
export function turnsJson([first, ...others]: readonly [TurnModel, ...TurnModel[]]): string {
  return printableJson({ run: first.run, turns: [first, ...others].map(documentOf) });
}

/** The document of one turn. */
export function turnJson(model: TurnModel): string {
  return turnsJson([model]);
}
