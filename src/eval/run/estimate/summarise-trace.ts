import type { Trace } from '../../../kv/traffic/trace.ts';

/** Traffic in numbers. */
export type TraceSummary = ReturnType<typeof summariseTrace>;

/** @param kvBytesPerToken of the model @throws RangeError for a trace without turns */
export function summariseTrace({ turns, name, idsOf, headerTokens }: Trace, kvBytesPerToken: number) {
  if (turns.length === 0) throw new RangeError(`trace ${name} has no turns`);
  const known = new Map<string, Set<string>>();
  const conversations = new Set<string>();
  let [tokens, shown, distinct, distinctTokens] = [0, 0, 0, headerTokens];
  for (const { userId, conversationId, segments, queryTokens } of turns) {
    conversations.add(conversationId);
    let own = known.get(userId);
    if (own === undefined) known.set(userId, (own = new Set()));
    tokens += headerTokens + queryTokens;
    shown += segments.length;
    for (const segment of segments) {
      tokens += segment.tokens;
      if (own.has(segment.id)) continue;
      own.add(segment.id);
      distinct++;
      distinctTokens += segment.tokens;
    }
  }
  return {
    name,
    idsOf,
    // Segments are distinct memories of users; tokens are those of all prompts.
    counts: { turns: turns.length, users: known.size, conversations: conversations.size, segments: distinct, tokens },
    // From the first arrival to the last.
    durationMs: turns.at(-1)!.atMs,
    meanPromptTokens: tokens / turns.length,
    // Share of the segments of all prompts that the user had in an earlier prompt.
    repeatedShare: shown === 0 ? 0 : 1 - distinct / shown,
    // KV of the header and of all distinct segments, one copy each.
    workingSetBytes: distinctTokens * kvBytesPerToken,
  };
}
