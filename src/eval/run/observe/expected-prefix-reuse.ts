import type { EngineCapabilities } from '../../../engine/engine-capabilities.ts';
import type { TokenId } from '../../../engine/token-id.ts';
import type { ArmTraits } from '../../../store/records/arm-traits.ts';

/** Computes what a prefix cache must reuse. Avoids `commonLength` and `lastExactCut`, so that it finds faults in them. */
export class ExpectedPrefixReuse {
  readonly #capabilities: Pick<EngineCapabilities, 'exactCuts' | 'leastTokens'>;
  readonly #seen = new Map<string, (readonly TokenId[])[]>();

  constructor(capabilities: Pick<EngineCapabilities, 'exactCuts' | 'leastTokens'>) {
    this.#capabilities = capabilities;
  }

  /** Tokens of a prompt that the cache must reuse from the arm's earlier prompts. Adds the prompt to these. */
  reusedTokens({ name }: Pick<ArmTraits, 'name'>, prompt: readonly TokenId[]): number {
    const { leastTokens, exactCuts } = this.#capabilities;
    const seen = this.#seen.get(name) ?? [];
    const equal = seen.map((earlier) => {
      const other = prompt.findIndex((id, at) => earlier[at] !== id);
      return other === -1 ? prompt.length : other;
    });
    this.#seen.set(name, [...seen, prompt]);
    const most = Math.min(Math.max(0, ...equal), prompt.length - leastTokens);
    const whole = most - (most % (exactCuts ?? 1));
    return whole < leastTokens ? 0 : whole;
  }

  clear(): void {
    this.#seen.clear();
  }
}
