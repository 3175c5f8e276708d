/** Length of the signature of a token or a frame in characters of base64url: 192 bits. */
export const MAC_LENGTH = 32;

/**
 * Returns the sites that the part of a page's URL names, as the page itself reads them. The signature is not checked:
 * the server shows no page for a URL that it has not signed.
 * @returns an empty list for anything else
 */
export function sitesIn(frame: string): readonly string[] {
  try {
    const body = frame.slice(0, -MAC_LENGTH).replaceAll('-', '+').replaceAll('_', '/');
    const content: unknown = JSON.parse(atob(body));
    return Array.isArray(content) ? content.filter((site) => typeof site === 'string') : [];
  } catch {
    return [];
  }
}
