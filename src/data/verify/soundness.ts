import { evidenceIsKnown } from '../dataset.ts';
import { type Language, languageOf } from '../../base/language.ts';
import { containsTokens, normalise } from '../normalise.ts';
import { shownValue } from '../../base/shown-value.ts';
import type { Placed } from '../parse-record.ts';
import type { DatasetRecords } from '../records.ts';
import type { ItemRecord, MemoryRecord, QuestionRecord } from '../schema.ts';
import type { Finding, SoundnessRule } from './finding.ts';

/** A finding without its line number. */
type Draft = Omit<Finding, 'line'>;

function draft(severity: Finding['severity'], rule: SoundnessRule, message: string, hint: string): Draft {
  return { severity, rule, message, hint };
}

function goldsOf({ answer, acceptedAnswers }: ItemRecord): string[] {
  return answer === null ? [] : [answer, ...acceptedAnswers];
}

/** True if the metrics cannot tell two values apart. */
function same(a: string, b: string, language: Language): boolean {
  return normalise(a, language) === normalise(b, language);
}

function* aboutAnswer({ record, place }: Placed<ItemRecord>, language: Language): Generator<Draft> {
  const golds = goldsOf(record);
  const leaked = golds.find((gold) => containsTokens(record.query, gold, language));
  if (leaked !== undefined) {
    const message = `${place}: query holds the answer ${shownValue(leaked)}`;
    yield draft('warning', 'leak', message, 'ask without it, unless the question offers a choice');
  }
  const stale = record.superseded.find((old) => golds.some((gold) => same(old, gold, language)));
  if (stale !== undefined) {
    const message = `${place}: superseded expected values other than the answer, got ${shownValue(stale)}`;
    yield draft('error', 'superseded-answer', message, 'a right answer would count as a stale one');
  }
  if (record.answer !== null && !evidenceIsKnown(record)) {
    const message = `${place}: evidence and history are empty, and the answer is ${shownValue(record.answer)}`;
    const hint = 'name the memories that answer it, or write "answer": null where nothing does';
    yield draft('warning', 'no-evidence', message, hint);
  }
}

/** Reports records with equal keys, with the first of them. */
function* repeated<T>(
  records: readonly Placed<T>[],
  keyOf: (record: T) => string,
  said: (repeat: Placed<T>, first: Placed<T>) => Draft,
): Generator<Draft> {
  const found = new Map<string, Placed<T>>();
  for (const placed of records) {
    const key = keyOf(placed.record);
    const first = found.get(key);
    if (first === undefined) found.set(key, placed);
    else yield said(placed, first);
  }
}

function* duplicates({ memories, items, questions }: DatasetRecords, language: Language): Generator<Draft> {
  yield* repeated(
    memories,
    ({ userId, content }: MemoryRecord) => JSON.stringify([userId, normalise(content, language)]),
    ({ record, place }, first) => {
      const message = `${place}: content ${shownValue(record.content)} of user ${record.userId} stands in ${first.place}, too`;
      return draft('warning', 'duplicate-content', message, 'keep one: both take a place among the retrieved memories');
    },
  );
  yield* repeated<ItemRecord | QuestionRecord>(
    [...items, ...questions],
    ({ userId, query, askedAt, ...more }) => {
      const { answer, condition, history } = 'answer' in more ? more : {};
      return JSON.stringify([userId, normalise(query, language), answer, askedAt, condition, history]);
    },
    ({ record, place }, first) => {
      const message = `${place}: query ${shownValue(record.query)} of user ${record.userId} stands in ${first.place}, too`;
      return draft('warning', 'duplicate-question', message, 'keep one: it counts twice in every mean');
    },
  );
}

function* idleUsers({ path, memories, items, questions }: DatasetRecords): Generator<Draft> {
  const asked = new Set([...items, ...questions].map(({ record }) => record.userId));
  const idle = new Map<string, string>();
  for (const { record, place } of memories) {
    if (!asked.has(record.userId) && !idle.has(record.userId)) idle.set(record.userId, place);
  }
  for (const [userId, place] of idle) {
    const message = `${place}: user ${shownValue(userId)} has memories and no item`;
    yield draft(
      'warning',
      'user-without-items',
      message,
      `add items for the user, or remove the memories from ${path}`,
    );
  }
}

/** Metrics tokenise by language: text in another language is tokenised wrongly. */
function* otherLanguage({ path, header, items }: DatasetRecords, language: Language): Generator<Draft> {
  const answered = items.filter(({ record }) => record.answer !== null);
  const han = answered.filter(({ record }) => languageOf(record.answer!) === 'zh').length;
  const chinese = 2 * han > answered.length;
  if (answered.length === 0 || chinese === (language === 'zh')) return;
  const message = `${header?.place ?? path}: language ${language}, and ${han} of ${answered.length} answers hold Chinese characters`;
  const hint = `write "language":"${chinese ? 'zh' : 'en'}" in a first record of "type":"dataset"`;
  yield draft('warning', 'language', message, hint);
}

/**
 * Finds problems that do not prevent reading: answers that occur in the question or among the superseded values,
 * duplicate texts, questions without evidence, users without questions, and a language that is not that of the answers.
 * Texts are compared in the normal form of the metrics.
 */
export function* unsound(records: DatasetRecords, language: Language): Generator<Draft> {
  for (const item of records.items) yield* aboutAnswer(item, language);
  yield* duplicates(records, language);
  yield* idleUsers(records);
  yield* otherLanguage(records, language);
}
