import { readFileSync } from 'node:fs';
import { z } from 'zod';

const templatesSchema = z.object({
  segments: z.object({
    system: z.string(),
    memoryHeader: z.string(),
    memory: z.object({ index: z.string(), bullet: z.string() }),
    memoryFooter: z.string(),
    historyHeader: z.string(),
    userMessage: z.string(),
    assistantMessage: z.string(),
    historyFooter: z.string(),
    query: z.string(),
    footer: z.string(),
    forcedFooter: z.string(),
  }),
});

/** Templates of the segments of a prompt, for all languages: `datasets/templates.json`. */
export const promptTemplates = templatesSchema.parse(
  JSON.parse(readFileSync(new URL('../../datasets/templates.json', import.meta.url), 'utf8')),
);
