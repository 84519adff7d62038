import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { BenchError } from '../../base/bench-error.ts';
import { freePort } from '../../base/free-port.ts';
import { type EngineRequest, sessionWindow } from '../engine-adapter.ts';
import type { CallOptions } from '../engine-session.ts';
import { readModelHeader } from '../gguf/model-header.ts';
import { checkCapacity, checkModelFile } from '../gguf/model-file.ts';
import { TemporaryFolder } from '../../base/temporary-folder.ts';

const START_LIMIT_MS = 120_000;
const POLL_MS = 50;
/** Limit on one answer while the server starts. */
const HEALTH_LIMIT_MS = 5000;
/** How much of the end of the server's log to keep, for the message if it does not start. */
const LOG_CHARACTERS = 4000;

/** Runs a program and kills it when standard input closes, which happens even if this process is killed. */
const KILL_WITH_PARENT = `
exec 3<&0
"$@" </dev/null &
program=$!
(cat <&3 >/dev/null; kill -9 $program 2>/dev/null) &
watcher=$!
wait $program
code=$?
kill $watcher 2>/dev/null
exit $code
`;

export type LlamaServerProcess = Awaited<ReturnType<typeof startLlamaServer>>;

/**
 * Starts a llama-server on a free port of 127.0.0.1 and waits until it has loaded the model. It ends with this process, even if
 * this is killed.
 * @throws BenchError `not-found` with the last line of its log
 */
export async function startLlamaServer(
  program: string,
  modelPath: string,
  request: Omit<EngineRequest, 'model'>,
  { signal }: CallOptions = {},
) {
  const freeBytes = process.availableMemory();
  const sizeBytes = checkModelFile(modelPath, freeBytes);
  const header = readModelHeader(modelPath);
  const window = sessionWindow(request, header.trainContextTokens);
  checkCapacity(request, window, header, freeBytes - sizeBytes);
  const folder = new TemporaryFolder();
  const port = await freePort();
  const { sessions = 1, kvType = 'F16', threads } = request;
  const flags = {
    '--model': modelPath,
    '--host': '127.0.0.1',
    '--port': port,
    '--parallel': sessions,
    '--ctx-size': sessions * window.cellTokens,
    '--slot-save-path': join(folder.path, '/'),
    '--cache-ram': 0,
    '--cache-type-k': kvType.toLowerCase(),
    '--cache-type-v': kvType.toLowerCase(),
    ...(threads === undefined ? {} : { '--threads': threads }),
  };
  const args = [program, ...Object.entries(flags).flat().map(String), '--slots', '--metrics'];
  const child = spawn('sh', ['-c', KILL_WITH_PARENT, 'llama-server', ...args], { stdio: ['pipe', 'pipe', 'pipe'] });
  let log = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk: Buffer) => (log = (log + chunk.toString()).slice(-LOG_CHARACTERS)));
  }
  // Without a listener, a failed start of `sh` would end this process.
  child.on('error', ({ message }) => (log += message));
  // Ignores errors of writing to a program that has ended.
  child.stdin.on('error', () => undefined);
  const url = `http://127.0.0.1:${port}`;
  const end = async (): Promise<void> => {
    const exit = hasEnded(child) ? undefined : once(child, 'exit');
    child.stdin.end();
    await exit;
    folder[Symbol.dispose]();
  };
  try {
    const why = await waitUntilReady(child, url, signal);
    if (why === undefined) return { url, slotsFolder: folder.path, [Symbol.asyncDispose]: end };
    const lastLine = log.trimEnd().split('\n').at(-1) ?? '';
    throw new BenchError(
      'not-found',
      `--llama-server ${program}: the server did not start: ${why}${lastLine === '' ? '' : `: ${lastLine}`}`,
      'name the llama-server of a llama.cpp build, or build one: scripts/engines/llama-server.sh',
    );
  } catch (error) {
    await end();
    throw error;
  }
}

function hasEnded({ exitCode, signalCode, pid }: ChildProcess): boolean {
  return pid === undefined || exitCode !== null || signalCode !== null;
}

/** @returns why the server did not start; undefined if it did */
async function waitUntilReady(server: ChildProcess, url: string, signal: AbortSignal | undefined) {
  const deadline = performance.now() + START_LIMIT_MS;
  while (performance.now() < deadline) {
    signal?.throwIfAborted();
    if (hasEnded(server)) return `it exited with ${server.exitCode ?? server.signalCode}`;
    const health = await fetch(`${url}/health`, { signal: AbortSignal.timeout(HEALTH_LIMIT_MS) }).catch(
      () => undefined,
    );
    if (health?.ok === true) return undefined;
    await sleep(POLL_MS);
  }
  return `not ready after ${START_LIMIT_MS / 1000} s`;
}
