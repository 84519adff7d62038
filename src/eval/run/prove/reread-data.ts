import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';
import { createGunzip } from 'node:zlib';
import { textHash } from '../../../base/text-hash.ts';
import { type DatasetUser, profileOf } from '../../../data/dataset.ts';
import type { RereadCounts } from '../../../store/records/run-probes.ts';
import type { AnsweredTurn, Scores } from '../../../store/records/turn-record.ts';
import { type StoredTurn, TurnRepository } from '../../../store/turn-repository.ts';
import type { OpenBench } from '../open-bench.ts';
import type { PlanUser } from '../plan/plan-users.ts';
import type { ArmTraits } from '../../../store/records/arm-traits.ts';
import { scoreTurn } from '../../analysis/metrics/scores.ts';

/** A line of a data file, as it stands there. */
interface Line {
  readonly type?: string;
  readonly userId: string;
  readonly itemId?: string;
  readonly memoryId?: string;
  readonly content?: string;
  readonly value?: string;
  readonly relation?: string;
  readonly createdAt?: string;
  readonly query?: string;
  readonly answer?: string | null;
  readonly acceptedAnswers?: readonly string[];
  readonly aliases?: readonly string[];
  readonly evidence?: readonly string[];
  readonly superseded?: readonly string[];
  readonly category?: string;
  readonly language?: 'en' | 'zh';
  readonly conversation?: string;
  readonly history?: readonly { readonly content: string }[];
  readonly askedAt?: string;
}

/** The lines of a user, in the order of the file. */
interface UserLines {
  readonly items: readonly Line[];
  readonly memories: readonly Line[];
}

/** Data files read once more, by code that shares nothing with the reader of data sets. */
export type DataLines = ReadonlyMap<string, UserLines>;

/** Reads the lines of these users; undefined where a file is no JSON Lines. */
export async function readDataAgain(
  files: readonly string[],
  users: ReadonlySet<string>,
): Promise<DataLines | undefined> {
  const found = new Map<string, { items: Line[]; memories: Line[] }>();
  for (const file of files) {
    const bytes = createReadStream(file);
    const lines = createInterface({ input: file.endsWith('.gz') ? bytes.pipe(createGunzip()) : bytes });
    try {
      for await (const text of lines) {
        if (text.trim() === '') continue;
        const line = JSON.parse(text.replace(/^\ufeff/, '')) as Line;
        if (line.type === 'dataset') continue;
        if (line.userId === undefined) return undefined;
        if (!users.has(line.userId)) continue;
        const own = found.get(line.userId) ?? { items: [], memories: [] };
        found.set(line.userId, own);
        if (line.memoryId !== undefined && line.itemId === undefined) own.memories.push(line);
        else if (line.itemId !== undefined) own.items.push(line);
      }
    } catch {
      return undefined;
    } finally {
      bytes.destroy();
    }
  }
  return found;
}

/** What the turns of a user are held against. */
export interface Rereading {
  readonly lines: DataLines | undefined;
  readonly user: DatasetUser;
  readonly arms: readonly ArmTraits[];
  /** Questions of a user that the run asks; all where undefined. */
  readonly limit: number | undefined;
  readonly storesTexts: boolean;
  /** The metric that decides, and whether it is the calling program's. */
  readonly success: string;
  readonly isOwnSuccess: boolean;
}

const SCORED = [
  'exactMatch',
  'contains',
  'tokenF1',
  'memoryRecall',
  'rougeL',
  'bleu',
  'locomoF1',
  'abstention',
] as const;
const DECIDED = ['taskSuccess', 'wrongClass'] as const;
/** Sums of logarithms that were added in another order. */
const ROUNDING = 1e-6;

/** Holds the stored turns of a user against the lines of the file, and scores their answers again. */
export function rereadTurns(turns: Iterable<StoredTurn>, reading: Rereading): RereadCounts {
  const data: Record<string, number> = {};
  const scores: Record<string, number> = {};
  const count = (counts: Record<string, number>, arm: string, faults: readonly string[]): void => {
    for (const fault of faults) counts[`${arm}: ${fault}`] = (counts[`${arm}: ${fault}`] ?? 0) + 1;
  };
  const { lines, user, arms, storesTexts } = reading;
  const own = lines?.get(user.userId);
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
    count(data, turn.arm, dataFaults(turn, item, own, { traits, storesTexts }));
    if (storesTexts) count(scores, turn.arm, scoreFaults(turn, item, own, reading));
    else counts.withoutTexts++;
  }
  const due = own?.items.slice(0, reading.limit) ?? [];
  const unasked = due.filter(({ itemId }) => !asked.has(itemId!)).length;
  if (unasked > 0) data['questions that were not asked'] = unasked;
  return { ...counts, questions: due.length, data, scores };
}

/** The golds of a line, in any of the forms in which it may give them. */
function goldsOf({ answer, acceptedAnswers, aliases = [] }: Line): readonly string[] {
  return answer === null ? [] : [answer ?? '', ...(acceptedAnswers ?? aliases)];
}

function dataFaults(
  turn: AnsweredTurn,
  line: Line,
  { memories }: UserLines,
  { traits, storesTexts }: { readonly traits: ArmTraits; readonly storesTexts: boolean },
): string[] {
  const as = (text: string): string => (storesTexts ? text.normalize().trim() : textHash(text));
  const same = (own: string, text: string): boolean => (storesTexts ? as(own) : own) === as(text);
  const { item, given, observed } = turn;
  const golds = goldsOf(line);
  const stored = item.gold === null ? [] : [item.gold, ...item.acceptedAnswers];
  const evidence = new Set(line.evidence ?? []);
  const { retrieved } = given;
  const texts = new Map(memories.map(({ memoryId, content }) => [memoryId, content ?? '']));
  const isOwn = traits.retrieves !== 'donor';
  const isGiven = traits.retrieves !== 'evidence' || retrieved.every(({ memoryId }) => evidence.has(memoryId));
  const faults = {
    'another question': !same(item.query, line.query ?? ''),
    'other golds': golds.length !== stored.length || golds.some((gold, place) => !same(stored[place]!, gold)),
    'other evidence':
      item.evidence !== evidence.size || retrieved.some((one) => one.evidence !== evidence.has(one.memoryId)),
    'memories that are no evidence':
      !isGiven || (traits.retrieves === 'evidence' && retrieved.length !== evidence.size),
    'memories in other words':
      isOwn && retrieved.some(({ memoryId, content }) => texts.has(memoryId) && !same(content, texts.get(memoryId)!)),
    'memories of no one': isOwn && retrieved.some(({ memoryId }) => !texts.has(memoryId)),
    'memories out of the order of their scores':
      traits.retrieves === 'retrieved' &&
      traits.injects !== 'preferences' &&
      given.retrieval?.strategy === 'router' &&
      retrieved.some(({ score }, place) => score > (retrieved[place - 1]?.score ?? Infinity)),
    'another question to the retriever':
      observed.retrieverQuery !== undefined && !same(observed.retrieverQuery, line.query ?? ''),
  };
  return Object.entries(faults).flatMap(([fault, is]) => (is ? [fault] : []));
}

/** The scores of a turn that differ from those of its stored answer, and gold tokens that do not spell a gold. */
function scoreFaults(turn: AnsweredTurn, line: Line, own: UserLines, reading: Rereading): string[] {
  const { facts, given, answer, observed } = turn;
  const isDonated = reading.arms.some(({ name, retrieves }) => name === turn.arm && retrieves === 'donor');
  const { user, success, isOwnSuccess } = reading;
  const profile = profileOf(line.language, user.languageProfile);
  const all = [own, ...(reading.lines?.values() ?? [])].flatMap(({ memories }) => memories);
  const ids = new Set(facts.memoryIds);
  const shown = [...ids].flatMap((memoryId) => {
    const found = all.find((memory) => memory.memoryId === memoryId);
    return found === undefined
      ? []
      : [{ memoryId, content: found.content ?? '', value: found.value, relation: found.relation }];
  });
  const askedAt = Date.parse(line.askedAt ?? '');
  const again = scoreTurn(
    {
      query: line.query ?? '',
      answer: line.answer ?? null,
      acceptedAnswers: goldsOf(line).slice(1),
      category: line.category,
      evidence: line.evidence ?? [],
      superseded: line.superseded ?? [],
      relation: line.relation,
      history: line.history ?? [],
      conversation: line.conversation,
    },
    {
      answer: answer.text,
      storedIds: own.memories.flatMap(({ memoryId, createdAt }) =>
        Date.parse(createdAt ?? '') <= askedAt ? [memoryId!] : [],
      ),
      retrievedIds: given.retrieved.map(({ memoryId }) => memoryId),
      keptIds: facts.memoryIds,
      shown,
    },
    profile,
    success,
  );
  const names: readonly (keyof Scores)[] = isOwnSuccess ? SCORED : [...SCORED, ...DECIDED];
  // Whose memories a donor's are, the file of this user does not say.
  const isKnown = (name: keyof Scores): boolean => !isDonated || name !== 'wrongClass';
  const other = names.filter(isKnown).filter((name) => turn.scores[name] !== again[name]);
  const gold = line.answer ?? profile.unknownAnswer;
  const terms = observed.goldTokens;
  const isScored = observed.goldLogProbability !== null && terms.length > 0;
  const spelt = terms.map(({ token }) => token).join('');
  const sum = terms.reduce((total, { logProbability }) => total + logProbability, 0);
  const isWhole = spelt.replace(/\s+/gu, '').endsWith(gold.replace(/\s+/gu, ''));
  return [
    ...other,
    ...(isScored && !isWhole ? ['gold tokens that do not spell the gold'] : []),
    ...(isScored && Math.abs(sum - observed.goldLogProbability) > ROUNDING * (1 + Math.abs(sum))
      ? ['a log-probability that is not the sum of its tokens']
      : []),
  ];
}

/** Holds the turns of these users of a run against the files of its data. */
export async function rereadUsers(
  bench: Pick<
    OpenBench['bench'],
    'arms' | 'database' | 'dataFiles' | 'metrics' | 'runId' | 'settings' | 'storesTexts' | 'success' | 'users'
  >,
  planned: readonly PlanUser[],
): Promise<RereadCounts> {
  const { arms, database, dataFiles, metrics, runId, settings, storesTexts, success, users } = bench;
  const drawn = new Set(users.map(({ userId }) => userId));
  const lines = dataFiles === undefined ? undefined : await readDataAgain(dataFiles, drawn);
  const turns = new TurnRepository(database);
  const counts = planned.map(({ user }) =>
    rereadTurns(turns.listByRun(runId, { userId: user.userId }), {
      lines,
      user,
      arms: arms.map(({ arm }) => arm.traits),
      limit: settings.itemsPerUser,
      storesTexts,
      success,
      isOwnSuccess: metrics.some(({ name }) => name === success),
    }),
  );
  return counts.reduce(addRereadCounts, noTurns);
}

const noTurns: RereadCounts = { turns: 0, questions: 0, data: {}, scores: {}, withoutFile: 0, withoutTexts: 0 };

/** The counts of two parts of a run. */
export function addRereadCounts(a: RereadCounts, b: RereadCounts): RereadCounts {
  const sum = (one: RereadCounts['data'], other: RereadCounts['data']): RereadCounts['data'] =>
    Object.fromEntries(
      [...new Set([...Object.keys(one), ...Object.keys(other)])].map((kind) => [
        kind,
        (one[kind] ?? 0) + (other[kind] ?? 0),
      ]),
    );
  return {
    turns: a.turns + b.turns,
    questions: a.questions + b.questions,
    data: sum(a.data, b.data),
    scores: sum(a.scores, b.scores),
    withoutFile: a.withoutFile + b.withoutFile,
    withoutTexts: a.withoutTexts + b.withoutTexts,
  };
}
