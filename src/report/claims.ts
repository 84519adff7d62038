import { readFileSync } from 'node:fs';
import { z } from 'zod';

/** A number that a paper claims, where it stands, and the arms of this bench that come nearest to what it is of. */
const claim = z.strictObject({
  paper: z.string(),
  /** The source in which the number was read. */
  address: z.url(),
  claim: z.string(),
  /** Null where our notes of the paper do not say. */
  model: z.string().nullable(),
  data: z.string().nullable(),
  measured: z
    .array(
      z.strictObject({
        arm: z.string(),
        /** The primary metric in % of the text's, or less that of the text; time to first token beside that of the text. */
        as: z.enum(['kept', 'difference', 'time']),
      }),
    )
    .min(1)
    .readonly(),
  /** The reasons for which the number here may be another. */
  differs: z.string(),
});

export type Claim = Readonly<z.output<typeof claim>>;

/** Claims of papers, each with its source: `datasets/claims.json`. */
export const claims: readonly Claim[] = z
  .array(claim)
  .parse(JSON.parse(readFileSync(new URL('../../datasets/claims.json', import.meta.url), 'utf8')));
