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

/** An option, which need not be given; a default is added by `.default`. */
export function option<Schema extends z.ZodType>(schema: Schema, description: OptionDescription) {
  optionDescriptions.add<z.ZodType>(schema, description);
  return schema.exactOptional();
}

/** A number, or a text that is one. */
export const numeric = (schema: z.ZodNumber) =>
  z.preprocess((value) => (typeof value === 'string' && value.trim() !== '' ? Number(value) : value), schema);

/** A whole number, `least` or more. */
export const count = (least: number, help: string, preset?: string, value = '<n>') =>
  option(numeric(z.number().int().min(least)), { value, help, allowed: `a whole number, ${least} or more`, preset });

/** A number, `least` or more. */
export const numberFrom = (least: number, value: string, help: string) =>
  option(numeric(z.number().min(least)), { value, help, allowed: `a number, ${least} or more` });

export const toggle = (help: string, more: Pick<OptionDescription, 'negated'> = {}) =>
  option(
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
) => option(z.enum(known), { value: '<name>', help, allowed: known.join(' or '), names: { kind, known }, preset });

/** A text that is not blank. */
export const text = (value: string, help: string, preset?: string, allowed = 'a name') =>
  option(z.string().regex(/\S/u), { value, help, allowed, preset });

/** An address of a server. */
export const address = (help: string, preset: string) =>
  option(z.string().min(1), { value: '<url>', help, preset, allowed: 'an address' });

/** A path, or a name that is accepted instead. */
export const path = (value: string, help: string, preset?: string) =>
  option(z.string().min(1), { value, help, allowed: 'a path', preset });

/** Splits comma-separated names; any other value is returned unchanged. */
export const commaSeparated = (value: unknown): unknown =>
  typeof value === 'string' ? value.split(',').map((name) => name.trim()) : value;

/** A comma-separated list. */
export const list = (what: string, help: string, preset: string) =>
  option(z.preprocess(commaSeparated, z.array(z.string()).min(1)), {
    value: `<${what}>`,
    help,
    allowed: `comma-separated ${what}`,
    preset,
  });

/** The name of a run, which a folder gets too. */
export const runName = (help: string, preset?: string) =>
  option(z.string().regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/), {
    value: '<name>',
    help,
    preset,
    allowed: 'letters, digits, ".", "_" and "-", since a folder gets this name',
  });

/** Converts `256MiB` to bytes; any other value is returned unchanged, for the schema to refuse. */
export function toBytes(value: unknown): unknown {
  const match = typeof value === 'string' ? /^(\d+(?:\.\d+)?) ?(KiB|MiB|GiB|)$/.exec(value) : null;
  return match === null ? value : Math.round(Number(match[1]) * 1024 ** ['', 'KiB', 'MiB', 'GiB'].indexOf(match[2]!));
}
