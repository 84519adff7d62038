import type { z } from 'zod';
import type { EngineOpener } from './engine-request.ts';

/**
 * One way to run models. `adapters.ts` lists them; the composition root alone chooses one.
 *
 * @example
 * import { adapterNamed } from './adapters.ts';
 *
 * const adapter = adapterNamed('llama-cpp');
 * const opener = adapter.opener(adapter.options.parse({}));
 * await using engine = await opener.open({ model: 'random:tiny-llama' });
 */
export interface EngineAdapter<Options = unknown> {
  /** As `--engine` names it. */
  readonly name: string;
  /** One line for `--help`. */
  readonly summary: string;
  /** Parses the options that are the adapter's own, by their keys in the configuration. */
  readonly options: z.ZodType<Options> & { readonly shape: Readonly<Record<string, unknown>> };
  /** Binds options that were parsed. */
  opener(options: Options): EngineOpener;
}
