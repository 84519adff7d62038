import { z } from 'zod';
import { formatValue } from '../../base/bench-error.ts';
import { containsTokens } from '../normalise-text.ts';
import type { JsonElements } from '../stream-json-list.ts';
import type { ConversionNotes, SourceMemory, SourceRecord } from './source-record.ts';
import { checkSchema, mismatch } from '../check-schema.ts';
import { DAY_MS, UNDATED_START_MS } from './dates.ts';

interface Passage {
  readonly title?: string;
  readonly text: string;
  /** Undefined where the format marks no evidence. */
  readonly isEvidence?: boolean;
}

interface PassageQuestion {
  readonly query: string;
  /** Gold answer and its other forms; empty if the passages do not answer it. */
  readonly answers: readonly string[];
  readonly passages: readonly Passage[];
  readonly category?: string | undefined;
}

const ASKED_MS = UNDATED_START_MS + DAY_MS;
const instant = (ms: number): string => new Date(ms).toISOString();

const question = z.string().regex(/\S/, 'expected a question');
const answers = z.array(z.string()).min(1, 'expected at least one answer');
const anyPassages = <T extends z.ZodType>(passage: T) =>
  z.array(passage).min(1, 'expected the passages of the question');

const cacheBlend = z.looseObject({
  question,
  answers,
  ctxs: anyPassages(z.looseObject({ title: z.string().default(''), text: z.string() })),
});

const longBench = z.looseObject({ input: question, answers, context: z.string().regex(/\S/, 'expected passages') });

const musique = z.looseObject({
  id: z.string().default(''),
  question,
  answer: z.string(),
  answer_aliases: z.array(z.string()).default([]),
  answerable: z.boolean().default(true),
  paragraphs: anyPassages(
    z.looseObject({ title: z.string().default(''), paragraph_text: z.string(), is_supporting: z.boolean() }),
  ),
});

/** Paragraphs as pairs of title and sentences, or, in the tables of Hugging Face, as two lists. */
const titled = z.union(
  [
    z.array(z.tuple([z.string(), z.array(z.string())])).min(1),
    z
      .looseObject({ title: z.array(z.string()), sentences: z.array(z.array(z.string())) })
      .transform(({ title, sentences }) => title.map((one, at): [string, string[]] => [one, sentences[at] ?? []])),
  ],
  'expected paragraphs such as [["title", ["sentence", …]], …]',
);
const supportingTitles = z.union(
  [
    z.array(z.tuple([z.string(), z.number()])).transform((facts) => facts.map(([title]) => title)),
    z.looseObject({ title: z.array(z.string()) }).transform(({ title }) => title),
  ],
  'expected facts such as [["title", 0], …]',
);

const hotpot = z.looseObject({
  question,
  answer: z.string().regex(/\S/, 'expected an answer: test files have none'),
  type: z.string().optional(),
  context: titled,
  supporting_facts: supportingTitles,
});

/** Reads a record in each form; the key of a form is a field that only this form has. */
const forms: Readonly<Record<string, (value: unknown, place: string) => PassageQuestion>> = {
  ctxs: (value, place) => {
    const { question: query, answers: golds, ctxs } = checkSchema(cacheBlend, value, place);
    return { query, answers: golds, passages: ctxs };
  },
  input: (value, place) => {
    const { input, answers: golds, context } = checkSchema(longBench, value, place);
    return { query: input, answers: golds, passages: splitContext(context) };
  },
  paragraphs: (value, place) => {
    const { id, question: query, paragraphs, ...key } = checkSchema(musique, value, place);
    return {
      query,
      answers: key.answerable ? [key.answer, ...key.answer_aliases] : [],
      passages: paragraphs.map(({ title, paragraph_text: text, is_supporting: isEvidence }) => {
        return { title, text, isEvidence };
      }),
      category: key.answerable ? /^\d+hop/.exec(id)?.[0] : 'unanswerable',
    };
  },
  supporting_facts: (value, place) => {
    const { question: query, answer, type, context, supporting_facts: facts } = checkSchema(hotpot, value, place);
    const passages = context.map(([title, sentences]) => {
      return { title, text: sentences.join(' ').replaceAll(/\s+/g, ' '), isEvidence: facts.includes(title) };
    });
    return { query, answers: [answer], passages, category: type };
  },
};

const MOST_CHARACTERS = 1200;
/** Where a text without headings may be cut, the best place first. */
const cuts = ['\n\n', '\n', '. ', ', ', ' '];

/**
 * Splits a text at the headings `Passage 1:` of LongBench, else into parts of at most 1,200 characters, between paragraphs
 * where it can.
 */
export function splitContext(context: string): Passage[] {
  const headed = context.split(/^Passage \d+:[ \t]*$/m).slice(1);
  if (headed.length > 0) return headed.map((text) => ({ text: text.trim() })).filter(({ text }) => text !== '');
  const parts: Passage[] = [];
  for (let rest = context.trim(); rest !== '';) {
    const most = rest.slice(0, MOST_CHARACTERS);
    const ends = cuts.map((cut) => most.lastIndexOf(cut) + cut.trimEnd().length);
    const end = rest.length <= MOST_CHARACTERS ? rest.length : ends.find((at) => at > MOST_CHARACTERS / 2);
    parts.push({ text: rest.slice(0, end ?? MOST_CHARACTERS).trim() });
    rest = rest.slice(end ?? MOST_CHARACTERS).trim();
  }
  return parts;
}

/** Passages as memories one second apart, since they have an order but no times; questions are asked a day later. */
function passageMemories(userId: string, passages: readonly Passage[], place: string) {
  return passages.map(({ title = '', text }, number) => ({
    kind: 'memory' as const,
    place,
    userId,
    memoryId: `${userId}-p${String(number + 1).padStart(2, '0')}`,
    content: title.trim() === '' ? text : `${title.trim()}: ${text}`,
    createdAt: instant(UNDATED_START_MS + number * 1000),
  })) satisfies SourceMemory[];
}

/** The memories that contain an answer word by word, as evidence where none is marked; yes and no do not count. */
function memoriesWithAnswer(memories: ReturnType<typeof passageMemories>, golds: readonly string[]) {
  const words = golds.filter((gold) => !/^\s*(?:yes|no)\W*$/i.test(gold));
  return memories.filter(({ content }) => words.some((gold) => containsTokens(content, gold, 'en')));
}

function readForm(value: unknown, place: string): PassageQuestion {
  const fields = typeof value === 'object' && value !== null ? Object.keys(value) : [];
  const form = Object.keys(forms).find((key) => fields.includes(key));
  if (form !== undefined) return forms[form]!(value, place);
  const expected = `a field ${Object.keys(forms).join(', ')}`;
  const got = fields.length === 0 ? formatValue(value) : fields.slice(0, 8).join(', ');
  throw mismatch(`${place}:`, expected, got, 'a file of CacheBlend, of LongBench, or as its authors publish it');
}

/**
 * Reads questions with passages, in the form of CacheBlend's inputs, of LongBench, or of the authors of MuSiQue, HotpotQA
 * and 2WikiMultiHopQA. Each question becomes a user of its own, so that only its passages can be retrieved. Marked passages
 * are the evidence; in forms that mark none, every passage with an answer.
 * @param prefix of the ids of users, so that one run can use several sets
 * @throws BenchError `not-found` for a missing file, `bad-data` that names the question at fault
 * @see Yao et al. 2024, "CacheBlend"; Bai et al. 2023, "LongBench"; Trivedi et al. 2022, "MuSiQue"; Yang et al. 2018, "HotpotQA";
 * Ho et al. 2020, "2WikiMultiHopQA"
 */
export async function* passageQuestionRecords(
  prefix: string,
  questions: JsonElements,
  notes: ConversionNotes,
): AsyncGenerator<SourceRecord> {
  let index = 0;
  for await (const { place, value } of questions) {
    const { query, answers: golds, passages, category } = readForm(value, place);
    const userId = `${prefix}${String(++index).padStart(3, '0')}`;
    const memories = passageMemories(userId, passages, place);
    yield* memories;
    const isMarked = passages.some(({ isEvidence }) => isEvidence !== undefined);
    const marked = memories.filter((_, at) => passages[at]!.isEvidence);
    const [answer = null, ...acceptedAnswers] = golds;
    const evidence = answer === null ? [] : isMarked ? marked : memoriesWithAnswer(memories, golds);
    if (answer !== null && evidence.length === 0) {
      const which = isMarked ? 'without a marked passage' : 'whose answer is in no passage';
      notes.add(`questions ${which} have no evidence`, place);
    }
    yield {
      kind: 'item',
      place,
      userId,
      itemId: userId,
      query,
      answer,
      acceptedAnswers,
      evidence: evidence.map(({ memoryId }) => memoryId),
      passages: memories.map(({ memoryId }) => memoryId),
      category: category ?? (evidence.length === 0 ? 'answer in no passage' : 'answer in a passage'),
      askedAt: instant(ASKED_MS),
    };
  }
}

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
        askedAt: instant(ASKED_MS + number * 1000),
      };
    }
  }
}
