import { z } from 'zod';

/** Types in which KV is kept, as ggml names them; `f16` as the engine has it. */
export const quantisedTypes = ['q8_0', 'q4_0'] as const;

export type QuantisedType = (typeof quantisedTypes)[number];

export const storeType = z.enum(['f16', ...quantisedTypes]);

export type StoreType = z.output<typeof storeType>;
