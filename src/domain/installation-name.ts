/**
 * The name of an installation in the credentials that it issues, by which a proxy in front of several installations
 * finds the one that a credential belongs to (docs/decisions/0074): a lower-case letter, then up to 11 letters and
 * digits.
 */
export const INSTALLATION_NAME = /^[a-z][a-z0-9]{0,11}$/;

/** The random part of a credential: 192 bits in base64url. It may have `_`, but only a name makes it longer. */
const NAMED = /^(?:([a-z][a-z0-9]{0,11})_)?([\w-]{32})$/;

/** Returns the part of a credential after its prefix. @param name null for an installation without a name */
export function withName(name: string | null, random: string): string {
  return name === null ? random : `${name}_${random}`;
}

/**
 * Returns the name in the part of a credential after its prefix, if it has one; null if the part does not have the
 * form.
 */
export function splitName(text: string): { readonly name: string | null; readonly random: string } | null {
  const [, name = null, random] = NAMED.exec(text) ?? [];
  return random === undefined ? null : { name, random };
}

/** Returns a sentence for the holder of an unknown credential that names another installation; empty if it does not. */
export function otherInstallation(named: string | null, own: string | null): string {
  if (named === null || named === own) return '';
  return ` It names the installation '${named}', and this is ${own === null ? 'one without a name' : `'${own}'`}.`;
}
