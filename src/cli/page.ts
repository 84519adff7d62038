import type { WriteStream } from 'node:tty';
import type { Page } from '../report/render/terminal.ts';

const defaultColumns = 80;

/**
 * What a stream can show: its own width and colours at a terminal, 80 columns and none elsewhere, or with NO_COLOR;
 * FORCE_COLOR keeps the colours where the text goes to another program, such as `less -R`.
 */
export function pageOf(stream: WriteStream, environment: NodeJS.ProcessEnv = process.env): Page {
  const forced = !['', '0', 'false'].includes(environment['FORCE_COLOR'] ?? '');
  if (!stream.isTTY) return { width: defaultColumns, colour: forced };
  const wanted = forced || ((environment['NO_COLOR'] ?? '') === '' && environment['TERM'] !== 'dumb');
  // A terminal that does not say how wide it is says 0.
  return { width: Math.max(40, stream.columns || defaultColumns), colour: wanted };
}
