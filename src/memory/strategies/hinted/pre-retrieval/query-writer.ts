import { keywordsOf } from './keywords.ts';
import { describeAbility, type RoutingAbility } from './model-route.ts';
import type { QueryModel } from './query-tools.ts';

/** What a model may make of a question: this many times its characters, and some. */
const MOST_GROWTH = 2;
const SLACK = 40;
const MOST_PARTS = 5;

/** What was written, nothing where the model could not, and why. */
export interface Written {
  readonly texts: readonly string[];
  readonly fallback?: string;
}

/**
 * Rewrites and decomposes questions with a language model, where it has shown on the labelled questions that it
 * understands what it is asked to do. What it writes is checked: one that is empty, far longer than the question or
 * about something else is thrown away.
 */
export class QueryWriter {
  readonly #model: QueryModel | undefined;
  readonly #ability: () => Promise<RoutingAbility | undefined>;

  constructor(model: QueryModel | undefined, ability: () => Promise<RoutingAbility | undefined>) {
    this.#model = model;
    this.#ability = ability;
  }

  /** One text, or none. */
  rewrite(question: string): Promise<Written> {
    return this.#write(question, 'Rewrite the question in few plain words.', 'Rewritten:', (line) => [line]);
  }

  /** One text a part, or none. */
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
      : { texts: [], fallback: `${this.#model.name} wrote another question than it was given` };
  }
}

/** Of a bearable length, and about something that the question is about. */
function isFaithful(question: string, text: string): boolean {
  if (text.length > MOST_GROWTH * question.length + SLACK) return false;
  const asked = keywordsOf(question);
  const written = new Set(keywordsOf(text));
  return asked.length === 0 || asked.some((word) => written.has(word));
}
