import type { ROLES } from '../../domain/person/person.ts';

/** The answer of `/auth/session` and of each call that starts a session. */
export interface Session {
  readonly person: { readonly id: string; readonly email: string; readonly name: string };
  /** Whether the person has confirmed the address by a mail. */
  readonly addressConfirmed: boolean;
  readonly isOperator: boolean;
  readonly memberships: readonly {
    readonly tenantId: string;
    readonly name: string;
    readonly role: (typeof ROLES)[number];
  }[];
}

/** Why a call failed. */
export interface Refusal {
  /** A code of the API, or `unreachable` if there was no answer. */
  readonly code: string;
  /** The name of the field at fault. */
  readonly param: string | null;
  /** Minutes to wait; 0 if the answer names no time. */
  readonly waitMinutes: number;
}

/** The result of a call. `body`: the answer if it is not a session; `{}` if there is none. */
export type Outcome =
  | { readonly refusal: null; readonly session: Session | null; readonly body: Readonly<Record<string, unknown>> }
  | { readonly refusal: Refusal };

/** The input that a form or a call sends. */
export type AccountInput = Readonly<Record<string, unknown>>;

/** The second factors of an account. */
export interface SecondFactorState {
  readonly hasCodes: boolean;
  readonly recoveryCodesLeft: number;
  readonly passkeys: readonly { readonly id: string; readonly name: string; readonly createdAt: string }[];
}

/**
 * Calls a path under `/auth/`. The browser sends the session cookie and stores the one that the answer sets. Never
 * throws.
 * @param input the body of a POST; without it the call is a GET
 */
export async function callAccounts(path: string, input?: AccountInput, signal?: AbortSignal): Promise<Outcome> {
  try {
    const answer = await fetch(`/auth/${path}`, {
      ...(input && { method: 'POST', body: JSON.stringify(input), headers: { 'Content-Type': 'application/json' } }),
      ...(signal && { signal }),
    });
    const text = await answer.text();
    const body = text === '' ? {} : JSON.parse(text);
    if (answer.ok) return { refusal: null, session: 'person' in body ? body : null, body };
    const { code, param } = body.error;
    return { refusal: { code, param, waitMinutes: Math.ceil(Number(answer.headers.get('Retry-After')) / 60) } };
  } catch {
    return { refusal: { code: 'unreachable', param: null, waitMinutes: 0 } };
  }
}
