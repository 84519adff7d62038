/** The part of jstat that the tests compare with. */
declare module 'jstat' {
  const jstat: {
    readonly beta: { inv(p: number, alpha: number, beta: number): number };
    ibeta(x: number, a: number, b: number): number;
    quantiles(values: readonly number[], probabilities: readonly number[], alphap: number, betap: number): number[];
    readonly normal: { inv(p: number, mean: number, std: number): number };
    readonly studentt: { inv(p: number, freedom: number): number; cdf(x: number, freedom: number): number };
  };
  export default jstat;
}
