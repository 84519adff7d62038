#!/usr/bin/env node
import { runProgram } from './program.ts';

/** Waits until all output is written, since exiting would cut off a pipe. */
function flushed(stream: NodeJS.WriteStream): Promise<void> {
  return new Promise((resolve) => stream.write('', () => resolve()));
}

// A reader such as `head` may close the pipe early.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit();
  throw error;
});
// Without this listener signal-exit, which node-llama-cpp loads, ends the process when a file exceeds the size limit; with it the
// write fails and is reported.
process.on('SIGXFSZ', () => undefined);
await runProgram(process.argv.slice(2));
await flushed(process.stdout);
await flushed(process.stderr);
process.exit();
