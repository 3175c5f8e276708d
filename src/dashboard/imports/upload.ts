import type { ErrorCode, Reason } from '../text/errors.ts';
import type { Language } from '../text/languages.ts';

/** The end of an upload. */
export type Uploaded = { readonly id: string } | { readonly refusal: Reason } | { readonly problem: 'signedOut' };

interface UploadOptions {
  readonly headers: Readonly<Record<string, string>>;
  /** The language of messages, if the file does not tell. */
  readonly language: Language;
  readonly signal: AbortSignal;
}

/** Sends a file of invoices. Nothing is issued by that. Never rejects. */
export async function upload(file: File, { headers, language, signal }: UploadOptions): Promise<Uploaded> {
  try {
    const parameters = new URLSearchParams({ name: file.name, language });
    const response = await fetch(`/imports?${parameters}`, {
      method: 'POST',
      headers: { ...headers, 'Content-Type': 'application/octet-stream' },
      body: file,
      signal,
    });
    if (response.status === 401) return { problem: 'signedOut' };
    const answer: unknown = await response.json();
    if (response.ok) return answer as { readonly id: string };
    const { error } = answer as { readonly error: { readonly code: ErrorCode; readonly message: string } };
    return { refusal: { code: error.code, message: error.message } };
  } catch {
    return { refusal: 'unreachable' };
  }
}
