import { createHash } from 'node:crypto';
import { BenchError } from '../base/bench-error.ts';
import { parseJsonLongNumbersAsText } from '../base/parse-json-long-numbers-as-text.ts';
import { type FileLine, fileLines, type FileLines, fileText, type HashedStream } from './stream-text-file.ts';

const MAX_ELEMENT_CHARACTERS = 100_000_000;

/** An element of a file, and its place for messages: `file: [3]` in a list, `file:4` in JSON Lines. */
export interface JsonElement {
  readonly place: string;
  readonly value: unknown;
}

export type JsonElements = HashedStream<JsonElement>;

/**
 * Splits a JSON text into the elements of its outermost list, or into its objects, without parsing them. Any other value
 * is one element.
 * @returns also the place of each: ` [3]` or `:4`
 * @throws RangeError for a text that ends within a value or goes on after the list, and for an element of over 100 MB
 */
async function* elementTexts(pieces: AsyncIterable<string>) {
  let element = '';
  let index = 0;
  let depth = 0;
  let [line, firstLine] = [1, 1];
  let isList: boolean | undefined;
  let inString = false as boolean;
  let isEscaped = false;
  const step = (character: string): void => {
    if (character === '\n') line++;
    if ('[{'.includes(character) && depth++ === 0) firstLine = line;
    if (']}'.includes(character)) depth--;
  };
  const endsElement = (character: string): boolean => {
    if (inString) {
      inString = isEscaped || character !== '"';
      isEscaped = !isEscaped && character === '\\';
      return false;
    }
    inString = character === '"';
    step(character);
    if (isList === false) return depth === 0 && character === '}';
    return isList === true && (depth === 0 || (depth === 1 && character === ','));
  };
  const requireOpenList = (character: string): void => {
    if (isList === true && depth === 0 && character.trim() !== '') throw new RangeError('text follows the list');
  };
  const placed = (text: string) => ({ at: isList === true ? ` [${index++}]` : `:${firstLine}`, text });
  for await (const piece of pieces) {
    let start = 0;
    for (let at = 0; at < piece.length; at++) {
      const character = piece[at]!;
      requireOpenList(character);
      if (isList === undefined && character.trim() !== '') {
        isList = character === '[';
        if (isList) start = at + 1;
      }
      if (!endsElement(character)) continue;
      // In a list, the element ends before the comma or bracket; an object ends with its brace.
      yield placed(element + piece.slice(start, isList ? at : at + 1));
      element = '';
      start = at + 1;
    }
    element += piece.slice(start);
    if (element.length > MAX_ELEMENT_CHARACTERS) throw new RangeError('an element of over 100 MB');
  }
  if (isList === undefined || depth !== 0 || inString) throw new RangeError('it ends in the middle');
  yield placed(element);
}

/**
 * Streams the elements of a file: one JSON list, or JSON objects one after the other, as in JSON Lines; any other JSON
 * value is one element.
 * @param what hint on the shape of the file: `a LoCoMo file is one JSON list of conversations`
 * @throws BenchError while iterating: `not-found` for a missing file, `bad-data` for one that is not UTF-8 or not JSON
 */
export function jsonElements(path: string, what: string): JsonElements {
  const hash = createHash('sha256');
  async function* elements(): AsyncGenerator<JsonElement> {
    let place = '';
    try {
      for await (const { at, text } of elementTexts(fileText(path, hash))) {
        if (text.trim() === '') continue;
        place = at;
        yield { place: at.startsWith(':') ? path + at : `${path}:${at}`, value: parseJsonLongNumbersAsText(text) };
      }
    } catch (error) {
      if (error instanceof BenchError) throw error;
      const { message } = error as Error;
      const why =
        error instanceof RangeError ? message : `${message.split('\n')[0]!} in${place.replace(':', ' line ')}`;
      throw new BenchError('bad-data', `${path}: is not JSON: ${why}`, what, error);
    }
  }
  return { [Symbol.asyncIterator]: elements, sha256: () => hash.digest('hex') };
}

/** True for a file that begins with a list of objects. */
async function isList(path: string): Promise<boolean> {
  let start = '';
  try {
    for await (const text of fileText(path)) {
      start = (start + text).trimStart();
      if (start.replace(/^\[\s*/u, '') !== '') break;
    }
  } catch {
    // `fileLines` will report the same error with its line.
    return false;
  }
  return /^\[\s*\{/u.test(start);
}

/** Records of JSON Lines or one JSON list. @throws BenchError while iterating, as `fileLines` */
export function recordLines(path: string): FileLines {
  let hashed: FileLines | JsonElements | undefined;
  async function* lines(): AsyncGenerator<FileLine> {
    if (!(await isList(path))) {
      const plain = fileLines(path);
      hashed = plain;
      yield* plain;
      return;
    }
    const elements = jsonElements(path, 'expected one JSON list of records, or one record per line');
    hashed = elements;
    for await (const { place, value } of elements) yield { place, text: JSON.stringify(value) };
  }
  return { [Symbol.asyncIterator]: lines, sha256: () => hashed!.sha256() };
}
