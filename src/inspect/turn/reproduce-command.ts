import { quoted } from '../../report/html/reproduce.ts';
import type { TurnRef } from '../links.ts';

/**
 * The command that shows a stored turn in the terminal.
 * @param places options that say where the database is, where that is not the default
 */
export function reproduceCommand({ run, item, arm, repeat, turn }: TurnRef, places: readonly string[]): string {
  const options: readonly (readonly [string, string])[] = [
    ['--run', run],
    ['--item', item],
    ['--arm', arm],
    ...(repeat === 0 ? [] : ([['--repeat', String(repeat)]] as const)),
    ...(turn === 0 ? [] : ([['--turn', String(turn)]] as const)),
  ];
  const words = [...options.flat(), '--print', ...places];
  return `npx dki-bench inspect ${words.map(quoted).join(' ')}`;
}
