import type { Config } from 'vega-lite';

/**
 * Inner widths of a panel of full width, and of one of two side by side, px: a figure with its axes fits a telephone, and
 * two figures fit side by side on a wide page.
 */
export const PANEL_WIDTH = 316;
export const HALF_PANEL_WIDTH = 138;

const ink = 'currentColor';

/**
 * Configuration of all figures: no background, the colour of the text around, so that one picture serves light pages, dark
 * pages and print, and system fonts.
 */
export const theme: Config = {
  background: 'transparent',
  font: 'system-ui, -apple-system, Segoe UI, Roboto, Noto Sans, Liberation Sans, sans-serif',
  padding: 4,
  view: { stroke: null },
  // The picture has one description, not one for each mark.
  mark: { aria: false },
  axis: {
    aria: false,
    ...{ labelColor: ink, titleColor: ink, domainColor: ink, tickColor: ink, gridColor: ink },
    ...{ gridOpacity: 0.14, domainOpacity: 0.6, tickOpacity: 0.6, tickSize: 4, labelFontSize: 11, titleFontSize: 11.5 },
    ...{ titleFontWeight: 'normal', titlePadding: 6, labelOverlap: true, labelSeparation: 6 },
  },
  axisX: { grid: false },
  header: { labelColor: ink, titleColor: ink, labelFontSize: 11.5, labelFontWeight: 600, labelPadding: 4 },
  legend: {
    ...{ aria: false, symbolOpacity: 1 },
    ...{ orient: 'bottom', direction: 'horizontal', columns: 4, labelColor: ink, titleColor: ink, labelFontSize: 11.5 },
    ...{ symbolSize: 60, symbolStrokeWidth: 1.2, columnPadding: 10, rowPadding: 3, labelLimit: 0, offset: 8 },
  },
  text: { color: ink, fontSize: 11 },
  // Below a figure: the meaning of its marks.
  title: { color: ink, fontSize: 11, fontWeight: 'normal', anchor: 'start', offset: 6, lineHeight: 14 },
  point: { filled: true, size: 42, opacity: 1 },
  line: { strokeWidth: 1.6 },
  rule: { strokeWidth: 1.2 },
};
