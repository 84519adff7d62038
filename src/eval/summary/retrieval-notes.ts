import type { RetrievalFlag } from '../../memory/retriever.ts';
import type { AnsweredTurn } from '../stored-turn.ts';

const MEANING: Readonly<Record<RetrievalFlag['flag'], string>> = {
  failed: 'recall failed, and the question was asked without memories',
  degraded: 'a part of recall was missing',
  fallback: 'another way of recall was taken',
  cached: 'recall gave an earlier answer again',
};

/**
 * What a reader must know of recall: the questions for which it did not go the ordinary way, each once for all arms, and
 * what a filter would have kept out.
 * @param stats as the retriever counts
 */
export function retrievalNotes(answered: readonly AnsweredTurn[], stats: Readonly<Record<string, unknown>>): string[] {
  const questions = new Map(
    answered.flatMap(({ itemId, repeat, retrieval }) =>
      retrieval === null ? [] : [[`${repeat}/${itemId}`, retrieval]],
    ),
  );
  const notes = Object.entries(MEANING).flatMap(([kind, meaning]) => {
    const flagged = [...questions.values()].flatMap(({ flags }) => flags.filter(({ flag }) => flag === kind));
    if (flagged.length === 0) return [];
    return [`${meaning}: ${flagged.length} of ${questions.size} questions, first because ${flagged[0]!.reason}`];
  });
  const { warnings = [] } = stats as { readonly warnings?: readonly string[] };
  return [...warnings, ...notes, ...filterNote(stats)];
}

function filterNote({ wouldBeFiltered }: Readonly<Record<string, unknown>>): string[] {
  if (wouldBeFiltered === undefined) return [];
  const { admitted, refused, ignored } = wouldBeFiltered as Readonly<Record<string, number>>;
  const dropped = refused! + ignored!;
  return dropped === 0
    ? []
    : [
        `the ingress filter would have dropped ${dropped} of ${admitted! + dropped} memories, ${ignored!} of them for being short`,
      ];
}
