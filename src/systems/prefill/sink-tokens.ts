import { BenchError } from '../../base/bench-error.ts';
import type { TokenId } from '../../engine/token-id.ts';
import type { BlockMaking } from '../../store/records/prefill-record.ts';

/** The first header tokens, as attention sinks (StreamingLLM). @throws BenchError `bad-option` if there are too few */
export function sinkTokens({ sink }: BlockMaking, header: readonly TokenId[]): readonly TokenId[] {
  if (sink === undefined) return [];
  if (sink.tokens <= header.length) return header.slice(0, sink.tokens);
  const message = `@sink=${sink.tokens}: the prompt has only ${header.length} tokens before its memories`;
  throw new BenchError('bad-option', message, `choose at most ${header.length}`);
}

/** Extra sink tokens that stay before each block in the sequence; 0 if they are dropped. */
export function keptSinkTokens({ sink }: BlockMaking): number {
  return sink?.kept === true ? sink.tokens : 0;
}
