import { z } from 'zod';
import { containsTokens } from '../normalise-text.ts';
import type { JsonElements } from '../stream-json-list.ts';
import type { SourceRecord } from './source-record.ts';
import { checkSchema } from '../check-schema.ts';
import type { ConversionNotes } from './conversion-notes.ts';

const questionSchema = z.looseObject({
  question: z.string(),
  answers: z.array(z.string()).min(1, 'expected at least one answer'),
  ctxs: z
    .array(z.looseObject({ title: z.string().default(''), text: z.string() }))
    .min(1, 'expected the passages of the question'),
});

/** Passages have an order but no times: they get times one second apart, and the question a day later. */
const FIRST_MS = Date.UTC(2000, 0, 1);
const ASKED_MS = FIRST_MS + 86_400_000;

const instant = (ms: number): string => new Date(ms).toISOString();

/**
 * Reads questions with passages in the format of CacheBlend's inputs. Each question becomes a user of its own, so that only its
 * passages can be retrieved. The format marks no evidence: every passage that contains an answer counts as evidence.
 * @throws BenchError `not-found` for a missing file, `bad-data` that names the question at fault
 * @see Yao et al. 2024, "CacheBlend"; Trivedi et al. 2022, "MuSiQue"
 */
export async function* musiqueRecords(
  path: string,
  questions: JsonElements,
  notes: ConversionNotes,
): AsyncGenerator<SourceRecord> {
  let index = 0;
  for await (const value of questions) {
    const place = `${path}: [${index}]`;
    const { question, answers, ctxs } = checkSchema(questionSchema, value, place);
    const userId = `q${String(++index).padStart(3, '0')}`;
    const passages = ctxs.map(({ title, text }, number) => ({
      memoryId: `${userId}-p${String(number + 1).padStart(2, '0')}`,
      content: title.trim() === '' ? text : `${title.trim()}: ${text}`,
    }));
    for (const [number, passage] of passages.entries()) {
      yield { kind: 'memory', place, userId, ...passage, createdAt: instant(FIRST_MS + number * 1000) };
    }
    const evidence = passages.filter(({ content }) => answers.some((gold) => containsTokens(content, gold, 'en')));
    if (evidence.length === 0) notes.add('questions whose answer is in no passage have no evidence', place);
    const [answer, ...acceptedAnswers] = answers;
    yield {
      kind: 'item',
      place,
      userId,
      itemId: userId,
      query: question,
      answer: answer!,
      acceptedAnswers,
      evidence: evidence.map(({ memoryId }) => memoryId),
      passages: passages.map(({ memoryId }) => memoryId),
      category: evidence.length === 0 ? 'answer in no passage' : 'answer in a passage',
      askedAt: instant(ASKED_MS),
    };
  }
}
