import { z } from 'zod';
import { object } from './schemas.ts';

const milliseconds = z.number();

/** Milliseconds. `firstToken` (TTFT) runs from the call of `chat` to the first token; the rest are parts of `total`. */
export const timings = object({
  retrieve: milliseconds,
  assemble: milliseconds,
  gate: milliseconds,
  kvLoad: milliseconds,
  kvCompute: milliseconds,
  prefill: milliseconds,
  firstToken: milliseconds,
  decode: milliseconds,
  total: milliseconds,
});

/** Times of the phases of a turn, in ms, as its system measured them. */
export type Timings = z.output<typeof timings>;
