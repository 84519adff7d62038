import { z } from 'zod';
import { object } from './schemas.ts';

/** The four columns of every table, and positions where they differ from cells. */
export const tokenCounts = object({
  /** Given as text. */
  prompt: z.number(),
  /** Cells filled by injected KV. */
  kvResident: z.number(),
  /** Run through the model in this turn, by the engine's meter. */
  evaluated: z.number(),
  /**
   * Run through the model's first layers alone in this turn, by the meter of the engine that has these; missing where none
   * were.
   */
  firstLayers: z.number().exactOptional(),
  generated: z.number(),
  /** Positions that the prompt takes; equal to cells unless blocks share positions. */
  positions: z.number(),
});

/** Tokens of a turn: given as text, resident as KV, evaluated, generated. */
export type TokenCounts = z.output<typeof tokenCounts>;
