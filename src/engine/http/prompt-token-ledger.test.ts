import { expect, test } from 'vitest';
import { parsePromptCounters } from './prompt-token-ledger.ts';

test.each([
  [
    'llama-server',
    '# TYPE x counter\nllamacpp:prompt_tokens_total 12\nllamacpp:prompt_tokens_cached_total 30\n',
    { evaluated: 12, reused: 30 },
  ],
  ['an older llama-server', 'llamacpp:prompt_tokens_total 12\n', { evaluated: 12, reused: null }],
  [
    'vLLM, over all its engines',
    'vllm:prompt_tokens_total{engine="0",model_name="a{b}"} 400.0\nvllm:prompt_tokens_total{engine="1",model_name="a"} 100.0\n' +
      'vllm:prefix_cache_hits_total{engine="0"} 1.28e+02\nvllm:prefix_cache_queries_total{engine="0"} 500.0\n',
    { evaluated: 372, reused: 128 },
  ],
  [
    'vLLM with a cache outside of it',
    'vllm:prompt_tokens_total 400\nvllm:prefix_cache_hits_total 100\nvllm:external_prefix_cache_hits_total 50\n',
    { evaluated: 250, reused: 150, external: 50 },
  ],
  ['vLLM that does not count what it found', 'vllm:prompt_tokens_total 400\n', null],
  ['SGLang', 'sglang:prompt_tokens_total{a="b"} 9\nsglang:cached_tokens_total{a="b"} 4\n', { evaluated: 5, reused: 4 }],
  ['another program', 'http_requests_total 7\n', null],
])('reads the counters of %s', (_, text, counters) => {
  expect(parsePromptCounters(text)).toEqual(counters);
});
