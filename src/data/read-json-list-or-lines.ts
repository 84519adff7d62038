import { jsonElements } from './stream-json-list.ts';
import { type FileLine, fileLines, type FileLines, fileText } from './stream-text-file.ts';

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

/** Records of JSON Lines or one JSON list, numbered from 1. @throws BenchError while iterating, as `fileLines` */
export function recordLines(path: string): FileLines {
  let hashed: Pick<FileLines, 'sha256'> | undefined;
  async function* lines(): AsyncGenerator<FileLine> {
    if (!(await isList(path))) {
      const plain = fileLines(path);
      hashed = plain;
      yield* plain;
      return;
    }
    const elements = jsonElements(path, 'expected one JSON list of records, or one record per line');
    hashed = elements;
    let number = 0;
    for await (const { place, value } of elements) yield { number: ++number, place, text: JSON.stringify(value) };
  }
  return { [Symbol.asyncIterator]: lines, sha256: () => hashed!.sha256() };
}
