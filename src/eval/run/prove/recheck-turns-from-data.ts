import { memoize } from '../../../base/memoize.ts';
import { privateTextHash } from '../../../base/private-text-hash.ts';
import { type DatasetMemory, type DatasetUser, resolveUserLanguage } from '../../../data/dataset.ts';
import { jsonElements } from '../../../data/stream-json-list.ts';
import { fileText } from '../../../data/stream-text-file.ts';
import type { RereadCounts } from '../../../store/records/run-probes.ts';
import type { AnsweredTurn, Scores } from '../../../store/records/turn-record.ts';
import { type StoredTurn, TurnRepository } from '../../../store/turn-repository.ts';
import type { RunResources } from '../open-run-resources.ts';
import { sumByName } from '../workers/add-counts.ts';
import type { PlanUser } from '../plan/plan-users.ts';
import type { ArmTraits } from '../../../store/records/arm-traits.ts';
import { type ScoredItem, scoreTurn, type SuccessRule } from '../../analysis/metrics/score-turn.ts';

type FileMemory = Pick<DatasetMemory, 'memoryId' | 'content' | 'value' | 'relation' | 'createdAt'>;

/** A question of a data file. `golds`: the answer and its accepted forms; empty if only abstaining is right. */
type FileItem = Omit<ScoredItem, 'acceptedAnswers'> & {
  readonly itemId: string;
  readonly askedAt: string;
  readonly golds: readonly string[];
  readonly language?: string;
};

interface UserLines {
  readonly items: FileItem[];
  readonly memories: Map<string, FileMemory>;
}

type WrittenLine = Partial<Omit<FileItem, 'golds' | 'answer'> & FileMemory> & {
  readonly type?: string;
  readonly userId: string;
  /** One, or all that are right. */
  readonly answer?: string | null | readonly string[];
  readonly acceptedAnswers?: readonly string[];
  readonly aliases?: readonly string[];
};

/**
 * Reads the records of these users, by code that shares only unpacking and the splitting of a JSON list with the reader of data sets.
 * @returns the lines of each user, and memories by id, of equal ids the last; undefined if a file has other records
 */
export async function rereadDataFiles(files: readonly string[], users: ReadonlySet<string>) {
  const found = new Map<string, UserLines>();
  const memories = new Map<string, FileMemory>();
  try {
    for (const file of files) {
      const { lines, shared } = await linesOfUsers(file, users);
      for (const written of lines) {
        const line = withUniqueIds(written, shared);
        const own = found.get(line.userId) ?? { items: [], memories: new Map<string, FileMemory>() };
        found.set(line.userId, own);
        if (line.itemId !== undefined) own.items.push(fileItem(line));
        else [own.memories, memories].forEach((all) => all.set(line.memoryId!, line as FileMemory));
      }
    }
  } catch {
    return undefined;
  }
  return { users: found, memories };
}

/** Memories and questions of JSON Lines or one JSON list, without the header. @throws Error for any other record */
async function* writtenRecords(file: string): AsyncGenerator<WrittenLine> {
  for await (const record of (await isList(file)) ? listElements(file) : parsedLines(file)) {
    const { type, userId, ...line } = record as Partial<WrittenLine>;
    if (type === 'dataset') continue;
    if (userId === undefined) throw new Error('a record without a user');
    yield { ...line, userId: userId.normalize() };
  }
}

async function isList(file: string): Promise<boolean> {
  for await (const text of fileText(file)) {
    if (text.trim() !== '') return text.trimStart().startsWith('[');
  }
  return false;
}

async function* listElements(file: string): AsyncGenerator {
  for await (const { value } of jsonElements(file, 'expected records')) yield value;
}

async function* parsedLines(file: string): AsyncGenerator {
  let rest = '';
  for await (const text of fileText(file)) {
    const lines = (rest + text).split('\n');
    rest = lines.pop()!;
    for (const line of lines) if (line.trim() !== '') yield JSON.parse(line);
  }
  if (rest.trim() !== '') yield JSON.parse(rest);
}

/** The records of these users, and the ids that several users of the file share, as `KIND ID`. */
async function linesOfUsers(file: string, users: ReadonlySet<string>) {
  const lines: WrittenLine[] = [];
  const owners = new Map<string, string>();
  const shared = new Set<string>();
  for await (const line of writtenRecords(file)) {
    if (users.has(line.userId)) lines.push(line);
    for (const kind of ['memoryId', 'itemId'] as const) {
      if (line[kind] === undefined) continue;
      const id = `${kind} ${line[kind].normalize()}`;
      if (owners.has(id) && owners.get(id) !== line.userId) shared.add(id);
      owners.set(id, line.userId);
    }
  }
  return { lines, shared };
}

/** Renames ids that several users share, as a run does: `ann:m1`. */
function withUniqueIds(line: WrittenLine, shared: ReadonlySet<string>): WrittenLine {
  const own = (kind: 'memoryId' | 'itemId', given: string): string => {
    const id = given.normalize();
    return shared.has(`${kind} ${id}`) ? `${line.userId}:${id}` : id;
  };
  const { memoryId, itemId, evidence } = line;
  return {
    ...line,
    ...(memoryId === undefined ? {} : { memoryId: own('memoryId', memoryId) }),
    ...(itemId === undefined ? {} : { itemId: own('itemId', itemId) }),
    ...(evidence === undefined ? {} : { evidence: evidence.map((id) => own('memoryId', id)) }),
  };
}

/** The gold, null if only abstaining is right, and all accepted forms. */
function fileGolds({ answer: given = '', acceptedAnswers = [], aliases = [] }: WrittenLine) {
  if (given === null) return { answer: null, golds: [] };
  const [answer = '', ...others] = typeof given === 'string' ? [given] : given;
  return { answer, golds: [answer, ...others, ...acceptedAnswers, ...aliases] };
}

function fileItem(line: WrittenLine): FileItem {
  const { query = '', itemId = '', askedAt = '', evidence = [], superseded = [], history = [] } = line;
  return { ...line, ...fileGolds(line), query, itemId, askedAt, evidence, superseded, history };
}

export interface RecheckSettings {
  readonly lines: Awaited<ReturnType<typeof rereadDataFiles>>;
  readonly user: DatasetUser;
  readonly arms: readonly ArmTraits[];
  /** Number of questions that the run asks each user; undefined for all. */
  readonly limit: number | undefined;
  readonly storesTexts: boolean;
  /** The metric that decides, and whether it is the calling program's. */
  readonly success: SuccessRule;
  readonly isOwnSuccess: boolean;
}

const SCORED = [
  'exactMatch',
  'squadExactMatch',
  'contains',
  'tokenF1',
  'memoryRecall',
  'rougeL',
  'bleu',
  'locomoF1',
  'abstention',
] as const;
const DECIDED = ['taskSuccess', 'wrongClass'] as const;
/** Relative difference of sums whose terms were added in another order. */
const ROUNDING = 1e-6;

/** Compares the stored turns of a user with the data file, and scores their answers again. */
export function recheckTurns(turns: Iterable<StoredTurn>, reading: RecheckSettings): RereadCounts {
  const data: Record<string, number> = {};
  const scores: Record<string, number> = {};
  const count = (faults: Record<string, number>, arm: string, found: readonly string[]): void => {
    for (const fault of found) faults[`${arm}: ${fault}`] = (faults[`${arm}: ${fault}`] ?? 0) + 1;
  };
  const { lines, user, arms, limit, storesTexts } = reading;
  const own = lines?.users.get(user.userId);
  const asked = new Set<string>();
  const counts = { turns: 0, withoutFile: 0, withoutTexts: 0 };
  for (const turn of turns) {
    counts.turns++;
    asked.add(turn.itemId);
    if (own === undefined) counts.withoutFile++;
    if (own === undefined || turn.state === 'failed') continue;
    const item = own.items.find(({ itemId }) => itemId === turn.itemId);
    const traits = arms.find(({ name }) => name === turn.arm);
    if (item === undefined || traits === undefined) {
      count(data, turn.arm, ['questions that are not in the file']);
      continue;
    }
    count(data, turn.arm, [
      ...questionFaults(turn, item, storesTexts),
      ...memoryFaults(turn, { item, own, traits, storesTexts }),
    ]);
    if (storesTexts)
      count(scores, turn.arm, [...otherScores(turn, { item, own, traits }, reading), ...goldFaults(turn, item, user)]);
    else counts.withoutTexts++;
  }
  const due = dueItems(own, arms, limit);
  const unasked = due.filter(({ itemId }) => !asked.has(itemId)).length;
  if (unasked > 0) data['questions that were not asked'] = unasked;
  return { ...counts, questions: due.length, data, scores };
}

/** The items of a user that the run should have asked: none in a suite without arms. */
function dueItems(own: UserLines | undefined, arms: readonly ArmTraits[], limit: number | undefined) {
  return arms.length === 0 ? [] : (own?.items.slice(0, limit) ?? []);
}

const faultNames = (faults: Readonly<Record<string, boolean>>): string[] =>
  Object.entries(faults).flatMap(([fault, is]) => (is ? [fault] : []));

function questionFaults({ item, observed }: AnsweredTurn, line: FileItem, storesTexts: boolean): string[] {
  const same = (own: string, text: string): boolean =>
    storesTexts ? own.normalize().trim() === text.normalize().trim() : own === privateTextHash(text);
  const stored = item.gold === null ? [] : [item.gold, ...item.acceptedAnswers];
  const { golds, query } = line;
  return faultNames({
    'another question': !same(item.query, query),
    'other golds': golds.length !== stored.length || golds.some((gold, place) => !same(stored[place]!, gold)),
    'another question to the retriever': observed.retrieverQuery !== undefined && !same(observed.retrieverQuery, query),
  });
}

interface AnsweredLine {
  readonly item: FileItem;
  readonly own: UserLines;
  readonly traits: ArmTraits;
}

function memoryFaults(
  { item, given: { retrieved, retrieval } }: AnsweredTurn,
  { item: line, own, traits, storesTexts }: AnsweredLine & { readonly storesTexts: boolean },
): string[] {
  const evidence = new Set(line.evidence);
  const { retrieves, injects } = traits;
  const isSorted = retrieval?.strategy === 'router' && retrieves === 'retrieved' && injects !== 'preferences';
  const isLater = ({ createdAt }: FileMemory): boolean => Date.parse(createdAt) > Date.parse(line.askedAt);
  // Donated memories are another user's.
  const ofUser = retrieves === 'donor' ? [] : retrieved;
  const written = ofUser.map(({ memoryId, content }) => ({ content, memory: own.memories.get(memoryId) }));
  return faultNames({
    'other evidence':
      item.evidence !== evidence.size || retrieved.some((one) => one.evidence !== evidence.has(one.memoryId)),
    'memories that are no evidence':
      retrieves === 'evidence' &&
      (retrieved.length !== evidence.size || retrieved.some(({ memoryId }) => !evidence.has(memoryId))),
    'memories that were created later': written.some(({ memory }) => memory !== undefined && isLater(memory)),
    'memories in other words':
      storesTexts && written.some(({ content, memory }) => !isPart(content, memory?.content ?? content)),
    'memories of no one': written.some(({ memory }) => memory === undefined),
    'memories out of the order of their scores':
      isSorted && retrieved.some(({ score }, place) => score > (retrieved[place - 1]?.score ?? Infinity)),
  });
}

/** True if `part` is the text or a part of it. White space may differ. */
function isPart(part: string, text: string): boolean {
  const [inner, outer] = [part, text].map((one) => one.normalize().replace(/\s+/gu, ' ').trim());
  return inner !== '' && outer!.includes(inner!);
}

function otherScores(
  { facts, given, answer, scores }: AnsweredTurn,
  { item, own, traits }: AnsweredLine,
  { lines, user, success, isOwnSuccess }: RecheckSettings,
): string[] {
  const shown = [...new Set(facts.memoryIds)].flatMap((id) => own.memories.get(id) ?? lines?.memories.get(id) ?? []);
  const askedAt = Date.parse(item.askedAt);
  const stored = [...own.memories.values()].filter(({ createdAt }) => Date.parse(createdAt) <= askedAt);
  const turn = {
    answer: answer.text,
    storedIds: stored.map(({ memoryId }) => memoryId),
    retrievedIds: given.retrieved.map(({ memoryId }) => memoryId),
    keptIds: facts.memoryIds,
    shown,
  };
  const profile = resolveUserLanguage(item.language, user.languageProfile);
  const again = scoreTurn({ ...item, acceptedAnswers: item.golds.slice(1) }, turn, profile, success);
  const names: readonly (keyof Scores)[] = isOwnSuccess ? SCORED : [...SCORED, ...DECIDED];
  // Donated memories are not among this user's lines, so that a wrong answer cannot be classified.
  const isKnown = (name: keyof Scores): boolean => traits.retrieves !== 'donor' || name !== 'wrongClass';
  return names.filter((name) => isKnown(name) && scores[name] !== again[name]);
}

/** Faults of the scored gold tokens: they must spell the gold, and their ln p must add up. */
function goldFaults({ observed }: AnsweredTurn, { answer, language }: FileItem, user: DatasetUser): string[] {
  const { goldTokens: terms, goldLogProbability } = observed;
  if (goldLogProbability === null || terms.length === 0) return [];
  const gold = answer ?? resolveUserLanguage(language, user.languageProfile).unknownAnswer;
  const letters = (text: string): string => text.replace(/\s+/gu, '');
  // A token may hold only some of the bytes of a character, such as an emoji.
  const spells = (spelt: string, text: string): boolean =>
    !spelt.includes('\uFFFD')
      ? spelt.endsWith(text)
      : [...spelt.replaceAll(/^.*?\uFFFD|\uFFFD/gu, '')].every((letter) => text.includes(letter));
  const sum = terms.reduce((total, { logProbability }) => total + logProbability, 0);
  return faultNames({
    'gold tokens that do not spell the gold': !spells(letters(terms.map(({ token }) => token).join('')), letters(gold)),
    'a log-probability that is not the sum of its tokens':
      Math.abs(sum - goldLogProbability) > ROUNDING * (1 + Math.abs(sum)),
  });
}

/** A worker of a queue rechecks one user after the other. */
const linesOf = memoize(({ dataFiles, users }: Pick<RunResources['bench'], 'dataFiles' | 'users'>) =>
  dataFiles === undefined ? undefined : rereadDataFiles(dataFiles, new Set(users.map(({ userId }) => userId))),
);

export async function recheckUsers(
  bench: RunResources['bench'],
  planned: readonly PlanUser[],
  onUser?: (done: number, total: number) => void,
): Promise<RereadCounts> {
  const { arms, database, metrics, runId, settings, storesTexts, success } = bench;
  const lines = await linesOf(bench);
  const turns = new TurnRepository(database);
  const counts = planned.map(({ user }, index) => {
    const counted = recheckTurns(turns.listByRun(runId, { userId: user.userId }), {
      lines,
      user,
      arms: arms.map(({ arm }) => arm.traits),
      limit: settings.itemsPerUser,
      storesTexts,
      success,
      isOwnSuccess: metrics.some(({ name }) => name === success.metric),
    });
    onUser?.(index + 1, planned.length);
    return counted;
  });
  return sumByName([noTurns, ...counts]);
}

const noTurns: RereadCounts = { turns: 0, questions: 0, data: {}, scores: {}, withoutFile: 0, withoutTexts: 0 };
