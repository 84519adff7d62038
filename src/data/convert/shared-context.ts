import { z } from 'zod';
import type { JsonElements } from '../stream-json-list.ts';
import { checkSchema } from '../check-schema.ts';
import type { ConversionNotes } from './conversion-notes.ts';
import { askedAt, memoriesWithAnswer, passageMemories, splitContext } from './passage-questions.ts';
import type { SourceRecord } from './source-record.ts';

const texts = z.union([z.string(), z.number()], 'expected a text or a number').transform(String);

const contextSchema = z.looseObject({
  context: z.string().regex(/\S/, 'expected the shared context'),
  multi_turns: z
    .array(
      z.looseObject({
        input: z.string().regex(/\S/, 'expected a question'),
        answer: z.union(
          [texts.transform((one) => [one]), z.array(texts).min(1)],
          'expected an answer, or a list of them',
        ),
        options: z.array(z.string()).default([]),
      }),
    )
    .min(1, 'expected at least one question'),
});

/** Adds the options of a multiple-choice question, one per line: `A. Paris`. */
function withOptions(input: string, options: readonly string[]): string {
  const lines = options.map((option, at) => `${String.fromCharCode(65 + at)}. ${option}`);
  return [input, ...lines].join('\n');
}

/**
 * Reads contexts with several questions each, in the form of SCBench. A context becomes a user, its passages memories, and its
 * questions one conversation, so that each answer of an arm is history for its next question.
 * @throws BenchError `not-found` for a missing file, `bad-data` that names the context at fault
 * @see Li et al. 2024, "SCBench: A KV Cache-Centric Analysis of Long-Context Methods"
 */
export async function* sharedContextRecords(
  contexts: JsonElements,
  notes: ConversionNotes,
): AsyncGenerator<SourceRecord> {
  let index = 0;
  for await (const { place, value } of contexts) {
    const { context, multi_turns: turns } = checkSchema(contextSchema, value, place);
    const userId = `context-${String(++index).padStart(3, '0')}`;
    const memories = passageMemories(userId, splitContext(context), place);
    yield* memories;
    for (const [number, { input, answer: golds, options }] of turns.entries()) {
      const evidence = memoriesWithAnswer(memories, golds);
      if (evidence.length === 0)
        notes.add('questions whose answer is in no part of the context have no evidence', place);
      yield {
        kind: 'item',
        place: `${place} multi_turns[${number}]`,
        userId,
        itemId: `${userId}-q${String(number + 1).padStart(2, '0')}`,
        query: withOptions(input, options),
        answer: golds[0]!,
        acceptedAnswers: golds.slice(1),
        evidence: evidence.map(({ memoryId }) => memoryId),
        passages: memories.map(({ memoryId }) => memoryId),
        category: `question ${number + 1}`,
        condition: number + 1,
        conversation: userId,
        askedAt: askedAt(number),
      };
    }
  }
}
