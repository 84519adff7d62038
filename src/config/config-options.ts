import type { z } from 'zod';
import { benchConfigSchema } from './bench-config.ts';
import { type OptionDescription, optionDescriptions } from './option-kinds.ts';

/** Maps `topK` to `--top-k`, and a boolean that its flag turns off to `--no-…`. */
export function flagOf(key: string): string {
  const isNegated = key in benchConfigSchema.shape && descriptionOf(key).negated === true;
  return `--${isNegated ? 'no-' : ''}${key.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
}

/** Finds the description of an option, registered for the schema inside defaults and optionals. */
export function descriptionOf(key: string) {
  let schema: unknown = benchConfigSchema.shape[key as keyof typeof benchConfigSchema.shape];
  for (;;) {
    const description = optionDescriptions.get(schema as z.ZodType);
    if (description !== undefined) return description;
    schema = (schema as z.ZodDefault<z.ZodType>).unwrap();
  }
}

/** The options for the command line, in the order of the schema; their help names default and choices. */
export function configOptions() {
  const defaults: Readonly<Record<string, unknown>> = benchConfigSchema.parse({});
  return (Object.keys(benchConfigSchema.shape) as (keyof typeof benchConfigSchema.shape)[]).map((key) => {
    const description = descriptionOf(key);
    return {
      key,
      flag: flagOf(key),
      default: defaults[key],
      ...description,
      help: helpOf(description, defaults[key]),
    };
  });
}

function helpOf({ help, preset, names }: OptionDescription, byDefault: unknown): string {
  const isShown = typeof byDefault === 'string' || typeof byDefault === 'number' || Array.isArray(byDefault);
  const shown = preset ?? (isShown ? [byDefault].flat().join(', ') : undefined);
  const parts = [
    ...(shown === undefined ? [] : [`default: ${shown}`]),
    ...(names === undefined ? [] : [`choices: ${names.known.join(', ')}`]),
  ];
  return parts.length === 0 ? help : `${help} (${parts.join('; ')})`;
}
