/** An answer as it is sent. */
export interface Answer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: Body;
  /** Whether it has the header `Authority-Protocol: 1`, like every answer of the authority itself. Default: true. */
  readonly isOwn?: boolean;
  /** Milliseconds to wait before it is sent. */
  readonly delay?: number;
  /** The event on the connection instead of an answer. `silent`: nothing happens until the client gives up. */
  readonly instead?: 'close' | 'reset' | 'silent';
}

type Body =
  | { readonly json: object }
  | { readonly xml: Uint8Array }
  | { readonly html: string }
  | { readonly text: string }
  | null;

/** Returns the content type and the bytes of a body. */
export function bodyOf(body: Body): { readonly type: string | null; readonly bytes: Uint8Array } {
  if (body === null) return { type: null, bytes: new Uint8Array() };
  if ('xml' in body) return { type: 'application/xml', bytes: body.xml };
  if ('html' in body) return { type: 'text/html; charset=utf-8', bytes: Buffer.from(body.html) };
  const text = 'json' in body ? JSON.stringify(body.json) : body.text;
  return { type: 'application/json; charset=utf-8', bytes: Buffer.from(text) };
}

/** French texts of the protocol's errors. */
const MESSAGES = {
  bad_request: "La requête n'est pas valable.",
  invalid_id: "L'identifiant de la soumission n'est pas valable.",
  invalid_digest: "L'en-tête Content-Digest manque ou ne correspond pas au contenu reçu.",
  empty_document: 'Le corps de la requête est vide.',
  invalid_cursor: "Le curseur n'est pas valable.",
  invalid_limit: 'La limite doit être un nombre entre 1 et 1000.',
  token_invalid: "Le jeton d'accès n'est pas valable.",
  token_expired: "Le jeton d'accès a expiré.",
  forbidden: "L'accès est refusé.",
  unknown_submission: 'Aucune soumission ne porte cet identifiant.',
  unknown_receipt: 'Aucun accusé de réception ne porte cet identifiant.',
  no_cleared_document: "Il n'y a pas de document validé pour cette soumission.",
  not_found: "Cette adresse n'existe pas.",
  lookup_not_offered: "La recherche par empreinte n'est pas offerte.",
  method_not_allowed: "Cette méthode n'est pas permise ici.",
  digest_mismatch: "L'identifiant est détenu avec un autre document.",
  duplicate: 'Ce document, ou son numéro, est détenu sous un autre identifiant.',
  document_too_large: 'Le document est trop grand.',
  unsupported_media_type: 'Le document doit être envoyé en application/xml, sans compression.',
  rate_limited: 'Trop de requêtes : réessayez plus tard.',
  unavailable: 'Le service est momentanément indisponible : réessayez plus tard.',
  internal_error: 'Une erreur interne est survenue.',
} as const;
export type ErrorCode = keyof typeof MESSAGES;

/** Makes an error in the protocol's form. @param more further members of `error` */
export function errorAnswer(status: number, code: ErrorCode | (string & {}), more: object = {}): Answer {
  const message = Object.hasOwn(MESSAGES, code) ? MESSAGES[code as ErrorCode] : "La requête n'a pas pu être traitée.";
  return { status, body: { json: { error: { code, message, ...more } } } };
}

/** Makes an error that says when to try again. @param after seconds */
export function laterAnswer(status: 429 | 503, after: number): Answer {
  const seconds = Math.max(1, Math.ceil(after));
  return {
    ...errorAnswer(status, status === 429 ? 'rate_limited' : 'unavailable'),
    headers: { 'retry-after': `${seconds}` },
  };
}
