import { z } from 'zod';
import { BenchError } from '../../base/bench-error.ts';
import { normalise } from '../normalise.ts';
import { checkedBy } from '../parse-record.ts';
import { jsonElements } from './json-elements.ts';

const entrySchema = z.looseObject({
  question_id: z.string().regex(/^\w+_\d+_qa\d+$/, 'expected conversation and question such as locomo_0_qa12'),
  question: z.string(),
  golden_answer: z.union([z.string(), z.number()]),
  error_type: z.string(),
  correct_evidence: z.array(z.string()).default([]),
  correct_answer: z.union([z.string(), z.number()]),
});

type Entry = z.output<typeof entrySchema>;

/** An audit's entry for one question. */
export type Correction =
  | { readonly drop: true }
  | {
      readonly drop: false;
      /** The right answer; undefined where the published one is. */
      readonly answer: string | undefined;
      /** Another wording of the published answer. */
      readonly accepted: readonly string[];
      readonly evidence: readonly string[];
    };

/** Number of questions that the errata touched, by what was done. */
export interface ErrataCounts {
  readonly entries: number;
  readonly correctedAnswers: number;
  /** Citations that changed, of questions that stay. */
  readonly correctedEvidence: number;
  readonly dropped: number;
  /** Entries of conversations and questions that the data file lacks, or has with another text or answer. */
  readonly unmatched: number;
}

/** Errors after which no single answer is right: the question is ambiguous, or asks for what somebody else said. */
const unanswerable = new Set(['AMBIGUOUS', 'ATTRIBUTION_ERROR']);
/** The answer is right, its citation is not. */
const CITATION = 'WRONG_CITATION';

/** Removes an auditor's remarks in brackets, such as `(D7:5)`; null for an explanation in place of an answer. */
function answerOf(text: string): string | null {
  const plain = text
    .replace(/\s*\([^()]*(?:\([^()]*\)[^()]*)*\)/g, '')
    .trim()
    .replace(/\.$/, '');
  return plain === '' || /[.;]\s/.test(plain) ? null : plain;
}

function correctionOf({ error_type: kind, golden_answer: gold, correct_answer: right, ...entry }: Entry): Correction {
  const evidence = entry.correct_evidence;
  const answer = answerOf(String(right));
  const same = answer !== null && normalise(answer, 'en') === normalise(String(gold), 'en');
  if (kind === CITATION) {
    return { drop: false, answer: undefined, accepted: answer === null || same ? [] : [answer], evidence };
  }
  if (unanswerable.has(kind) || answer === null) return { drop: true };
  return { drop: false, answer: same ? undefined : answer, accepted: [], evidence };
}

/** The numbers of conversation and question, counted from 0 in the order of the published file. */
function placeOf({ question_id: id }: Entry): string {
  const [, conversation, question] = /_(\d+)_qa(\d+)$/.exec(id)!;
  return `${Number(conversation)}/${Number(question)}`;
}

/**
 * Published errata of LoCoMo: wrong keys and citations. Citations are corrected, and answers where the audit names another
 * one. A question is dropped where no single answer is right: `AMBIGUOUS`, `ATTRIBUTION_ERROR`, or an explanation (of
 * several clauses) in place of an answer. Remarks in brackets are no part of an answer.
 */
export class Errata {
  readonly sha256: string;
  readonly #entries: ReadonlyMap<string, Entry>;
  readonly #counts = { correctedAnswers: 0, correctedEvidence: 0, dropped: 0, matched: 0 };

  private constructor(entries: ReadonlyMap<string, Entry>, sha256: string) {
    this.#entries = entries;
    this.sha256 = sha256;
  }

  /** @throws BenchError `not-found`, or `bad-data` that names the entry at fault */
  static async read(path: string): Promise<Errata> {
    const elements = jsonElements(path, 'errata are one JSON list of {question_id, error_type, correct_answer, …}');
    const entries = new Map<string, Entry>();
    let index = 0;
    for await (const element of elements) {
      const place = `${path}: [${index++}]`;
      const entry = checkedBy(entrySchema, element, place);
      const key = placeOf(entry);
      if (entries.has(key)) {
        const message = `${place}: question_id expected a question of its own, got "${entry.question_id}" again`;
        throw new BenchError('bad-data', message, 'keep one entry for each question');
      }
      entries.set(key, entry);
    }
    return new Errata(entries, elements.sha256());
  }

  /**
   * The audit's entry for a question; undefined for one that it does not name, or knows with another text or answer.
   * @param conversation its number in the file, from 0 @param question its number in the conversation, from 0
   */
  of(
    conversation: number,
    question: number,
    published: { readonly text: string; readonly answer: string; readonly evidence: readonly string[] },
  ): Correction | undefined {
    const { text, answer, evidence } = published;
    const entry = this.#entries.get(`${conversation}/${question}`);
    if (entry === undefined) return undefined;
    const same = (a: string, b: string): boolean => normalise(a, 'en') === normalise(b, 'en');
    if (!same(entry.question, text) || !same(String(entry.golden_answer), answer)) return undefined;
    const correction = correctionOf(entry);
    this.#counts.matched++;
    if (correction.drop) this.#counts.dropped++;
    else {
      if (correction.answer !== undefined) this.#counts.correctedAnswers++;
      if (correction.evidence.join() !== evidence.join()) this.#counts.correctedEvidence++;
    }
    return correction;
  }

  /** Counts of the questions that were looked up so far. */
  get counts(): ErrataCounts {
    const { matched, ...counts } = this.#counts;
    return { entries: this.#entries.size, ...counts, unmatched: this.#entries.size - matched };
  }
}
