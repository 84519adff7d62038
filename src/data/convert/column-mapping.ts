import { BenchError, didYouMean, nearestName, unknownOptionError } from '../../base/bench-error.ts';

export const memoryFields = {
  memory_id: 'text',
  created_at: 'instant',
  value: 'text',
  relation: 'text',
  preference: 'flag',
  supersedes: 'text',
  updated_at: 'instant',
  uri: 'text',
  scope: 'text',
  section: 'text',
  memory_type: 'text',
  reinforcement: 'number',
  links: 'list',
  confidence: 'number',
} as const;

export const itemFields = {
  item_id: 'text',
  answer: 'texts',
  accepted_answers: 'list',
  answer_prefix: 'text',
  system_prompt: 'text',
  relation: 'text',
  language: 'text',
  evidence: 'texts',
  superseded: 'list',
  passages: 'texts',
  category: 'text',
  nuggets: 'list',
  phrasing: 'text',
  condition: 'number',
  conversation: 'text',
  asked_at: 'instant',
  history: 'json',
} as const;

export type Field = 'user' | 'memory' | 'question' | keyof typeof memoryFields | keyof typeof itemFields;

/** Fields that CSV columns or JSON keys can hold, for help texts and hints. */
export const knownFields = [
  ...new Set(['user', 'memory', ...Object.keys(memoryFields), 'question', ...Object.keys(itemFields)]),
] as readonly Field[];

const otherNames: readonly (readonly [name: string, field: Field])[] = [
  ['user_id', 'user'],
  ['content', 'memory'],
  ['query', 'question'],
  ['question_id', 'item_id'],
  ['aliases', 'accepted_answers'],
];

/** Maps `Created At`, `createdAt` and `created_at` to one name. */
function plain(name: string): string {
  return name.toLowerCase().replace(/[^\p{L}\p{N}]/gu, '');
}

const byPlainName = new Map<string, Field>(
  [...knownFields.map((field) => [field, field] as const), ...otherNames].map(([name, field]) => [plain(name), field]),
);

/** Assigns columns to fields: those that `--map` names first, then columns with the name of a field. */
export class ColumnMapping {
  readonly #mapped = new Map<string, Field>();
  readonly #columns = new Map<string, Field | undefined>();

  /** @param map `answer=gold,user=speaker`: field, column @throws BenchError `bad-option` for unknown and repeated fields */
  constructor(map: string | undefined) {
    for (const pair of map?.split(',') ?? []) {
      const [name = '', column = '', ...more] = pair.split('=').map((part) => part.trim());
      if (name === '' || column === '' || more.length > 0) {
        const message = `--map ${JSON.stringify(pair)}: expected field=column`;
        throw new BenchError('bad-option', message, 'such as --map answer=gold,user=speaker');
      }
      const field = byPlainName.get(plain(name));
      if (field === undefined) throw unknownOptionError('--map: unknown field', name, knownFields);
      if (this.#mapped.has(column) || [...this.#mapped.values()].includes(field)) {
        const message = `--map ${pair}: this field or column is mapped twice`;
        throw new BenchError('bad-option', message, 'map each field and each column once');
      }
      this.#mapped.set(column, field);
    }
  }

  /** The field that a column holds; undefined for a column that is not used. */
  field(column: string): Field | undefined {
    if (this.#columns.has(column)) return this.#columns.get(column);
    const named = byPlainName.get(plain(column));
    const isTaken = named !== undefined && [...this.#mapped.values()].includes(named);
    const field = this.#mapped.get(column) ?? (isTaken ? undefined : named);
    this.#columns.set(column, field);
    return field;
  }

  /** Columns so far that hold no field, each with the missing field that it resembles. */
  unused(): string[] {
    const columns = [...this.#columns.keys()].filter((column) => this.#columns.get(column) === undefined);
    const missing = this.#missing();
    return columns.map((column) => withNearest(column, missing));
  }

  /** A column; an unused one is formatted as `anser (did you mean answer?)` if a missing field has a similar name. */
  withNearField(column: string): string {
    return this.field(column) === undefined ? withNearest(column, this.#missing()) : column;
  }

  #missing(): string[] {
    const held = new Set(this.#columns.values());
    return [...byPlainName.keys()].filter((name) => !held.has(byPlainName.get(name)));
  }

  /** Checks that the file has all mapped columns. @throws BenchError `bad-data` naming the first that it lacks */
  requireMapped(path: string): void {
    const columns = [...this.#columns.keys()];
    for (const [column, field] of this.#mapped) {
      if (columns.includes(column)) continue;
      const message = `${path}: has no column "${column}", which --map names for ${field}${didYouMean(column, columns)}`;
      throw new BenchError('bad-data', message, `it has ${columns.join(', ')}`);
    }
  }
}

function withNearest(column: string, missing: readonly string[]): string {
  const near = nearestName(plain(column), missing);
  return near === undefined ? column : `${column} (did you mean ${byPlainName.get(near)!}?)`;
}
