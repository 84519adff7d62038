import { isProcessRunning } from '../base/is-process-running.ts';

/**
 * Names of files in a folder of KV. Each begins with a key:
 *
 * - `<key>.json`: the record of an entry
 * - `<key>.<fingerprint>.block`, `<key>.<id>.checkpoint`: its payload, the bytes of a block or the mark of a checkpoint
 * - `<record or payload>.<id>.<process id>.new`: unfinished, written by that process
 */

const KEY = /^[0-9a-f]{64}$/;
const UNFINISHED = /\.([^.]+)\.(\d+)\.new$/;
const FINGERPRINT_DIGITS = 16;

export const isKey = (text: string): boolean => KEY.test(text);

/** The text before the first dot. */
export const keyOf = (file: string): string => file.slice(0, file.indexOf('.'));

export const recordName = (key: string): string => `${key}.json`;
export const isRecord = (file: string): boolean => file.endsWith('.json');

export const blockName = (key: string, fingerprint: string): string =>
  `${key}.${fingerprint.slice(0, FINGERPRINT_DIGITS)}.block`;

/** The mark of a checkpoint says that the engine has bytes of that id. */
export const markName = (key: string, id: string): string => `${key}.${id}.checkpoint`;

/** The id in the name of a mark; undefined for other names. */
export const markedId = (file: string): string | undefined => /^[^.]+\.([^.]+)\.checkpoint$/.exec(file)?.[1];

export const isPayload = (file: string): boolean => !isRecord(file) && !isUnfinished(file);

/** The name of a file while this process writes it. */
export const unfinishedName = (file: string, id: string): string => `${file}.${id}.${process.pid}.new`;
export const isUnfinished = (file: string): boolean => UNFINISHED.test(file);

/** True for an unfinished file whose process runs. */
export function isInWork(file: string): boolean {
  const processId = UNFINISHED.exec(file)?.[2];
  return processId !== undefined && isProcessRunning(Number(processId));
}

/** True for the mark of a checkpoint that a running process is making, as an unfinished file among the others says. */
export function isMarkInWork(mark: string, files: readonly string[]): boolean {
  const id = markedId(mark);
  return id !== undefined && files.some((file) => UNFINISHED.exec(file)?.[1] === id && isInWork(file));
}
