import { createHash } from 'node:crypto';
import { BenchError } from '../base/bench-error.ts';
import { parseJsonLongNumbersAsText } from '../base/parse-json-long-numbers-as-text.ts';
import { fileText } from './stream-text-file.ts';

const MAX_ELEMENT_CHARACTERS = 100_000_000;

/** Stream of the elements of a JSON list. `sha256` hashes the bytes of the file; call it after the last element. */
export interface JsonElements extends AsyncIterable<unknown> {
  readonly sha256: () => string;
}

/**
 * Splits a JSON text into the elements of its outermost list, without parsing them. Any other value is one element.
 * @throws RangeError for a text that ends within a value, and for an element of over 100 MB
 */
async function* elementTexts(pieces: AsyncIterable<string>): AsyncGenerator<string> {
  let element = '';
  let depth = 0;
  let isList: boolean | undefined;
  let inString = false as boolean;
  let isEscaped = false;
  const endsElement = (character: string): boolean => {
    if (inString) {
      inString = isEscaped || character !== '"';
      isEscaped = !isEscaped && character === '\\';
      return false;
    }
    inString = character === '"';
    if ('[{'.includes(character)) depth++;
    if (']}'.includes(character)) depth--;
    return isList === true && (depth === 0 || (depth === 1 && character === ','));
  };
  for await (const piece of pieces) {
    let start = 0;
    for (let at = 0; at < piece.length; at++) {
      const character = piece[at]!;
      if (isList === undefined && character.trim() !== '') {
        isList = character === '[';
        if (isList) start = at + 1;
      }
      if (!endsElement(character)) continue;
      yield element + piece.slice(start, at);
      element = '';
      start = at + 1;
    }
    element += piece.slice(start);
    if (element.length > MAX_ELEMENT_CHARACTERS) throw new RangeError('an element of over 100 MB');
  }
  if (isList === undefined || depth !== 0 || inString) throw new RangeError('it ends in the middle');
  yield element;
}

/**
 * Streams the elements of a file that is one JSON list; any other JSON value is one element.
 * @param what hint on the shape of the file: `a LoCoMo file is one JSON list of conversations`
 * @throws BenchError while iterating: `not-found` for a missing file, `bad-data` for one that is not UTF-8 or not JSON
 */
export function jsonElements(path: string, what: string): JsonElements {
  const hash = createHash('sha256');
  async function* elements(): AsyncGenerator {
    let index = 0;
    try {
      for await (const text of elementTexts(fileText(path, hash))) {
        if (text.trim() === '') continue;
        yield parseJsonLongNumbersAsText(text);
        index++;
      }
    } catch (error) {
      if (error instanceof BenchError) throw error;
      const { message } = error as Error;
      const why = error instanceof RangeError ? message : `${message.split('\n')[0]!} in [${index}]`;
      throw new BenchError('bad-data', `${path}: is not JSON: ${why}`, what, error);
    }
  }
  return { [Symbol.asyncIterator]: elements, sha256: () => hash.digest('hex') };
}
