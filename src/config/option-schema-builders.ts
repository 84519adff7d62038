import { z } from 'zod';

/** Description of an option, for its help and for messages about wrong values. */
export interface OptionDescription {
  /** Placeholder in the help; undefined for a boolean. */
  readonly value?: string;
  /** The value in one phrase, without default and choices, which `configOptions` adds. */
  readonly help: string;
  /** Default for the help, if the schema has no default or shows it in another form. */
  readonly preset?: string | undefined;
  /** True for a boolean that is on by default, whose flag `--no-…` turns it off. */
  readonly negated?: true;
  /** Completes "expected …". */
  readonly allowed: string;
  /** Noun for a value, and all values, if only certain values are valid. */
  readonly names?: { readonly kind: string; readonly known: readonly string[] };
}

export const optionDescriptions = z.registry<OptionDescription>();

export function describe<Schema extends z.ZodType>(schema: Schema, description: OptionDescription): Schema {
  optionDescriptions.add<z.ZodType>(schema, description);
  return schema;
}

/** A number, or a text that is one. */
export const numeric = (schema: z.ZodNumber) =>
  z.preprocess((value) => (typeof value === 'string' && value.trim() !== '' ? Number(value) : value), schema);

/** A whole number, `least` or more. */
export const count = (least: number, help: string, preset?: string, value = '<n>') =>
  describe(numeric(z.number().int().min(least)), { value, help, allowed: `a whole number, ${least} or more`, preset });

export const optionalCount = (...option: Parameters<typeof count>) => count(...option).exactOptional();

export const toggle = (help: string, more: Pick<OptionDescription, 'negated'> = {}) =>
  describe(
    z.preprocess(
      (value) => (value === 'true' || value === '1' ? true : value === 'false' || value === '0' ? false : value),
      z.boolean(),
    ),
    { help, allowed: 'true or false', ...more },
  );

export const oneOf = <const Names extends readonly [string, ...string[]]>(
  kind: string,
  known: Names,
  help: string,
  preset?: string,
) => describe(z.enum(known), { value: '<name>', help, allowed: known.join(' or '), names: { kind, known }, preset });

/** An optional text that is not blank. */
export const text = (value: string, help: string, preset?: string, allowed = 'a name') =>
  describe(z.string().regex(/\S/u), { value, help, allowed, preset }).exactOptional();

/** An optional address of a server. */
export const address = (help: string, preset: string) =>
  describe(z.string().min(1), { value: '<url>', help, preset, allowed: 'an address' }).exactOptional();

/** A path, or a name that is accepted instead. */
export const requiredPath = (value: string, help: string, preset?: string) =>
  describe(z.string().min(1), { value, help, allowed: 'a path', preset });

export const path = (...option: Parameters<typeof requiredPath>) => requiredPath(...option).exactOptional();

/** Splits comma-separated names; any other value is returned unchanged. */
export const commaSeparated = (value: unknown): unknown =>
  typeof value === 'string' ? value.split(',').map((name) => name.trim()) : value;

/** The optional name of a run, which a folder gets too. */
export const runName = (help: string, preset?: string) =>
  describe(z.string().regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/), {
    value: '<name>',
    help,
    preset,
    allowed: 'letters, digits, ".", "_" and "-", since a folder gets this name',
  }).exactOptional();

/** Converts `256MiB` to bytes; any other value is returned unchanged, for the schema to refuse. */
export function toBytes(value: unknown): unknown {
  const match = typeof value === 'string' ? /^(\d+(?:\.\d+)?) ?(KiB|MiB|GiB|)$/.exec(value) : null;
  return match === null ? value : Math.round(Number(match[1]) * 1024 ** ['', 'KiB', 'MiB', 'GiB'].indexOf(match[2]!));
}
