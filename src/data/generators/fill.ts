/** Fills the slots of a template, such as `{v}`; a slot without a value stays. */
export function fill(template: string, slots: Readonly<Record<string, string>>): string {
  return template.replace(/\{(\w+)\}/g, (whole, slot: string) => slots[slot] ?? whole);
}
