import { z } from 'zod';

const tokens = z.number().int().nonnegative();

/** A turn's own claims, in tokens; the engine's meter is compared with them. */
export const turnAccount = z
  .object({
    /** `hit`: all K/V was in the store; `miss`: some was computed in this turn; `bypass`: the strategy keeps none. */
    cache: z.enum(['hit', 'miss', 'bypass']),
    /** Evaluated in this turn, in all. */
    evaluated: tokens,
    /** Evaluated to build K/V that was not in the store. */
    built: tokens,
    /** Of blocks, evaluated again at their final place. */
    recomputed: tokens,
    /** Evaluated to decide whether to inject. */
    gate: tokens,
    /** Cells filled without evaluation. */
    resident: tokens,
    /** Positions that the prompt takes. */
    positions: tokens,
    /** Blocks share positions: the session's tokens are then not those of the prompt. */
    sharesPositions: z.boolean(),
    /** Work between the arm's last turn and this one, outside this turn's clock and meter; missing where nothing is done ahead. */
    ahead: z.object({ tokens, ms: z.number() }).readonly().exactOptional(),
  })
  .readonly();

export type TurnAccount = z.output<typeof turnAccount>;
