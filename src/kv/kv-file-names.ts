import { isRunning } from '../base/is-running.ts';

/**
 * Names of files in a folder of KV. Each begins with a key:
 *
 * - `<key>.json`: the record of an entry
 * - `<key>.<fingerprint>.block`, `<key>.<id>.checkpoint`: its payload, the bytes of a block or the mark of a checkpoint
 * - `<record or payload>.<id>.<process id>.new`: unfinished; a process writes it, or was killed at it
 */

const KEY = /^[0-9a-f]{64}$/;
const UNFINISHED = /\.([^.]+)\.(\d+)\.new$/;
const FINGERPRINT_DIGITS = 16;

/** True for what `kvKey` gives. */
export function isKey(text: string): boolean {
  return KEY.test(text);
}

/** The text in front of the first dot. */
export function keyOf(file: string): string {
  return file.slice(0, file.indexOf('.'));
}

export function recordName(key: string): string {
  return `${key}.json`;
}

export function isRecord(file: string): boolean {
  return file.endsWith('.json');
}

export function blockName(key: string, fingerprint: string): string {
  return `${key}.${fingerprint.slice(0, FINGERPRINT_DIGITS)}.block`;
}

/** The mark of a checkpoint: it says that there are bytes of that id, wherever the engine has them. */
export function markName(key: string, id: string): string {
  return `${key}.${id}.checkpoint`;
}

/** The id in the name of a mark; undefined for other names. */
export function markedId(file: string): string | undefined {
  return /^[^.]+\.([^.]+)\.checkpoint$/.exec(file)?.[1];
}

/** Neither a record nor unfinished. */
export function isPayload(file: string): boolean {
  return !isRecord(file) && !isUnfinished(file);
}

/** The name of a file while this process writes it: it says who is at work, and at what. */
export function unfinishedName(file: string, id: string): string {
  return `${file}.${id}.${process.pid}.new`;
}

export function isUnfinished(file: string): boolean {
  return UNFINISHED.test(file);
}

/** An unfinished file whose process runs. */
export function isInWork(file: string): boolean {
  const processId = UNFINISHED.exec(file)?.[2];
  return processId !== undefined && isRunning(Number(processId));
}

/** True for the mark of a checkpoint where an unfinished file among the others says that its process is making it. */
export function isMarkInWork(mark: string, files: readonly string[]): boolean {
  const id = markedId(mark);
  return id !== undefined && files.some((file) => UNFINISHED.exec(file)?.[1] === id && isInWork(file));
}
