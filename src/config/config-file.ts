import { z } from 'zod';
import { benchConfigSchema } from './bench-config.ts';
import { configOptions } from './config-options.ts';

/** Optional file in the working folder that holds options. */
export const configFileName = 'dki-bench.config.json';

/** A key of the file that is no option: the address of its schema, or a comment, which begins with `//`. */
export function isComment(key: string): boolean {
  return key === '$schema' || key.startsWith('//');
}

/**
 * The JSON schema of the file, for editors: types, limits and defaults of all options, each with its help.
 * @param engines the names that `engine` may have, which this layer does not know
 */
export function configFileSchema(engines: readonly string[]): object {
  const schema = z.toJSONSchema(benchConfigSchema, { io: 'output', unrepresentable: 'any' });
  const described = configOptions().map(({ key, help }): [string, object] => {
    const property = schema.properties![key] as object;
    return [key, { ...property, ...(key === 'engine' ? { enum: engines } : {}), description: help }];
  });
  return {
    ...schema,
    title: configFileName,
    properties: Object.fromEntries<object>(described),
    required: [],
    patternProperties: { [String.raw`^(?:\$schema$|//)`]: { type: 'string' } },
  };
}
