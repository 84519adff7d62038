const DAY_MS = 86_400_000;
const JOURNAL_DAYS = 7;

const trigger = /最近|recent|today|昨天|yesterday|past \d+ days|这几天/i;

/** True for a question about recent statements. */
export function asksForTimeline(query: string): boolean {
  return trigger.test(query);
}

/** Names the journal file of an instant: one a day, in UTC. */
export function journalUri(instantMs: number): string {
  return `journal/${new Date(instantMs).toISOString().slice(0, 10)}.md`;
}

/** Lists the journal files of the last seven days, newest first. */
export function recentJournal(nowMs: number): string[] {
  return Array.from({ length: JOURNAL_DAYS }, (_, days) => journalUri(nowMs - days * DAY_MS));
}
