import { keywordsOf } from './keywords.ts';
import { describeAbility, type RoutingAbility } from './model-route.ts';
import type { QueryModel } from './query-record.ts';

/** Most characters of a written question: a multiple of the original's, plus a constant. */
const MOST_GROWTH = 2;
const SLACK = 40;
const MOST_PARTS = 5;

/** Texts written by a model; none, with the reason, if it failed. */
export interface Written {
  readonly texts: readonly string[];
  readonly fallback?: string;
}

/**
 * Rewrites and decomposes questions with a language model that has proved its ability on labelled questions. Its output is
 * discarded if it is empty, far longer than the question, or about something else.
 */
export class QueryWriter {
  readonly #model: QueryModel | undefined;
  readonly #ability: () => Promise<RoutingAbility | undefined>;

  constructor(model: QueryModel | undefined, ability: () => Promise<RoutingAbility | undefined>) {
    this.#model = model;
    this.#ability = ability;
  }

  /** Rewrites a question: one text, or none. */
  rewrite(question: string): Promise<Written> {
    return this.#write(question, 'Rewrite the question in few plain words.', 'Rewritten:', (line) => [line]);
  }

  /** Decomposes a question: one text for each part, or none. */
  decompose(question: string): Promise<Written> {
    return this.#write(
      question,
      'Split the question into simple questions, separated by |.',
      'Simple questions:',
      (line) => line.split('|').slice(0, MOST_PARTS),
    );
  }

  async #write(
    question: string,
    task: string,
    lead: string,
    read: (line: string) => readonly string[],
  ): Promise<Written> {
    const ability = await this.#ability();
    if (this.#model === undefined || ability === undefined) {
      return { texts: [], fallback: 'there is no language model to write questions' };
    }
    if (!ability.able) return { texts: [], fallback: describeAbility(this.#model.name, ability) };
    const line = await this.#model.writeLine(`${task}\nQuestion: ${question.replaceAll('\n', ' ')}\n${lead}`);
    const texts = read(line)
      .map((text) => text.trim())
      .filter((text) => text !== '');
    return texts.length > 0 && texts.every((text) => isFaithful(question, text))
      ? { texts }
      : { texts: [], fallback: `${this.#model.name} wrote a different question` };
  }
}

/** True for a text of limited length that shares a keyword with the question. */
function isFaithful(question: string, text: string): boolean {
  if (text.length > MOST_GROWTH * question.length + SLACK) return false;
  const asked = keywordsOf(question);
  const written = new Set(keywordsOf(text));
  return asked.length === 0 || asked.some((word) => written.has(word));
}
