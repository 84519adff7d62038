const dayText = new Intl.DateTimeFormat('en-GB', { dateStyle: 'long', timeZone: 'UTC' });

/** A day in words: `8 May 2023`. */
export function dayInWords(atMs: number): string {
  return dayText.format(atMs);
}

/** One turn of a dated conversation as a memory: `8 May 2023, Mira: I planted tulips.` */
export function spokenLine(atMs: number, speaker: string, said: string): string {
  return `${dayInWords(atMs)}, ${speaker}: ${said}`;
}
