/** A template with its slots, such as `{v}`, filled as they stand; a slot that nothing fills stays. */
export function fill(template: string, slots: Readonly<Record<string, string>>): string {
  return template.replace(/\{(\w+)\}/g, (whole, slot: string) => slots[slot] ?? whole);
}
