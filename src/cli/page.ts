import type { WriteStream } from 'node:tty';
import type { Page } from '../render/terminal.ts';

const defaultColumns = 80;

/**
 * Abilities of a stream: at a terminal its width, and colours unless NO_COLOR is set; elsewhere 80 columns and no colours
 * unless FORCE_COLOR is set, as for `less -R`.
 */
export function pageOf(stream: WriteStream, environment: NodeJS.ProcessEnv = process.env): Page {
  const forced = !['', '0', 'false'].includes(environment['FORCE_COLOR'] ?? '');
  if (!stream.isTTY) return { width: defaultColumns, colour: forced };
  const wanted = forced || ((environment['NO_COLOR'] ?? '') === '' && environment['TERM'] !== 'dumb');
  // 0 means that the width is unknown.
  return { width: Math.max(40, stream.columns || defaultColumns), colour: wanted };
}
