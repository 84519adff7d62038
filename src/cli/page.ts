import type { WriteStream } from 'node:tty';
import type { Page } from '../report/render/terminal.ts';

const defaultColumns = 80;

/** What a stream can show: its own width and colours at a terminal, 80 columns and none elsewhere, or with NO_COLOR. */
export function pageOf(stream: WriteStream, environment: NodeJS.ProcessEnv = process.env): Page {
  if (!stream.isTTY) return { width: defaultColumns, colour: false };
  const wanted = (environment['NO_COLOR'] ?? '') === '' && environment['TERM'] !== 'dumb';
  // A terminal that does not say how wide it is says 0.
  return { width: Math.max(40, stream.columns || defaultColumns), colour: wanted };
}
