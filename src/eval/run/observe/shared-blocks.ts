import type { Engine } from '../../../engine/engine.ts';
import { kvBytes, type SequenceState } from '../../../engine/sequence-state.ts';
import { meterDifference, meterSum, type TokenMeter, zeroMeter } from '../../../engine/token-meter.ts';

/** What all blocks of one user may take. Later ones are computed by each arm. */
const MAX_BYTES = 2 ** 28;

interface SharedBlock {
  readonly state: SequenceState;
  /** What computing it took. */
  readonly evaluated: number;
  readonly ms: number;
}

/**
 * Blocks that some arm has computed for the current user. An arm that wants the same block gets the same exported cells, which
 * no one changes, and is charged the tokens and the time that computing them took, so that its account is as if it had run
 * alone. Arms never find a block of another user here.
 */
export class SharedBlocks {
  readonly #engine: Pick<Engine, 'meter'>;
  readonly #blocks = new Map<string, SharedBlock>();
  #userId: string | undefined;
  #bytes = 0;
  #charged = zeroMeter;

  constructor(engine: Pick<Engine, 'meter'>) {
    this.#engine = engine;
  }

  /** Prompt tokens that were charged without being evaluated again. */
  get charged(): TokenMeter {
    return this.#charged;
  }

  /** The engine's meter, with the charged tokens. */
  async meter(): Promise<TokenMeter> {
    return meterSum(await this.#engine.meter(), this.#charged);
  }

  /** Returns a block and the time charged for it, or computes it. @param compute exports cells into memory of their own */
  async get(userId: string, key: string, compute: () => Promise<SequenceState>) {
    if (this.#userId !== userId) this.clear();
    this.#userId = userId;
    const found = this.#blocks.get(key);
    if (found !== undefined) {
      this.#charged = meterSum(this.#charged, { ...zeroMeter, evaluated: found.evaluated });
      return { state: found.state, chargedMs: found.ms };
    }
    const before = await this.#engine.meter();
    const start = performance.now();
    const state = await compute();
    const ms = performance.now() - start;
    const { evaluated } = meterDifference(await this.#engine.meter(), before);
    if (evaluated !== null && this.#bytes + kvBytes(state) <= MAX_BYTES) {
      this.#blocks.set(key, { state, evaluated, ms });
      this.#bytes += kvBytes(state);
    }
    return { state, chargedMs: 0 };
  }

  clear(): void {
    this.#blocks.clear();
    this.#bytes = 0;
  }
}
