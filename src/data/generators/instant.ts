const MINUTE_MS = 60_000;

/** Formats a time, cut to whole minutes, such as `2026-03-01T09:00:00Z`. */
export function instant(ms: number): string {
  return new Date(ms - (ms % MINUTE_MS)).toISOString().replace('.000', '');
}
