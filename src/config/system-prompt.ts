import { z } from 'zod';

/** The text of the system message for every question: one text, or one for each language; empty for no system message. */
export const systemPromptSchema = z.union([z.string(), z.strictObject({ en: z.string(), zh: z.string() }).readonly()]);

export type SystemPrompt = z.output<typeof systemPromptSchema>;
