import type { ArmTraits } from '../../../store/records/arm-traits.ts';
import { type DatasetItem, type DatasetUser, visibleMemories } from '../../../data/dataset.ts';
import { takesItem } from './plan-users.ts';
import { isProbed, probeTurns } from '../prove/isolation-probe.ts';

export interface RunEstimate {
  readonly users: number;
  readonly questions: number;
  readonly turns: number;
  readonly ms: number;
  /** A limit of questions that takes a part of that; null for a run that is short, or was begun before. */
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
  /** Processes that take turns at one time; one alone took those of the warm-up. */
  readonly workers: number;
}

const CHARACTERS_PER_TOKEN = 4;
/** System prompt and template. */
const FIXED_CHARACTERS = 300;
/** A prompt of the isolation probe: four short memories and a question. */
const PROBE_CHARACTERS = 550;
/** Runs that are shorter are not worth making smaller. */
const LONG_MS = 600_000;
const SMALLER_SHARE = 0.25;
/** Fewer are never drawn. */
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

/** Estimates what is left of a run from its warm-up, by lengths of prompts. @param users those who are not finished */
export function estimateRun(users: readonly DatasetUser[], warmUp: WarmUp, settings: EstimateSettings): RunEstimate {
  const { repeats, workers, resumed } = settings;
  const items = users.flatMap((user) => user.items.map((item) => ({ user, item })));
  const questions = items.length;
  let [turns, turnsMs, probedMs] = [0, 0, 0];
  for (const { traits, turnMs, scoringMs } of warmUp.turns) {
    const measured = promptCharacters(traits.retrieves, warmUp.user, warmUp.item, settings);
    if (isProbed(traits)) probedMs += turnMs * Math.min(1, PROBE_CHARACTERS / measured);
    for (const { user, item } of items) {
      if (!takesItem(traits, item)) continue;
      const characters = promptCharacters(traits.retrieves, user, item, settings);
      turns += repeats;
      turnsMs += repeats * ((turnMs * characters) / measured + scoringMs);
    }
  }
  const withProbe = (ms: number, asked: number): number => ms / workers + probeTurns(asked) * probedMs;
  const ms = withProbe(turnsMs, questions);
  const limit = Math.max(MIN_LIMIT, Math.round((SMALLER_SHARE * questions) / 10) * 10);
  const isLong = ms > LONG_MS && !resumed && limit < questions;
  const smaller = isLong ? { limit, ms: withProbe((turnsMs * limit) / questions, limit) } : null;
  return { users: users.length, questions, turns, ms, smaller };
}

/** The item that is cheapest to warm up with: the one with the fewest characters of memories. @returns with the index of its user */
export function cheapestItem(users: readonly DatasetUser[]) {
  return users
    .flatMap((owner, user) => owner.items.map((item) => ({ user, item, size: memoryCharacters(owner, item) })))
    .reduce<{ user: number; item: DatasetItem; size: number } | undefined>(
      (cheapest, one) => (cheapest === undefined || one.size < cheapest.size ? one : cheapest),
      undefined,
    );
}
