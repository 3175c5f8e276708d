import { type Logo, parseLogo } from '../../domain/tenant/logo.ts';
import { NotALogo } from '../../domain/tenant/not-a-logo.ts';

/** The answer of the thread. An error would lose its class between threads. */
export type ReadLogo = Logo | { readonly fault: string };

/** Entry point of the thread of `createLogoReader`. */
export default function read(url: string): ReadLogo {
  try {
    const logo = parseLogo(url);
    // A copy of its own: of a part of a buffer the whole one would be sent.
    return { ...logo, content: new Uint8Array(logo.content) };
  } catch (error) {
    if (error instanceof NotALogo) return { fault: error.message };
    throw error;
  }
}
