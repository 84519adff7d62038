import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { z } from 'zod';

/** One question as one arm answered it in one form. */
const askedTurn = z
  .object({
    /** Of the model's file, the data and the code's own answer rules: turns of another are asked again. */
    subject: z.string(),
    form: z.string(),
    arm: z.string(),
    itemId: z.string(),
    userId: z.string(),
    category: z.string(),
    answer: z.string(),
    contains: z.number(),
  })
  .readonly();

export type AskedTurn = z.output<typeof askedTurn>;

const keyOf = ({ subject, form, arm, itemId }: Pick<AskedTurn, 'subject' | 'form' | 'arm' | 'itemId'>): string =>
  JSON.stringify([subject, form, arm, itemId]);

/** Turns that were asked before, by any call of the script, kept in a file of one line each: a sweep goes on where it was. */
export class AskedTurns {
  readonly #path: string;
  readonly #turns = new Map<string, AskedTurn>();

  constructor(path: string) {
    this.#path = path;
    const lines = existsSync(path) ? readFileSync(path, 'utf8').split('\n') : [];
    for (const line of lines) {
      const turn = askedTurn.safeParse(line === '' ? undefined : parsed(line));
      // The last line of a process that was killed may be cut.
      if (turn.success) this.#turns.set(keyOf(turn.data), turn.data);
    }
  }

  find(turn: Pick<AskedTurn, 'subject' | 'form' | 'arm' | 'itemId'>): AskedTurn | undefined {
    return this.#turns.get(keyOf(turn));
  }

  add(turn: AskedTurn): void {
    appendFileSync(this.#path, `${JSON.stringify(turn)}\n`);
    this.#turns.set(keyOf(turn), turn);
  }
}

function parsed(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}
