import type { ChatResponse } from '../../systems/contracts.ts';

/** What an answer took, in one line: time to first token, the four token counts, what was found, and what was left out. */
export function turnLine({ timings, tokens, memoriesUsed, metadata, promptInfo }: ChatResponse): string {
  const hits = `${memoriesUsed.length} ${memoriesUsed.length === 1 ? 'hit' : 'hits'}`;
  const kv = { new: ', K/V built', seen: ', K/V found', none: '' }[metadata['reuse'] as 'new' | 'seen' | 'none'];
  const counts = [
    `${tokens.prompt} prompt`,
    `${tokens.kvResident} K/V`,
    `${tokens.evaluated} evaluated`,
    `${tokens.generated} generated`,
  ];
  const more = [...(metadata['stop'] === 'aborted' ? ['stopped'] : []), ...promptInfo.budget.warnings];
  return [`TTFT ${timings.firstToken.toFixed(1)} ms`, counts.join(', '), hits + kv, ...more].join(' · ');
}
