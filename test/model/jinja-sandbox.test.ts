import { Template } from '@huggingface/jinja';
import { expect, it } from 'vitest';
import { modelShapes } from '../../src/engine/gguf/random-model/model-shapes.ts';
import { sandboxTemplate } from '../../src/systems/prompt/jinja-sandbox.ts';

it('a template within the limits gives what the library gives, its own refusals too', () => {
  const messages = Array.from({ length: 200 }, (_, index) => ({
    role: index % 2 === 0 ? 'user' : 'assistant',
    content: 'x',
  }));
  const templates = Object.values(modelShapes).flatMap((shape) => ('chatTemplate' in shape ? shape.chatTemplate : []));
  expect(templates.length).toBeGreaterThan(0);
  for (const source of [...templates, '{% for i in range(9, 0, -2) %}{{ i }},{% endfor %}{{ none }}{{ True }}']) {
    const values = { messages, add_generation_prompt: true, bos_token: '^' };
    expect(sandboxTemplate(source)(values)).toBe(new Template(source).render(values));
  }
  expect(() => sandboxTemplate("{{ raise_exception('no system') }}")({})).toThrow('no system');
});
