const DAY_MS = 86_400_000;
const JOURNAL_DAYS = 7;

const trigger = /最近|recent|today|昨天|yesterday|past \d+ days|这几天/i;

/** Whether a question asks for what was said of late. @see seed 002 §2 */
export function asksForTimeline(query: string): boolean {
  return trigger.test(query);
}

/** The file of the journal that holds what was written at an instant: one a day, days in UTC. */
export function journalUri(instantMs: number): string {
  return `journal/${new Date(instantMs).toISOString().slice(0, 10)}.md`;
}

/** The files of the last seven days, today's first. */
export function recentJournal(nowMs: number): string[] {
  return Array.from({ length: JOURNAL_DAYS }, (_, days) => journalUri(nowMs - days * DAY_MS));
}
