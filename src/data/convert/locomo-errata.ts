import { z } from 'zod';
import { BenchError } from '../../base/bench-error.ts';
import { normalise } from '../normalise-text.ts';
import { jsonElements } from '../stream-json-list.ts';
import { checkSchema } from '../check-schema.ts';

const entrySchema = z.looseObject({
  question_id: z.string().regex(/^\w+_\d+_qa\d+$/, 'expected conversation and question such as locomo_0_qa12'),
  question: z.string(),
  golden_answer: z.union([z.string(), z.number()]),
  error_type: z.string(),
  correct_evidence: z.array(z.string()).default([]),
  correct_answer: z.union([z.string(), z.number()]),
});

type Entry = z.output<typeof entrySchema>;

interface PublishedQuestion {
  readonly text: string;
  readonly answer: string;
  readonly evidence: readonly string[];
}

/** Correction of one question, or `drop` if it has no single right answer. */
type Correction =
  | 'drop'
  | {
      /** Corrected answer; undefined if the published one is right. */
      readonly answer?: string;
      readonly accepted: readonly string[];
      readonly evidence: readonly string[];
    };

/** Errors after which no single answer is right: the question is ambiguous, or asks for what another person said. */
const unanswerable = new Set(['AMBIGUOUS', 'ATTRIBUTION_ERROR']);
/** Error type: the answer is right, but its citation is wrong. */
const CITATION = 'WRONG_CITATION';

const isSame = (a: string | number, b: string | number): boolean =>
  normalise(String(a), 'en') === normalise(String(b), 'en');

/** Removes remarks in brackets, such as `(D7:5)`; null if the text explains instead of answering. */
function withoutRemarks(text: string): string | null {
  const plain = text.replace(/\s*\([^()]*(?:\([^()]*\)[^()]*)*\)/g, '');
  const answer = plain.trim().replace(/\.$/, '');
  return answer === '' || /[.;]\s/.test(answer) ? null : answer;
}

function correct({ error_type: error, golden_answer: gold, correct_answer: right, ...entry }: Entry): Correction {
  const evidence = entry.correct_evidence;
  const answer = withoutRemarks(String(right));
  const isNew = answer !== null && !isSame(answer, gold);
  if (error === CITATION) return { accepted: isNew ? [answer] : [], evidence };
  if (unanswerable.has(error) || answer === null) return 'drop';
  return { ...(isNew ? { answer } : {}), accepted: [], evidence };
}

export type LocomoErrata = Awaited<ReturnType<typeof readLocomoErrata>>;

/**
 * Reads published errata of LoCoMo: corrected answers and citations. A question is dropped if no single answer is right:
 * `AMBIGUOUS`, `ATTRIBUTION_ERROR`, or an explanation (of several clauses) instead of an answer.
 * @throws BenchError `not-found`, or `bad-data` that names the entry at fault
 */
export async function readLocomoErrata(path: string) {
  const elements = jsonElements(path, 'errata are one JSON list of {question_id, error_type, correct_answer, …}');
  /** By `conversation/question`, both counted from 0 in the published file. */
  const entries = new Map<string, Entry>();
  for await (const { place, value } of elements) {
    const entry = checkSchema(entrySchema, value, place);
    const [, conversation, question] = /_(\d+)_qa(\d+)$/.exec(entry.question_id)!;
    const key = `${Number(conversation)}/${Number(question)}`;
    if (entries.has(key)) {
      const message = `${place}: question_id "${entry.question_id}" occurs twice`;
      throw new BenchError('bad-data', message, 'keep one entry for each question');
    }
    entries.set(key, entry);
  }
  const counts = { matched: 0, answers: 0, citations: 0, dropped: 0 };
  return {
    sha256: elements.sha256(),
    /**
     * Looks up and counts the correction of a question; undefined if there is none for this text and answer.
     * @param conversation number in the file, from 0 @param question number in the conversation, from 0
     */
    take(conversation: number, question: number, published: PublishedQuestion): Correction | undefined {
      const entry = entries.get(`${conversation}/${question}`);
      if (entry === undefined) return undefined;
      if (!isSame(entry.question, published.text) || !isSame(entry.golden_answer, published.answer)) return undefined;
      const correction = correct(entry);
      counts.matched++;
      if (correction === 'drop') counts.dropped++;
      else {
        if (correction.answer !== undefined) counts.answers++;
        if (correction.evidence.join() !== published.evidence.join()) counts.citations++;
      }
      return correction;
    },
    summary(): string {
      const { matched, answers, citations, dropped } = counts;
      const unmatched = entries.size - matched;
      return (
        `errata of ${entries.size} entries: ${answers} answers and ${citations} citations corrected, ` +
        `${dropped} questions dropped` +
        (unmatched === 0 ? '' : `; ${unmatched} entries match no question and answer of this file`)
      );
    },
  };
}
