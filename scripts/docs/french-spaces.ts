const CODE = /(^ *```.*?^ *```$|`[^`]*`)/gms;
/** The no-break space. */
const NBSP = '\u00a0';

/**
 * Makes the spaces unbreakable that French typography wants so: before `: ; ! ? »` and `%`, after `«`, and within
 * numbers. Code stays as it is.
 */
export function withFrenchSpaces(markdown: string): string {
  return markdown
    .split(CODE)
    .map((part, index) =>
      index % 2 === 1
        ? part
        : part
            .replaceAll(/ (?=[:;!?»%](?:[\s)*.,|]|$))/gm, NBSP)
            .replaceAll(/« /g, `«${NBSP}`)
            .replaceAll(/(?<=\d) (?=\d{3}(?!\d))/g, NBSP),
    )
    .join('');
}
