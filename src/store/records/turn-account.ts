import { z } from 'zod';
import { object } from './schemas.ts';

/** `hit`: all KV was in the store; `miss`: some was computed in this turn; `bypass`: the strategy keeps none. */
export const cacheStates = ['hit', 'miss', 'bypass'] as const;

const tokens = z.number().int().nonnegative();

/** Tokens that are recomputed, by the rule of the arm. */
const selection = object({
  /** Of blocks that did not see all that precedes them: those that the rule chooses among. */
  selectable: tokens,
  selected: tokens,
  /** Runs of neighbours among them, each of which takes one import of the cells before it and one export. */
  splices: tokens,
  /** Of evaluating them and writing their cells. */
  ms: z.number(),
});

/** Tokens evaluated to select those that are recomputed: its cost is layers × tokens. */
const selector = object({
  /** `whole`: the model that answers, so that `evaluated` holds these tokens too; `first-layers`: its first layers alone. */
  model: z.enum(['whole', 'first-layers']),
  tokens,
  /** That they ran through. */
  layers: tokens,
  ms: z.number(),
});

export type Selector = z.output<typeof selector>;

/** A turn's own claims, in tokens; the engine's meter is compared with them. */
export const turnAccount = object({
  cache: z.enum(cacheStates),
  /** Evaluated in this turn, in all. */
  evaluated: tokens,
  /** Evaluated to build KV that was not in the store. */
  built: tokens,
  /** Of blocks, evaluated again at their final place; more than are selected where the engine takes no fewer at once. */
  recomputed: tokens,
  /** Missing where no rule selects tokens. */
  selection: selection.exactOptional(),
  /** Missing where nothing is evaluated to select them. */
  selector: selector.exactOptional(),
  /** Evaluated to decide whether to inject. */
  gate: tokens,
  /** Cells filled without evaluation. */
  resident: tokens,
  /** Positions that the prompt takes. */
  positions: tokens,
  /** Blocks share positions: the session's tokens are then not those of the prompt. */
  sharesPositions: z.boolean(),
  /**
   * Of the prompt, what the engine's own prefix cache should find: whole blocks of so many tokens; missing where the turn uses
   * no such cache.
   */
  found: object({ tokens, blockTokens: tokens }).exactOptional(),
  /** Work between the arm's last turn and this one, outside this turn's clock and meter; missing where nothing is done ahead. */
  ahead: object({ tokens, ms: z.number() }).exactOptional(),
});

export type TurnAccount = z.output<typeof turnAccount>;

/** Tokens of the selector that the model which answers evaluated. */
export function selectedByModel(account: Pick<TurnAccount, 'selector'>): number {
  return selectedBy('whole', account);
}

/** Tokens of the selector that ran through the model's first layers alone. */
export function selectedByFirstLayers(account: Pick<TurnAccount, 'selector'>): number {
  return selectedBy('first-layers', account);
}

function selectedBy(model: Selector['model'], { selector }: Pick<TurnAccount, 'selector'>): number {
  return selector?.model === model ? selector.tokens : 0;
}
