/** The fonts that a page within another product can have. Browsers have them; nothing is loaded for them. */
export const EMBED_FONTS = {
  system: 'The font of the reader’s system.',
  sans: 'A font without serifs: Helvetica or Arial.',
  serif: 'A font with serifs: Georgia or Times.',
} as const;
export type EmbedFont = keyof typeof EMBED_FONTS;

/** A colour as an appearance names it: `#0b5d45`. */
export const ACCENT = /^#[0-9a-f]{6}$/i;

/** The appearance that a product chooses for the page that it frames. The page has defaults for the rest. */
export interface EmbedAppearance<Language extends string = string> {
  /** Otherwise the language of the reader’s browser. */
  readonly language?: Language | null | undefined;
  readonly font?: EmbedFont | null | undefined;
  /**
   * The colour of rules, buttons and a status under way, as {@link ACCENT}. The page makes it darker or lighter where
   * it would be hard to read.
   */
  readonly accent?: string | null | undefined;
}
