import { dataVersion } from './data-version.ts';
import type { BenchDatabase } from './database.ts';

const mostBytes = 8_000_000;
/** Size of an answer that is a number or two, with its name. */
const smallBytes = 500;

/** Answers that are as slow as a walk over all rows, until another connection writes to the file. */
export class KnownAnswers {
  readonly #database: BenchDatabase;
  readonly #answers = new Map<string, unknown>();
  #bytes = 0;
  #version: number | undefined;

  constructor(database: BenchDatabase) {
    this.#database = database;
  }

  /**
   * The answer of that name, asked for where it is not known or the file has changed.
   * @param bytesOf its size beyond a number or two
   */
  of<Answer>(name: string, ask: () => Answer, bytesOf: (answer: Answer) => number = () => 0): Answer {
    // A connection that writes asks anew.
    const version = dataVersion(this.#database);
    if (version !== this.#version) this.#forget();
    this.#version = version;
    if (this.#answers.has(name)) return this.#answers.get(name) as Answer;
    const answer = ask();
    if (this.#database.readOnly) this.#keep(name, answer, smallBytes + bytesOf(answer));
    return answer;
  }

  #keep(name: string, answer: unknown, bytes: number): void {
    if (this.#bytes + bytes > mostBytes) this.#forget();
    this.#answers.set(name, answer);
    this.#bytes += bytes;
  }

  #forget(): void {
    this.#answers.clear();
    this.#bytes = 0;
  }
}

const known = new WeakMap<BenchDatabase, KnownAnswers>();

/** The answers that a connection has given. */
export function knownAnswers(database: BenchDatabase): KnownAnswers {
  const answers = known.get(database) ?? new KnownAnswers(database);
  known.set(database, answers);
  return answers;
}
