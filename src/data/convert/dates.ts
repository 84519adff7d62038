export const DAY_MS = 86_400_000;
/** The time of the first memory of data without times. */
export const UNDATED_START_MS = Date.UTC(2000, 0, 1);

export const months = 'january february march april may june july august september october november december'.split(
  ' ',
);

const ISO = /^(\d{4}-\d{2}-\d{2})(?:[T ](\d{2}:\d{2})(:\d{2}(?:\.\d+)?)?)? ?(Z|[+-]\d{2}:?\d{2})?$/i;
const NUMERIC_DAY = /^(\d{4})[/.年](\d{1,2})[/.月](\d{1,2})日?/u;
const DAY_FIRST = new RegExp(`^(\\d{1,2}) (${months.join('|')}),? (\\d{4})`, 'i');
const MONTH_FIRST = new RegExp(`^(${months.join('|')}) (\\d{1,2}),? (\\d{4})`, 'i');
const TIME_FIRST = /^(0?[1-9]|1[0-2]):([0-5]\d)\s*([ap])\.?m\.?,?\s+on\s+(.+)$/i;

/** True for a day of the calendar; `Date.parse` alone reads 31 April as 1 May. */
function isDay(text: string): boolean {
  const parsed = new Date(`${text}T00:00:00Z`);
  return !Number.isNaN(parsed.getTime()) && parsed.toISOString().startsWith(text);
}

function isoDay(year: string, month: string, day: string): string {
  const number = months.indexOf(month.toLowerCase()) + 1 || Number(month);
  return `${year}-${String(number).padStart(2, '0')}-${day.padStart(2, '0')}`;
}

/** Puts a twelve-hour clock in front behind the day, and writes the day as 2026-03-01. */
function inIsoOrder(text: string): string {
  return text
    .normalize('NFKC')
    .replace(TIME_FIRST, (...[, hour, minute, half, day]: string[]) => {
      const hours = (Number(hour) % 12) + (half!.toLowerCase() === 'p' ? 12 : 0);
      return `${day!} ${String(hours).padStart(2, '0')}:${minute!}`;
    })
    .replace(NUMERIC_DAY, (_, year: string, month: string, day: string) => isoDay(year, month, day))
    .replace(DAY_FIRST, (_, day: string, month: string, year: string) => isoDay(year, month, day))
    .replace(MONTH_FIRST, (_, month: string, day: string, year: string) => isoDay(year, month, day));
}

/**
 * Reads `2026-03-01T09:00:00+01:00`, `2026/3/1 09:00`, `2026年3月1日`, `1 March 2026`, `1:56 pm on 8 May, 2023` and the like.
 * @returns the time in ISO 8601; `zoned` is false if the text names no time zone and UTC is assumed. Undefined for anything else,
 * such as 01/03/2026
 */
export function readInstant(text: string) {
  const match = ISO.exec(inIsoOrder(text.trim()));
  if (match === null) return undefined;
  const [, day, clock = '00:00', seconds = ':00', zone] = match;
  if (!isDay(day!)) return undefined;
  const offset = zone === undefined ? 'Z' : zone.toUpperCase().replace(/^([+-]\d{2})(\d{2})$/, '$1:$2');
  const iso = `${day!}T${clock}${seconds}${offset}`;
  return Number.isNaN(Date.parse(iso)) ? undefined : { iso, zoned: zone !== undefined };
}

const dayText = new Intl.DateTimeFormat('en-GB', { dateStyle: 'long', timeZone: 'UTC' });

export function dayInWords(atMs: number): string {
  return dayText.format(atMs);
}

/** Text of a memory for one turn of a dated conversation: `8 May 2023, Mira: I planted tulips.` */
export function datedTurn(atMs: number, speaker: string, said: string): string {
  return `${dayInWords(atMs)}, ${speaker}: ${said}`;
}
