/**
 * A whole number as English groups it: `4,400`. The first `toLocaleString` of a process takes longer than the rest of its page.
 */
export function groupedNumber(value: number): string {
  return String(value).replaceAll(/\B(?=(?:\d{3})+$)/g, ',');
}
