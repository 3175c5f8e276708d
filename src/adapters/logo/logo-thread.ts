import { type Logo, parseLogo } from '../../domain/tenant/logo.ts';
import { NotALogo } from '../../domain/tenant/not-a-logo.ts';

/** The result of the thread. A fault is returned, not thrown, because an error loses its class between threads. */
export type ReadLogo = Logo | { readonly fault: string };

/** The task of the thread of `createLogoReader`. */
export default function read(url: string): ReadLogo {
  try {
    const logo = parseLogo(url);
    // Copied: for a part of a buffer, the whole buffer would be sent to the other thread.
    return { ...logo, content: new Uint8Array(logo.content) };
  } catch (error) {
    if (error instanceof NotALogo) return { fault: error.message };
    throw error;
  }
}
