import type { BenchDatabase } from '../../../store/database.ts';
import { TokenPieceRepository } from '../../../store/token-piece-repository.ts';
import type { Engine } from '../../../engine/engine.ts';
import type { TokenId } from '../../../engine/token-id.ts';
import type { PromptSegment } from '../../../store/records/prompt-info.ts';

/** Stores the text of each token that stands in a prompt, once, so that a reader needs no model to see where tokens end. */
export class TokenPieces {
  readonly #engine: Pick<Engine, 'detokenize' | 'info'>;
  readonly #repository: TokenPieceRepository;
  /** Stored by a transaction that may still fail: such a run ends, and the next one stores them again. */
  readonly #kept = new Set<TokenId>();

  constructor(engine: Pick<Engine, 'detokenize' | 'info'>, database: BenchDatabase) {
    this.#engine = engine;
    this.#repository = new TokenPieceRepository(database);
  }

  /** The pieces of the segments' tokens that were not met before. */
  async missing(segments: readonly Pick<PromptSegment, 'tokenIds'>[]): Promise<ReadonlyMap<TokenId, string>> {
    const ids = [...new Set(segments.flatMap(({ tokenIds }) => tokenIds))].filter((id) => !this.#kept.has(id));
    const texts = await this.#engine.detokenize(ids.map((id) => [id]));
    return new Map(ids.map((id, index) => [id, texts[index]!]));
  }

  keep(pieces: ReadonlyMap<TokenId, string>): void {
    if (pieces.size === 0) return;
    this.#repository.add(this.#engine.info.modelSha256 ?? this.#engine.info.model.name, pieces);
    for (const id of pieces.keys()) this.#kept.add(id);
  }
}
