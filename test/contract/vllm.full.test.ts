import { openAi } from '../../src/engine/openai/openai-adapter.ts';
import { servedModel } from '../../src/config/bench-config.ts';
import { describeWhere } from '../fixtures/describe-where.ts';
import { enginePromises } from './engine/promises.ts';
import { ofOpenAi, type Subject } from './engine/subjects.ts';

/** The address of a vLLM that runs on this machine's CPU, as docs/engines.md starts it: nobody else may use it. */
const engineUrl = process.env['DKI_BENCH_VLLM_URL'] ?? '';
/** Its own, on a CPU. */
const BLOCK_TOKENS = 128;

const subject: Subject = {
  name: 'openai, vLLM on a CPU',
  opener: openAi.opener({ engineUrl }),
  model: servedModel,
  otherModel: servedModel,
  capabilities: ofOpenAi({
    logProbabilities: { next: 20, continuation: 'recomputed' },
    prefixCache: { span: 'engine', blockTokens: BLOCK_TOKENS },
    missing: { fullDistribution: 'the server lists only the 20 likeliest tokens' },
  }),
  keyRounding: 0,
  ends: { asked: '<|im_start|>user\nWhat is the capital of France?<|im_end|>\n<|im_start|>assistant\n' },
  hidesModel: true,
  warm: 2,
  isExactAnyway: true,
};

const lacking = engineUrl === '' ? 'DKI_BENCH_VLLM_URL names none: scripts/engines/vllm.sh brings it' : null;

describeWhere(subject.name, lacking, () => enginePromises(subject));
