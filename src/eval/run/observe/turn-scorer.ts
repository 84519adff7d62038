import { createHash } from 'node:crypto';
import type { CallOptions, EngineSession } from '../../../engine/engine-session.ts';
import type { Engine } from '../../../engine/engine.ts';
import type { NextDistribution, SequenceScore } from '../../../engine/sequence-score.ts';
import type { TokenId } from '../../../engine/token-id.ts';

/** An engine to score with: `scoring` is a session that no arm uses and no turn's meter counts. */
export interface ScorerParts {
  readonly engine: Pick<Engine, 'capabilities' | 'deleteCheckpoint'>;
  readonly scoring: EngineSession;
}

/** A turn as it stands in its session: so many positions, and behind them the suffix. */
export interface TurnState {
  readonly session: EngineSession;
  readonly prefixPositions: number;
  readonly suffix: readonly TokenId[];
}

/** The continuations of a turn that are scored. */
export interface ScoredTexts {
  /** In place of the turn's suffix: what stands in front of the gold answer, and the answer's ids there. */
  readonly gold: { readonly suffix: readonly TokenId[]; readonly answer: readonly TokenId[] };
  /** The arm's own answer, behind its own suffix; undefined where that is not asked for. */
  readonly own: readonly TokenId[] | undefined;
}

/** Probabilities of one turn. */
export interface TurnScore {
  /** Of the next token, behind the prompt as the model was asked. */
  readonly next: NextDistribution;
  /** Of the gold answer at its place, with the distributions in front of its tokens. */
  readonly gold: SequenceScore;
  /** ln p of each token of the arm's own answer; undefined where that was not asked for. */
  readonly own: readonly number[] | undefined;
}

/** The scoring session where scoring starts, and the texts that follow. */
interface ScoringStart {
  /** Hash of the cells in the session; null if the engine does not show them. */
  readonly cells: string | null;
  /** Brings the session back to this state; it is there at the first call. */
  readonly begin: () => Promise<void>;
  readonly suffix: readonly TokenId[];
  readonly texts: ScoredTexts;
}

/**
 * Scores the turns of one item from the KV that each left in its session: saved, restored in another session, cut shortly
 * before the end of the prompt, and evaluated from there. Turns whose cells are the same bytes, at the same positions, in
 * front of the same ids, are scored once: what follows is a function of these alone.
 */
export class TurnScorer {
  readonly #parts: ScorerParts;
  readonly #known = new Map<string, TurnScore>();

  constructor(parts: ScorerParts) {
    this.#parts = parts;
  }

  /** Scores a turn; its session is left as it is. */
  async score(turn: TurnState, texts: ScoredTexts, options: CallOptions): Promise<TurnScore> {
    const { engine, scoring } = this.#parts;
    const { session, prefixPositions, suffix } = turn;
    if (!engine.capabilities.checkpoints || session.cells === 0) {
      // Without checkpoints there are no arms but those of text: evaluated whole, as the turn was.
      return this.#once(
        { cells: digest([Int32Array.from(suffix)]), begin: () => scoring.clear(options), suffix, texts },
        options,
      );
    }
    const kept = this.#keptTokens(suffix, texts);
    const checkpoint = await session.checkpoint(options);
    try {
      await scoring.restore(checkpoint, options);
      // A system may have cut its session since it answered.
      const cut = Math.min(prefixPositions + kept, scoring.tokens.length);
      const begun = Math.max(0, cut - prefixPositions);
      await scoring.truncate(cut, options);
      const rest = { ...texts, gold: { ...texts.gold, suffix: texts.gold.suffix.slice(begun) } };
      const cells = await this.#cellsDigest(options);
      return await this.#once(
        { cells, begin: () => scoring.truncate(cut, options), suffix: suffix.slice(begun), texts: rest },
        options,
      );
    } finally {
      await engine.deleteCheckpoint(checkpoint);
    }
  }

  /** The same tokens evaluated whole, as text. */
  async scoreText(ids: readonly TokenId[], answer: readonly TokenId[], options: CallOptions): Promise<SequenceScore> {
    const { scoring } = this.#parts;
    await scoring.clear(options);
    return scoring.score(ids, answer, options);
  }

  /**
   * Tokens of the suffix that need no second evaluation: those that all scored texts begin with, but for the last; none where
   * bits depend on the cut.
   */
  #keptTokens(suffix: readonly TokenId[], { gold }: ScoredTexts): number {
    const { exactCuts, leastTokens } = this.#parts.engine.capabilities;
    if (!exactCuts) return 0;
    const shorter = Math.min(suffix.length, gold.suffix.length);
    let common = 0;
    while (common < shorter && suffix[common] === gold.suffix[common]) common++;
    return Math.max(0, Math.min(common, shorter - leastTokens));
  }

  /** Of all cells that the scoring session holds; null where the engine does not show them. */
  async #cellsDigest(options: CallOptions): Promise<string | null> {
    if (this.#parts.engine.capabilities.cells === null) return null;
    using cells = await this.#parts.scoring.exportCells(undefined, options);
    return digest([cells.positions, ...cells.keys, ...cells.values]);
  }

  async #once({ cells, begin, suffix, texts }: ScoringStart, options: CallOptions): Promise<TurnScore> {
    const { gold, own } = texts;
    const lists = [suffix, gold.suffix, gold.answer, own ?? []];
    const key = cells === null ? undefined : [cells, ...lists.map((ids) => ids.join())].join(':');
    const known = key === undefined ? undefined : this.#known.get(key);
    if (known !== undefined) return known;
    const { scoring } = this.#parts;
    await begin();
    const goldScore = await scoring.score(gold.suffix, gold.answer, { ...options, distributions: true });
    const sameSuffix = suffix.join() === gold.suffix.join();
    const after = async (continuation: readonly TokenId[]): Promise<SequenceScore> => {
      await begin();
      return scoring.score(suffix, continuation, options);
    };
    const ownScore = own === undefined ? undefined : await after(own);
    const { next } = sameSuffix ? goldScore : await after([]);
    const score: TurnScore = { next, gold: goldScore, own: ownScore?.logProbabilities };
    if (key !== undefined) this.#known.set(key, score);
    return score;
  }
}

function digest(parts: readonly NodeJS.ArrayBufferView[]): string {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(part);
  return hash.digest('hex');
}
