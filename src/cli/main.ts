#!/usr/bin/env node
import { runProgram } from './program.ts';

/** Waits until all output was written: ending the process cuts off a pipe. */
function flushed(stream: NodeJS.WriteStream): Promise<void> {
  return new Promise((resolve) => stream.write('', () => resolve()));
}

// A reader such as `head` may close the pipe early.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit();
  throw error;
});
// With this listener a write beyond a limit fails and is reported; without it signal-exit, which node-llama-cpp loads and
// which listens to every signal, would end the process.
process.on('SIGXFSZ', () => undefined);
await runProgram(process.argv.slice(2));
await flushed(process.stdout);
await flushed(process.stderr);
process.exit();
