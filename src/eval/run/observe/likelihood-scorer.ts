import { createHash } from 'node:crypto';
import { lastExactCut } from '../../../engine/engine-capabilities.ts';
import type { CallOptions, EngineSession } from '../../../engine/engine-session.ts';
import type { Engine } from '../../../engine/engine.ts';
import type { NextDistribution, SequenceScore } from '../../../engine/sequence-score.ts';
import { type TokenId, commonLength } from '../../../engine/token-id.ts';
import type { TurnTrace } from '../../../systems/memory-system.ts';
import type { AnswerScoringPosition } from '../../../systems/prompt/answer-scoring-positions.ts';

/** An engine, and a session for scoring that no arm uses and that counts for no turn. */
export interface ScorerParts {
  readonly engine: Pick<Engine, 'capabilities' | 'deleteCheckpoint'>;
  readonly scoring: EngineSession;
}

type TurnState = Pick<TurnTrace, 'prefixPositions' | 'suffix'> & { readonly session: EngineSession };

export interface ScoredTexts {
  /** The gold answer, and the suffix in front of it, which may end in another answer prefix than the turn's. */
  readonly gold: AnswerScoringPosition;
  /** Other texts, each after its own suffix: the arm's own answer, the points of a full answer. */
  readonly others: readonly AnswerScoringPosition[];
}

export interface TurnScore {
  readonly next: NextDistribution;
  readonly gold: SequenceScore;
  /** ln p of the tokens of each of the other texts. */
  readonly others: readonly (readonly number[])[];
}

/**
 * Copies a turn's KV up to a position into the scoring session. Where truncation is limited, the turn's own session is truncated,
 * since only that one still has the KV from before the question. @param work gets the length, below `end` if a system cut its session
 */
export async function withTurnState<T>(
  { engine, scoring }: ScorerParts,
  { session, end }: { readonly session: EngineSession; readonly end: number },
  options: CallOptions,
  work: (cut: number) => Promise<T>,
): Promise<T> {
  const isLimited = engine.capabilities.truncatesUpTo !== null;
  if (isLimited) await session.truncate(Math.min(end, session.tokens.length), options);
  if (session.cells === 0) {
    await scoring.clear(options);
    return await work(0);
  }
  const checkpoint = await session.checkpoint(options);
  try {
    await scoring.restore(checkpoint, options);
    const cut = Math.min(end, scoring.tokens.length);
    await scoring.truncate(cut, options);
    return await work(cut);
  } finally {
    await engine.deleteCheckpoint(checkpoint);
  }
}

/**
 * Computes likelihoods from the KV that a turn left, restored in another session and cut shortly before the end of the
 * prompt. Turns with equal cells and equal ids after them are scored once.
 */
export class LikelihoodScorer {
  readonly #parts: ScorerParts;
  readonly #known = new Map<string, TurnScore>();

  constructor(parts: ScorerParts) {
    this.#parts = parts;
  }

  async score({ session, prefixPositions, suffix }: TurnState, texts: ScoredTexts, options: CallOptions) {
    const { engine, scoring } = this.#parts;
    if (!engine.capabilities.checkpoints || session.cells === 0) {
      // Engines without checkpoints run only text arms. Their prompt is evaluated whole, as in the turn.
      const cells = digest([Int32Array.from(suffix)]);
      return this.#scoreOnce({ cells, begin: () => scoring.clear(options) }, suffix, texts, options);
    }
    const end = prefixPositions + this.#reusableTokens(suffix, [texts.gold, ...texts.others]);
    return withTurnState(this.#parts, { session, end }, options, async (cut) => {
      const begun = Math.max(0, cut - prefixPositions);
      const rest = (text: AnswerScoringPosition) => ({ ...text, suffix: text.suffix.slice(begun) });
      const start = { cells: await this.#digestCells(options), begin: () => scoring.truncate(cut, options) };
      const left = { gold: rest(texts.gold), others: texts.others.map(rest) };
      return this.#scoreOnce(start, suffix.slice(begun), left, options);
    });
  }

  async scoreText(ids: readonly TokenId[], answer: readonly TokenId[], options: CallOptions): Promise<SequenceScore> {
    const { scoring } = this.#parts;
    await scoring.clear(options);
    return scoring.score(ids, answer, options);
  }

  /** Common tokens of all suffixes up to an exact cut, but not the last ones; 0 where no cut within the suffix is useful. */
  #reusableTokens(suffix: readonly TokenId[], texts: readonly AnswerScoringPosition[]): number {
    const { capabilities } = this.#parts.engine;
    // Where truncation is limited, the end of the prefix is the only place that a session still has, and has exactly.
    if (capabilities.exactCuts === null || capabilities.truncatesUpTo !== null) return 0;
    const most = texts.map(({ suffix: other }) => {
      const shorter = Math.min(suffix.length, other.length);
      return Math.min(commonLength(suffix, other), shorter - capabilities.leastTokens);
    });
    return lastExactCut(capabilities, Math.max(0, Math.min(...most)));
  }

  /** SHA-256 of all cells in the scoring session; null if the engine cannot export them. */
  async #digestCells(options: CallOptions): Promise<string | null> {
    if (this.#parts.engine.capabilities.cells === null) return null;
    using cells = await this.#parts.scoring.exportCells(undefined, options);
    return digest([cells.positions, ...cells.keys, ...cells.values]);
  }

  /** `begin` brings the scoring session to where scoring starts; `cells` is the digest of its cells */
  async #scoreOnce(
    { cells, begin }: { readonly cells: string | null; readonly begin: () => Promise<void> },
    suffix: readonly TokenId[],
    { gold, others }: ScoredTexts,
    options: CallOptions,
  ): Promise<TurnScore> {
    const key = [cells, suffix, ...[gold, ...others].flatMap((text) => [text.suffix, text.answer])].join(':');
    const known = cells === null ? undefined : this.#known.get(key);
    if (known !== undefined) return known;
    const { scoring } = this.#parts;
    await begin();
    const goldScore = await scoring.score(gold.suffix, gold.answer, { ...options, distributions: true });
    const scoreBehind = async (text: AnswerScoringPosition): Promise<SequenceScore> => {
      await begin();
      return scoring.score(text.suffix, text.answer, options);
    };
    const scores: (readonly number[])[] = [];
    for (const text of others) scores.push((await scoreBehind(text)).logProbabilities);
    // Where cuts change bits, so may tokens after the prompt, and the answer was generated without them.
    const { exactCuts } = this.#parts.engine.capabilities;
    const isAlone = exactCuts === 1 && suffix.join() === gold.suffix.join();
    const { next } = isAlone ? goldScore : await scoreBehind({ suffix, answer: [] });
    const score: TurnScore = { next, gold: goldScore, others: scores };
    if (cells !== null) this.#known.set(key, score);
    return score;
  }
}

function digest(parts: readonly NodeJS.ArrayBufferView[]): string {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(part);
  return hash.digest('hex');
}
