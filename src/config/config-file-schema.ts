import { z } from 'zod';
import { benchConfigSchema } from './bench-config.ts';
import { configOptions } from './flags-from-schema.ts';

/** Optional file in the working folder that holds options. */
export const configFileName = 'dki-bench.config.json';

/** The JSON schema of the configuration file, for editors: types, limits, defaults and help of all options. */
export function configFileSchema(): object {
  const schema = z.toJSONSchema(benchConfigSchema, { io: 'output', unrepresentable: 'any' });
  const described = configOptions().map(({ key, help }): [string, object] => [
    key,
    { ...(schema.properties![key] as object), description: help },
  ]);
  return {
    ...schema,
    title: configFileName,
    properties: Object.fromEntries(described),
    required: [],
    patternProperties: { [String.raw`^(?:\$schema$|//)`]: { type: 'string' } },
  };
}
