/** A whole number in groups of three: `4,400`. The first `toLocaleString` of a process would take longer than a page. */
export function groupedNumber(value: number): string {
  return String(value).replaceAll(/\B(?=(?:\d{3})+$)/g, ',');
}
