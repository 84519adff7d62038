import type { ArmTraits } from '../../../store/records/arm-traits.ts';
import type { DatasetItem, DatasetUser } from '../../../data/dataset.ts';
import { type ControlItems, takesItem } from './plan-users.ts';
import { isProbed, probeTurns } from '../prove/isolation-probe.ts';
import { visibleMemories } from '../../../data/visible-memories.ts';

export interface RunEstimate {
  readonly users: number;
  readonly questions: number;
  readonly turns: number;
  readonly ms: number;
  /** A smaller `--limit` and its time; null for a short run, or a resumed one. */
  readonly smaller: { readonly limit: number; readonly ms: number } | null;
}

export interface WarmTurn {
  readonly traits: Pick<ArmTraits, 'retrieves' | 'control'>;
  readonly turnMs: number;
  readonly scoringMs: number;
}

export interface WarmUp {
  readonly user: DatasetUser;
  readonly item: DatasetItem;
  readonly turns: readonly WarmTurn[];
}

export interface EstimateSettings {
  readonly topK: number;
  readonly repeats: number;
  readonly contextTokens: number;
  readonly resumed: boolean;
  /** Questions of the whole run, which size the isolation probe. Default: those of the users. */
  readonly runQuestions?: number;
  /** Processes that take turns in parallel. The warm-up was timed in one of them. */
  readonly workers: number;
  /** Default: controls answer all items. */
  readonly controls?: ControlItems;
}

const CHARACTERS_PER_TOKEN = 4;
/** System prompt and template. */
const FIXED_CHARACTERS = 300;
/** A prompt of the isolation probe: four short memories and a question. */
const PROBE_CHARACTERS = 550;
/** For shorter runs, no smaller limit is suggested. */
const LONG_MS = 600_000;
const SMALLER_SHARE = 0.25;
/** No smaller limit than this is suggested. */
const MIN_LIMIT = 10;

function promptCharacters(
  retrieves: ArmTraits['retrieves'],
  user: DatasetUser,
  item: DatasetItem,
  { topK, contextTokens }: EstimateSettings,
): number {
  const memories = visibleMemories(user, item).length;
  const all = memoryCharacters(user, item);
  const mean = all / Math.max(1, memories);
  const shown = {
    nothing: 0,
    evidence: item.evidence.length * mean,
    retrieved: Math.min(topK, memories) * mean,
    donor: Math.min(topK, memories) * mean,
    // Memories take half of the window.
    all: Math.min(all, (contextTokens * CHARACTERS_PER_TOKEN) / 2),
  }[retrieves];
  return FIXED_CHARACTERS + item.query.length + shown;
}

function memoryCharacters(user: DatasetUser, item: DatasetItem): number {
  return visibleMemories(user, item).reduce((sum, { content }) => sum + content.length, 0);
}

/** Estimates the rest of a run from its warm-up, in proportion to prompt lengths. @param users the unfinished ones */
export function estimateRun(users: readonly DatasetUser[], warmUp: WarmUp, settings: EstimateSettings): RunEstimate {
  const { repeats, workers, resumed, controls } = settings;
  const items = users.flatMap((user) => user.items.map((item) => ({ user, item })));
  const questions = items.length;
  const { runQuestions = questions } = settings;
  let [turns, turnsMs, probedMs] = [0, 0, 0];
  for (const { traits, turnMs, scoringMs } of warmUp.turns) {
    const measured = promptCharacters(traits.retrieves, warmUp.user, warmUp.item, settings);
    if (isProbed(traits)) probedMs += turnMs * Math.min(1, PROBE_CHARACTERS / measured);
    for (const { user, item } of items) {
      if (!takesItem(traits, item, controls)) continue;
      const characters = promptCharacters(traits.retrieves, user, item, settings);
      turns += repeats;
      turnsMs += repeats * ((turnMs * characters) / measured + scoringMs);
    }
  }
  const withProbe = (ms: number, asked: number): number => ms / workers + probeTurns(asked) * probedMs;
  const ms = withProbe(turnsMs, runQuestions);
  const limit = Math.max(MIN_LIMIT, Math.round((SMALLER_SHARE * runQuestions) / 10) * 10);
  const isLong = ms > LONG_MS && !resumed && limit < runQuestions;
  const smaller = isLong ? { limit, ms: withProbe((turnsMs * limit) / runQuestions, limit) } : null;
  return { users: users.length, questions, turns, ms, smaller };
}

/** The item with the fewest characters of memories, to warm up with. @returns it with the index of its user */
export function cheapestItem(users: readonly DatasetUser[]) {
  return users
    .flatMap((owner, user) => owner.items.map((item) => ({ user, item, size: memoryCharacters(owner, item) })))
    .sort((a, b) => a.size - b.size)
    .at(0);
}
