import { BenchError } from '../../base/bench-error.ts';
import { didYouMean, nearestName } from '../../base/nearest-name.ts';

/** Fields that a column of a table or a key of a JSON line can hold, each with its other names. */
const fieldNames = {
  user: ['user_id'],
  memory: ['content'],
  memory_id: [],
  created_at: [],
  updated_at: [],
  value: [],
  relation: [],
  preference: [],
  supersedes: [],
  uri: [],
  scope: [],
  links: [],
  confidence: [],
  question: ['query'],
  item_id: ['question_id'],
  answer: [],
  accepted_answers: ['aliases'],
  answer_prefix: [],
  system_prompt: [],
  language: [],
  evidence: [],
  superseded: [],
  passages: [],
  category: [],
  phrasing: [],
  asked_at: [],
  history: [],
} as const;

export type Field = keyof typeof fieldNames;

/** Maps `Created At`, `createdAt` and `created_at` to one name. */
function plain(name: string): string {
  return name.toLowerCase().replace(/[^\p{L}\p{N}]/gu, '');
}

const byPlainName = new Map<string, Field>(
  (Object.keys(fieldNames) as Field[]).flatMap((field) =>
    [field, ...fieldNames[field]].map((name) => [plain(name), field] as const),
  ),
);

/** Names of all fields, for help texts and hints. */
export const knownFields: readonly Field[] = Object.keys(fieldNames) as Field[];

/** Assigns columns to fields: those that `--map` names first, then columns with the name of a field. */
export class FieldNames {
  readonly #mapped = new Map<string, Field>();
  readonly #met = new Map<string, Field | undefined>();

  /**
   * @param map `answer=gold,user=speaker`: field, then column
   * @throws BenchError `bad-option` for an unknown field, and for one that is named twice
   */
  constructor(map: string | undefined) {
    for (const pair of map?.split(',') ?? []) {
      const [name = '', column, ...more] = pair.split('=').map((part) => part.trim());
      if (name === '' || column === undefined || column === '' || more.length > 0) {
        const message = `--map ${JSON.stringify(pair)}: expected field=column`;
        throw new BenchError('bad-option', message, 'such as --map answer=gold,user=speaker');
      }
      const field = byPlainName.get(plain(name));
      if (field === undefined) {
        const message = `--map: unknown field "${name}"${didYouMean(name, knownFields)}`;
        throw new BenchError('bad-option', message, `known: ${knownFields.join(', ')}`);
      }
      if (this.#mapped.has(column) || [...this.#mapped.values()].includes(field)) {
        throw new BenchError('bad-option', `--map ${pair}: named before`, 'map each field and each column once');
      }
      this.#mapped.set(column, field);
    }
  }

  /** Returns the field that a column holds; undefined for a column that is not used. */
  fieldOf(column: string): Field | undefined {
    if (this.#met.has(column)) return this.#met.get(column);
    const called = byPlainName.get(plain(column));
    const taken = called !== undefined && [...this.#mapped.values()].includes(called);
    const field = this.#mapped.get(column) ?? (taken ? undefined : called);
    this.#met.set(column, field);
    return field;
  }

  /** Lists the columns that were seen and hold no field, with the field that each may be meant for. */
  unused(): string[] {
    return [...this.#met].filter(([, field]) => field === undefined).map(([column]) => this.withNearField(column));
  }

  /** Formats a column as `anser (did you mean answer?)` if an unheld field has a similar name. */
  withNearField(column: string): string {
    const held = new Set(this.#met.values());
    const open = [...byPlainName].filter(([, field]) => !held.has(field)).map(([name]) => name);
    const near = nearestName(plain(column), open);
    return near === undefined ? column : `${column} (did you mean ${byPlainName.get(near)!}?)`;
  }

  /** Checks that all mapped columns were seen. @throws BenchError `bad-data` naming the first that was not */
  requireMapped(path: string): void {
    for (const [column, field] of this.#mapped) {
      if (this.#met.has(column)) continue;
      const message = `${path}: has no column "${column}", which --map names for ${field}${didYouMean(column, this.#met.keys())}`;
      throw new BenchError('bad-data', message, `it has ${[...this.#met.keys()].join(', ')}`);
    }
  }
}
