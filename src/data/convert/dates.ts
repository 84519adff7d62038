export const DAY_MS = 86_400_000;
/** The time of the first memory of data without times. */
export const UNDATED_START_MS = Date.UTC(2000, 0, 1);

export const months = 'january february march april may june july august september october november december'.split(' ');

const ISO = /^(\d{4}-\d{2}-\d{2})(?:[T ](\d{2}:\d{2})(:\d{2}(?:\.\d+)?)?)? ?(Z|[+-]\d{2}:?\d{2})?$/i;
const SPOKEN = /^(\d{1,2}):(\d{2})\s*([ap])\.?m\.?,?\s+on\s+(\d{1,2})\s+([a-z]+),?\s+(\d{4})$/i;

/** A time in ISO 8601; `zoned` is false if the text named no time zone and UTC was assumed. */
export interface Instant {
  readonly iso: string;
  readonly zoned: boolean;
}

/** True for a day of the calendar; `Date.parse` alone reads 31 April as 1 May. */
function isDay(text: string): boolean {
  const parsed = new Date(`${text}T00:00:00Z`);
  return !Number.isNaN(parsed.getTime()) && parsed.toISOString().startsWith(text);
}

function fromIso(text: string): Instant | undefined {
  const match = ISO.exec(text);
  if (match === null) return undefined;
  const [, day, clock = '00:00', seconds = ':00', zone] = match;
  if (!isDay(day!)) return undefined;
  const offset = zone === undefined ? 'Z' : zone.toUpperCase().replace(/^([+-]\d{2})(\d{2})$/, '$1:$2');
  const iso = `${day!}T${clock}${seconds}${offset}`;
  return Number.isNaN(Date.parse(iso)) ? undefined : { iso, zoned: zone !== undefined };
}

/** Reads `1:56 pm on 8 May, 2023`: a twelve-hour clock, the month as a word. */
function fromSpoken(text: string): Instant | undefined {
  const match = SPOKEN.exec(text);
  if (match === null) return undefined;
  const [hour, minute, day, year] = [Number(match[1]), Number(match[2]), Number(match[4]), Number(match[6])];
  const month = months.indexOf(match[5]!.toLowerCase()) + 1;
  if (month === 0 || hour < 1 || hour > 12 || minute > 59) return undefined;
  const two = (part: number): string => String(part).padStart(2, '0');
  const hours = (hour % 12) + (match[3]!.toLowerCase() === 'p' ? 12 : 0);
  const date = `${year}-${two(month)}-${two(day)}`;
  return isDay(date) ? { iso: `${date}T${two(hours)}:${two(minute)}:00Z`, zoned: false } : undefined;
}

/** Reads `2026-03-01`, `2026-03-01T09:00:00+01:00`, `1:56 pm on 8 May, 2023` and the like; undefined for anything else. */
export function readInstant(text: string): Instant | undefined {
  const trimmed = text.trim();
  return fromIso(trimmed) ?? fromSpoken(trimmed);
}

const dayText = new Intl.DateTimeFormat('en-GB', { dateStyle: 'long', timeZone: 'UTC' });

export function dayInWords(atMs: number): string {
  return dayText.format(atMs);
}

/** Text of a memory for one turn of a dated conversation: `8 May 2023, Mira: I planted tulips.` */
export function datedTurn(atMs: number, speaker: string, said: string): string {
  return `${dayInWords(atMs)}, ${speaker}: ${said}`;
}
