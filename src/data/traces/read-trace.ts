import { closeSync, readSync } from 'node:fs';
import { basename } from 'node:path';
import type { Trace } from '../../kv/traffic/trace.ts';
import { BenchError } from '../../base/bench-error.ts';
import { openToRead } from '../../base/read-remove-rename-files.ts';
import { parseObject } from '../parse-record.ts';
import { fileLines, unreadable } from '../stream-text-file.ts';
import { readJsonlTrace } from './jsonl-trace.ts';
import { readMooncakeTrace } from './mooncake-trace.ts';
import { readRunTrace, type RunChoice } from './run-trace.ts';

const SQLITE = 'SQLite format 3\0';

/**
 * Reads a trace in any of its forms, told apart by their beginning: a database of runs, Mooncake's JSON Lines, or the bench's own.
 * @throws BenchError `not-found`, `bad-data` as the readers; `bad-option` for a run or an arm of a file that has none
 */
export async function readTrace(path: string, choice: RunChoice = {}): Promise<Trace> {
  if (isDatabase(path)) return sorted(readRunTrace(path, choice));
  const chosen = choice.run ?? choice.arm;
  if (chosen !== undefined) {
    const option = choice.run === undefined ? '--trace-arm' : '--trace-run';
    const message = `${option} ${JSON.stringify(chosen)}: ${path} is no database of runs`;
    throw new BenchError('bad-option', message, 'drop it, or name the database of a run by --trace');
  }
  for await (const { number, text } of fileLines(path)) {
    const first = parseObject(text, `${path}:${number}`);
    const read = 'hash_ids' in first ? readMooncakeTrace : readJsonlTrace;
    const trace = await read(path, basename(path), fileLines(path));
    if (trace.turns.length > 0) return sorted(trace);
  }
  throw new BenchError('bad-data', `${path}: has no turns`, 'write one JSON object per turn: see docs/traces.md');
}

/** Sorts turns by time, the first at 0. Turns of one time keep their order. */
function sorted({ turns, ...about }: Trace): Trace {
  const inOrder = turns.toSorted((a, b) => a.atMs - b.atMs);
  const start = inOrder[0]?.atMs ?? 0;
  return { ...about, turns: inOrder.map((turn) => ({ ...turn, atMs: turn.atMs - start })) };
}

function isDatabase(path: string): boolean {
  try {
    const file = openToRead(path);
    const start = Buffer.alloc(SQLITE.length);
    readSync(file, start, 0, start.length, 0);
    closeSync(file);
    return start.toString('latin1') === SQLITE;
  } catch (error) {
    throw unreadable(path, error);
  }
}
