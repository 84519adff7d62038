import { z } from 'zod';

/** Options of OpenAI-compatible servers; names and meanings are those of the command line. */
export const openAiOptions = z.strictObject({
  /** Address of the server, such as `http://127.0.0.1:8000`, with or without `/v1`. */
  engineUrl: z.string().exactOptional(),
  /** True where that may be another machine. */
  allowRemote: z.boolean().exactOptional(),
  /** The model, as the server calls it. */
  engineModel: z.string().exactOptional(),
});

export type OpenAiOptions = Readonly<z.output<typeof openAiOptions>>;
