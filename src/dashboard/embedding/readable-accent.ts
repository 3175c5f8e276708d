/** The colours on which a page writes, in each theme (`--ground` and `--paper` of `style/base.css`). */
export const SURFACES = { light: ['#f4f3ef', '#fffefb'], dark: ['#11151a', '#191f25'] } as const;
type Theme = keyof typeof SURFACES;

/** Minimum contrast between text and its background (WCAG 2.2, 1.4.3). */
const LEAST_CONTRAST = 4.5;
/** Steps from a colour to black or white. The last one has the greatest contrast. */
const STEPS = 20;

type Rgb = readonly [number, number, number];

/**
 * Returns the colour that is closest to the accent on its way to black in the light theme, and to white in the dark
 * one, and readable on every surface of the theme.
 * @param accent `#rrggbb`
 */
export function readableAccent(accent: string, theme: Theme): string {
  const target = theme === 'light' ? 0 : 255;
  const of = channelsOf(accent);
  for (let step = 0; ; step++) {
    const mixed = of.map((channel) => Math.round(channel + ((target - channel) * step) / STEPS)) as unknown as Rgb;
    if (step === STEPS || SURFACES[theme].every((each) => contrast(mixed, channelsOf(each)) >= LEAST_CONTRAST))
      return `#${mixed.map((channel) => channel.toString(16).padStart(2, '0')).join('')}`;
  }
}

/** Returns the contrast of two colours (WCAG 2.2): 1 to 21. */
export function contrast(one: Rgb, other: Rgb): number {
  const [darker = 0, lighter = 0] = [luminance(one), luminance(other)].sort((a, b) => a - b);
  return (lighter + 0.05) / (darker + 0.05);
}

/** @param colour `#rrggbb` */
export function channelsOf(colour: string): Rgb {
  const value = Number.parseInt(colour.slice(1), 16);
  return [value >> 16, (value >> 8) & 255, value & 255];
}

/** Returns the relative luminance of a colour of sRGB: 0 to 1. */
function luminance(colour: Rgb): number {
  const [red, green, blue] = colour.map((channel) => {
    const share = channel / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  }) as unknown as Rgb;
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}
