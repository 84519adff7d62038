import type { BenchDatabase } from '../../db/database.ts';
import { TokenPieceRepository } from '../../db/token-piece-repository.ts';
import type { LanguageModel } from '../../llm/language-model.ts';
import type { PromptSegment } from '../../systems/contracts.ts';

/** Stores what the tokens of sequences stand for, once a token, so that a reader needs no model to see where they end. */
export class SequencePieces {
  readonly #model: LanguageModel;
  readonly #repository: TokenPieceRepository;
  /** Stored by a transaction that may still fail: such a run ends, and the next one stores them again. */
  readonly #kept = new Set<number>();

  constructor(model: LanguageModel, database: BenchDatabase) {
    this.#model = model;
    this.#repository = new TokenPieceRepository(database);
  }

  /** Stores the pieces of the segments' tokens that were not met before, within the transaction of the turn. */
  keep(segments: readonly Pick<PromptSegment, 'tokenIds'>[]): void {
    const pieces = new Map<number, string>();
    for (const { tokenIds } of segments) {
      for (const id of tokenIds) if (!this.#kept.has(id)) pieces.set(id, this.#model.detokenize([id]));
    }
    if (pieces.size === 0) return;
    this.#repository.add(this.#model.info.sha256, pieces);
    for (const id of pieces.keys()) this.#kept.add(id);
  }
}
