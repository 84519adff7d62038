import type { z } from 'zod';
import { benchConfigSchema, optionGroups } from './bench-config.ts';
import { type OptionDescription, optionDescriptions } from './option-schema-builders.ts';

/** Maps `topK` to `--top-k`, and `text`, which is on by default, to `--no-text`. */
export function flagName(key: string): string {
  const negated = key in benchConfigSchema.shape && optionDescription(key).negated === true;
  return `--${negated ? 'no-' : ''}${key.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
}

/** Finds the description of an option inside its schema's defaults and optionals. */
export function optionDescription(key: string): OptionDescription {
  let schema: unknown = benchConfigSchema.shape[key as keyof typeof benchConfigSchema.shape];
  for (;;) {
    const description = optionDescriptions.get(schema as z.ZodType);
    if (description !== undefined) return description;
    schema = (schema as z.ZodDefault<z.ZodType>).unwrap();
  }
}

/** The keys of the options under a heading of the help. */
export function optionKeys(group: keyof typeof optionGroups): readonly (keyof typeof benchConfigSchema.shape)[] {
  return Object.keys(optionGroups[group]) as (keyof typeof benchConfigSchema.shape)[];
}

/** The options for the command line, in the order of the schema; their help names default and choices. */
export function configOptions() {
  const defaults: Readonly<Record<string, unknown>> = benchConfigSchema.parse({});
  return (Object.keys(optionGroups) as (keyof typeof optionGroups)[]).flatMap((group) =>
    optionKeys(group).map((key) => {
      const description = optionDescription(key);
      const preset = defaults[key];
      return { key, group, flag: flagName(key), default: preset, ...description, help: fullHelp(description, preset) };
    }),
  );
}

function fullHelp({ help, preset, names }: OptionDescription, byDefault: unknown): string {
  const isShown = typeof byDefault === 'string' || typeof byDefault === 'number' || Array.isArray(byDefault);
  const shown = preset ?? (isShown ? [byDefault].flat().join(', ') : undefined);
  const parts = [
    ...(shown === undefined ? [] : [`default: ${shown}`]),
    ...(names === undefined ? [] : [`choices: ${names.known.join(', ')}`]),
  ];
  return parts.length === 0 ? help : `${help} (${parts.join('; ')})`;
}
