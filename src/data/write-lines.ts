import { mkdirSync, renameSync, rmSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { BenchError } from '../base/bench-error.ts';
import { diskErrorHint } from '../base/disk-error-hint.ts';

const CHUNK_CHARACTERS = 65_536;

/**
 * Writes lines to a temporary file and renames it when it is complete, so that readers never see half a file.
 * @throws BenchError `disk` if the file cannot be written; any error of `lines`
 */
export async function writeLines(path: string, lines: Iterable<string> | AsyncIterable<string>): Promise<void> {
  const unfinished = `${path}.${process.pid}.tmp`;
  async function* chunks(): AsyncGenerator<string> {
    let chunk = '';
    for await (const line of lines) {
      chunk += `${line}\n`;
      if (chunk.length < CHUNK_CHARACTERS) continue;
      yield chunk;
      chunk = '';
    }
    yield chunk;
  }
  try {
    mkdirSync(dirname(path), { recursive: true });
    await writeFile(unfinished, chunks());
    renameSync(unfinished, path);
  } catch (error) {
    rmSync(unfinished, { force: true });
    if ((error as NodeJS.ErrnoException).syscall === undefined) throw error;
    const { message } = error as Error;
    const hint = `${diskErrorHint(error)}, or name another file`;
    throw new BenchError('disk', `${path} cannot be written: ${message}`, hint, error);
  }
}

/** Writes a text that ends with a line break, as `writeLines` does. */
export function writeText(path: string, text: string): Promise<void> {
  return writeLines(path, text.replace(/\n$/, '').split('\n'));
}
