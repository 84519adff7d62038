import { BenchError } from '../../base/bench-error.ts';
import type { TokenId } from '../../engine/token-id.ts';
import type { BlockMaking } from '../../store/records/prefill-record.ts';

/** The first tokens, where sinks lie. @see StreamingLLM, arXiv 2309.17453 @throws BenchError `bad-option` if fewer */
export function sinkTokens({ sink }: BlockMaking, header: readonly TokenId[]): readonly TokenId[] {
  if (sink === undefined) return [];
  if (sink.tokens <= header.length) return header.slice(0, sink.tokens);
  throw new BenchError(
    'bad-option',
    `@sink=${sink.tokens}: the prompt has ${header.length} tokens in front of its memories`,
    `choose at most ${header.length}`,
  );
}

/** Sink tokens that stay in front of each block in the sequence, besides those of the prompt: 0 where they are dropped. */
export function keptSinkTokens({ sink }: BlockMaking): number {
  return sink?.kept === true ? sink.tokens : 0;
}
