import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { BenchError } from '../../base/bench-error.ts';
import { unreadable } from '../file-lines.ts';

const MOST_ELEMENT_CHARACTERS = 100_000_000;

/** The elements of a JSON list as a stream; `sha256`, of the file's bytes, is available after the last was read. */
export interface JsonElements extends AsyncIterable<unknown> {
  readonly sha256: () => string;
}

/** Cuts a JSON text into the elements of its outermost list, without parsing them; any other value is the only element. */
class ElementCutter {
  #element = '';
  #depth = 0;
  #inString = false;
  #escaped = false;
  #isList: boolean | undefined;

  /** True after the outermost value has ended. */
  get ended(): boolean {
    return this.#isList !== undefined && this.#depth === 0 && !this.#inString;
  }

  /** The texts of the elements that end in the next piece of the text. */
  *next(piece: string): Generator<string> {
    let start = 0;
    for (let at = 0; at < piece.length; at++) {
      const character = piece[at]!;
      if (this.#isStringContent(character)) continue;
      if (this.#isList === undefined && character.trim() !== '') {
        this.#isList = character === '[';
        if (this.#isList) start = at + 1;
      }
      if (!this.#endsElement(character)) continue;
      yield* this.#whole(piece.slice(start, at));
      start = at + 1;
    }
    this.#element += piece.slice(start);
    if (this.#element.length > MOST_ELEMENT_CHARACTERS) throw new RangeError('an element of over 100 MB');
  }

  /** The last element of a text that is no list, or what stands behind a list. */
  *end(): Generator<string> {
    yield* this.#whole('');
  }

  /** True for the characters of a string up to its closing quote. */
  #isStringContent(character: string): boolean {
    if (!this.#inString) {
      this.#inString = character === '"';
      return false;
    }
    this.#inString = this.#escaped || character !== '"';
    this.#escaped = !this.#escaped && character === '\\';
    return true;
  }

  #endsElement(character: string): boolean {
    if (character === '{' || character === '[') this.#depth++;
    else if (character === '}' || character === ']') this.#depth--;
    return this.#isList === true && (this.#depth === 0 || (this.#depth === 1 && character === ','));
  }

  *#whole(end: string): Generator<string> {
    const element = this.#element + end;
    this.#element = '';
    if (element.trim() !== '') yield element;
  }
}

/**
 * Reads a file that is one JSON list, element by element, without holding it whole; any other JSON value is one element.
 * @param what the file is, for messages: `a LoCoMo file is one JSON list of conversations`
 * @throws BenchError while iterating: `not-found` for a missing file, `bad-data` for one that is not UTF-8 or not JSON
 */
export function jsonElements(path: string, what: string): JsonElements {
  const hash = createHash('sha256');

  function parsed(text: string, index: number): unknown {
    try {
      return JSON.parse(text);
    } catch (error) {
      throw notJson(`${(error as Error).message.split('\n')[0]!} in [${index}]`, error);
    }
  }

  const notJson = (why: string, cause?: unknown): BenchError =>
    new BenchError('bad-data', `${path}: is not JSON: ${why}`, what, cause);

  async function* elements(): AsyncGenerator {
    const decoder = new TextDecoder('utf-8', { fatal: true });
    const cutter = new ElementCutter();
    let index = 0;
    try {
      for await (const chunk of createReadStream(path) as AsyncIterable<Buffer>) {
        hash.update(chunk);
        for (const text of cutter.next(decoder.decode(chunk, { stream: true }))) yield parsed(text, index++);
      }
      for (const text of cutter.next(decoder.decode())) yield parsed(text, index++);
    } catch (error) {
      if (error instanceof BenchError) throw error;
      if (error instanceof RangeError) throw notJson(error.message, error);
      if (!(error instanceof TypeError)) throw unreadable(path, error);
      throw new BenchError('bad-data', `${path}: is not UTF-8`, 'save the file as UTF-8', error);
    }
    if (!cutter.ended) throw notJson('it ends in the middle');
    for (const text of cutter.end()) yield parsed(text, index++);
  }

  return { [Symbol.asyncIterator]: elements, sha256: () => hash.digest('hex') };
}
