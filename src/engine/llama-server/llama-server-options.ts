import { z } from 'zod';

/** Options that are llama-server's alone; names and meanings are those of the command line. */
export const llamaServerOptions = z.strictObject({
  /** Address of the server, such as `http://127.0.0.1:8080`. */
  engineUrl: z.string().exactOptional(),
  /** True where that may be another machine. */
  allowRemote: z.boolean().exactOptional(),
  /** The folder that the server was told to save slots to, as this machine sees it. */
  slotsFolder: z.string().exactOptional(),
  /** The program of a server that is started for the run, and ended with it. */
  llamaServer: z.string().exactOptional(),
});

export type LlamaServerOptions = Readonly<z.output<typeof llamaServerOptions>>;
