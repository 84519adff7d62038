import { type BenchError, formatValue } from '../../base/bench-error.ts';
import { checkConsistency, scopedId } from '../check-consistency.ts';
import type { DatasetSource } from '../dataset-source.ts';
import { type DatasetRecords, type Placed, readRecords, type Rule } from '../read-records.ts';
import { detectLanguage, knownLanguage, type Language } from '../../base/language.ts';
import { evidenceIsKnown } from '../dataset.ts';
import { normalise } from '../normalise-text.ts';
import { holdsWords, wordForm } from '../split-words.ts';
import type { ItemRecord, MemoryRecord, QuestionRecord } from '../record-schemas.ts';

/** Rules against data that the bench can read, but that make measurements misleading. */
type LintRule =
  | 'superseded-answer'
  | 'leak'
  | 'duplicate-content'
  | 'duplicate-question'
  | 'no-evidence'
  | 'user-without-items'
  | 'language';

/** A problem of a data set. `error`: the bench refuses it, or scores would be wrong; `warning`: the author decides. */
export interface Finding {
  readonly severity: 'error' | 'warning';
  readonly rule: Rule | LintRule;
  /** Counted from 1; null if no single line is at fault, or an element of a list. */
  readonly line: number | null;
  /** One line that begins with `file:line`. */
  readonly message: string;
  readonly hint: string;
}

export type Verification = Awaited<ReturnType<typeof verifyDataset>>;

/** Line number after `file:`; null for a message about the whole file. */
function lineNumber(path: string, message: string): number | null {
  const digits = message.startsWith(`${path}:`) ? /^\d+/.exec(message.slice(path.length + 1)) : null;
  return digits === null ? null : Number(digits[0]);
}

/**
 * Verifies a data set: each line against the schema, then records against one another, then by `lintDataset`. If a line
 * is invalid, only lines are checked, since other records would miss its record.
 * @throws BenchError `not-found` for a missing file, `bad-data` for one that is not UTF-8 or is empty
 */
export async function verifyDataset({ place: path, lines }: Pick<DatasetSource, 'place' | 'lines'>) {
  const findings: Finding[] = [];
  const add = (finding: Omit<Finding, 'line'>): void => {
    findings.push({ ...finding, line: lineNumber(path, finding.message) });
  };
  const report = (rule: Rule, { message, hint }: BenchError): void => add({ severity: 'error', rule, message, hint });
  const records = await readRecords(path, lines, report);
  const language = records.header?.record.language ?? 'en';
  const partial = findings.length > 0;
  if (!partial) {
    checkConsistency(records, report);
    for (const finding of lintDataset(records, language)) add(finding);
  }
  const errors = findings.filter(({ severity }) => severity === 'error').length;
  return {
    file: path,
    sha256: records.sha256,
    name: records.header?.record.name ?? null,
    language,
    valid: errors === 0,
    errors,
    warnings: findings.length - errors,
    findings: findings.sort((a, b) => (a.line ?? 0) - (b.line ?? 0)),
    /** True if a line is invalid, so that records were not compared with one another. */
    partial,
    statistics: datasetStatistics(records, language),
  };
}

type Draft = Omit<Finding, 'line'>;

function warning(rule: LintRule, message: string, hint: string): Draft {
  return { severity: 'warning', rule, message, hint };
}

function* aboutAnswer({ record, place }: Placed<ItemRecord>, language: Language): Generator<Draft> {
  const { answer, acceptedAnswers, query, superseded } = record;
  if (answer === null) return;
  const golds = [answer, ...acceptedAnswers];
  const leaked = golds.find((gold) => holdsWords(query, gold, language));
  if (leaked !== undefined) {
    const message = `${place}: query holds the answer ${formatValue(leaked)}`;
    yield warning('leak', message, 'ask without it, unless the question offers a choice');
  }
  // The metrics could not tell such a value from the gold.
  const stale = superseded.find((old) => golds.some((gold) => wordForm(old, language) === wordForm(gold, language)));
  if (stale !== undefined) {
    const message = `${place}: superseded expected values other than the answer, got ${formatValue(stale)}`;
    const hint = 'a right answer would count as superseded';
    yield { severity: 'error', rule: 'superseded-answer', message, hint };
  }
  if (!evidenceIsKnown(record)) {
    const message = `${place}: evidence and history are empty, and the answer is ${formatValue(answer)}`;
    const hint = 'name the memories that answer it, or write "answer": null if nothing does';
    yield warning('no-evidence', message, hint);
  }
}

/** Describes each record that has the same key as an earlier one. */
function* repeated<T>(
  records: readonly Placed<T>[],
  key: (record: T) => unknown,
  describe: (repeat: Placed<T>, first: Placed<T>) => Draft,
): Generator<Draft> {
  const found = new Map<string, Placed<T>>();
  for (const placed of records) {
    const text = JSON.stringify(key(placed.record));
    const first = found.get(text);
    if (first === undefined) found.set(text, placed);
    else yield describe(placed, first);
  }
}

function* duplicates({ memories, items, questions }: DatasetRecords, language: Language): Generator<Draft> {
  yield* repeated(
    memories,
    ({ userId, content }: MemoryRecord) => [userId, normalise(content, language)],
    ({ record, place }, first) => {
      const message = `${place}: content ${formatValue(record.content)} of user ${record.userId} repeats ${first.place}`;
      return warning('duplicate-content', message, 'keep one: both take a place among the retrieved memories');
    },
  );
  yield* repeated<ItemRecord | QuestionRecord>(
    [...items, ...questions],
    ({ userId, query, askedAt, ...more }) => {
      const { answer, condition, history } = 'answer' in more ? more : {};
      return [userId, normalise(query, language), answer, askedAt, condition, history];
    },
    ({ record, place }, first) => {
      const message = `${place}: query ${formatValue(record.query)} of user ${record.userId} repeats ${first.place}`;
      return warning('duplicate-question', message, 'keep one: it counts twice in every mean');
    },
  );
}

function* idleUsers({ path, memories, items, questions }: DatasetRecords): Generator<Draft> {
  const found = new Set([...items, ...questions].map(({ record }) => record.userId));
  for (const { record, place } of memories) {
    if (found.has(record.userId)) continue;
    found.add(record.userId);
    const message = `${place}: user ${formatValue(record.userId)} has memories and no item`;
    yield warning('user-without-items', message, `add items for the user, or remove the memories from ${path}`);
  }
}

/** Metrics tokenise by language: text in another one is tokenised wrongly. Tells only English and Chinese apart. */
function* otherLanguage({ path, header, items }: DatasetRecords, language: Language): Generator<Draft> {
  const answers = items.flatMap(({ record }) => record.answer ?? []);
  const chinese = answers.filter((answer) => detectLanguage(answer) === 'zh').length;
  const likely = 2 * chinese > answers.length ? 'zh' : 'en';
  const declared = knownLanguage(language);
  if (answers.length === 0 || declared === undefined || likely === declared) return;
  const message = `${header?.place ?? path}: language ${language}, and ${chinese} of ${answers.length} answers hold Chinese characters`;
  yield warning('language', message, `write "language":"${likely}" in a first record of "type":"dataset"`);
}

/**
 * Finds problems of readable data: answers in the question or among superseded values, duplicate texts, questions
 * without evidence, users without questions, and answers in another language. Texts are compared as the metrics do.
 */
function* lintDataset(records: DatasetRecords, language: Language): Generator<Draft> {
  for (const item of records.items) yield* aboutAnswer(item, language);
  yield* duplicates(records, language);
  yield* idleUsers(records);
  yield* otherLanguage(records, language);
}

export type Spread = ReturnType<typeof spread>;

export type DatasetStatistics = ReturnType<typeof datasetStatistics>;

function spread(counts: readonly number[]) {
  const sorted = [...counts].sort((a, b) => a - b);
  const at = (index: number): number => sorted[index] ?? 0;
  const middle = (sorted.length - 1) / 2;
  return { least: at(0), median: (at(Math.floor(middle)) + at(Math.ceil(middle))) / 2, most: at(sorted.length - 1) };
}

/** Counts labels; `names` are listed even if their count is 0. */
function countLabels(labels: readonly string[], names: Iterable<string> = []): Record<string, number> {
  const counts = new Map(Array.from(names, (name) => [name, 0]));
  for (const label of labels) counts.set(label, (counts.get(label) ?? 0) + 1);
  return Object.fromEntries([...counts].sort(([a], [b]) => (a < b ? -1 : 1)));
}

function datasetStatistics({ header, memories, items, questions }: DatasetRecords, language: Language) {
  const memoryRecords = memories.map(({ record }) => record);
  const itemRecords = items.map(({ record }) => record);
  const unanswered = questions.map(({ record }) => record);
  const all = [...itemRecords, ...unanswered];
  const users = new Set([...memoryRecords, ...all].map(({ userId }) => userId));
  const spreadByUser = (records: readonly { readonly userId: string }[]): Spread => {
    const owners = records.map(({ userId }) => userId);
    return spread(Object.values(countLabels(owners, users)));
  };
  const contents = new Map(memoryRecords.map(({ userId, memoryId, content }) => [scopedId(userId, memoryId), content]));
  const answerable = itemRecords.filter(({ answer }) => answer !== null);
  const withEvidence = answerable.filter(({ evidence }) => evidence.length > 0);
  const evident = withEvidence.filter(({ userId, answer, acceptedAnswers, evidence }) => {
    const text = evidence.map((id) => contents.get(scopedId(userId, id)) ?? '').join('\n');
    return [answer!, ...acceptedAnswers].some((gold) => holdsWords(text, gold, language));
  });
  return {
    users: users.size,
    memories: memories.length,
    items: items.length,
    answerable: answerable.length,
    absent: items.length - answerable.length,
    /** Questions without answers, for measuring retrieval; not among the items. */
    questions: questions.length,
    withHistory: itemRecords.filter(({ history }) => history.length > 0).length,
    preferences: memoryRecords.filter(({ preference }) => preference).length,
    superseding: memoryRecords.filter(({ supersedes }) => supersedes !== undefined).length,
    memoriesAUser: spreadByUser(memoryRecords),
    itemsAUser: spreadByUser(all),
    memoryCharacters: spread(memoryRecords.map(({ content }) => [...content].length)),
    evidenceAnItem: spread([...answerable, ...unanswered].map(({ evidence }) => evidence.length)),
    /** How many of the answerable items with evidence have an answer that occurs in it, word by word. */
    answersInEvidence: { items: evident.length, of: withEvidence.length },
    categories: countLabels(all.map(({ category }) => category)),
    phrasings: countLabels(itemRecords.flatMap(({ phrasing }) => phrasing ?? [])),
    userKinds: countLabels(Object.values(header?.record.userKinds ?? {})),
  };
}
