import { readFileSync } from 'node:fs';
import { z } from 'zod';
import type { RouteExample } from './pre-retrieval/pre-retrieval-types.ts';

const schema = z.array(
  z.strictObject({ question: z.string().min(1), strategy: z.string().min(1), split: z.enum(['train', 'test']) }),
);

const examples = schema.parse(
  // The same path from src/retrieval/hinted and from dist/retrieval/hinted.
  JSON.parse(readFileSync(new URL('../../../datasets/route-examples.json', import.meta.url), 'utf8')),
);

function select(wanted: 'train' | 'test'): readonly RouteExample[] {
  return examples.filter(({ split }) => split === wanted).map(({ question, strategy }) => ({ question, strategy }));
}

/** Questions in English and Chinese with their strategies: training examples of the classifier, and held-out ones. */
export const routeExamples = { train: select('train'), test: select('test') };
