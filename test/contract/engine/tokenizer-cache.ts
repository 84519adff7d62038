import type { CallOptions } from '../../../src/engine/engine-session.ts';
import type { Engine, TokenizeRequest } from '../../../src/engine/engine.ts';
import type { TokenIds } from '../../../src/engine/token-id.ts';

/**
 * Ids of texts that were tokenised already: texts are added in batches, one call of the engine each, and looked up
 * without waiting.
 *
 * @example
 * declare const engine: Engine;
 * const cache = new TokenizerCache(engine);
 * await cache.add([{ text: 'User: hello', as: 'text' }]);
 * const ids = cache.idsOf({ text: 'User: hello', as: 'text' });
 */
export class TokenizerCache {
  readonly #engine: Pick<Engine, 'tokenize'>;
  readonly #ids = new Map<string, TokenIds>();

  constructor(engine: Pick<Engine, 'tokenize'>) {
    this.#engine = engine;
  }

  /** Tokenises those that are missing, in one call; none where all are there. @throws BenchError `special-token` */
  async add(requests: readonly TokenizeRequest[], options?: CallOptions): Promise<void> {
    const missing = new Map(
      requests.map((request) => [keyOf(request), request] as const).filter(([key]) => !this.#ids.has(key)),
    );
    if (missing.size === 0) return;
    const found = await this.#engine.tokenize([...missing.values()], options);
    [...missing.keys()].forEach((key, index) => this.#ids.set(key, found[index]!));
  }

  idsOf(request: TokenizeRequest): TokenIds {
    const ids = this.#ids.get(keyOf(request));
    if (ids === undefined) throw new RangeError(`${JSON.stringify(request.text)} was not tokenised before`);
    return ids;
  }
}

function keyOf({ text, as, first = false }: TokenizeRequest): string {
  return `${as}${first ? '+' : '-'}${text}`;
}
