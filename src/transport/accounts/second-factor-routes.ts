import type { Context } from 'koa';
import { type ServiceError, serviceError } from '../../domain/errors.ts';
import {
  addPasskeyInput,
  codeInput,
  noInput,
  passkeySignInInput,
  passwordInput,
  removePasskeyInput,
} from '../../domain/person/account-input.ts';
import { CODES_LOCKED_MS, MAX_PASSKEYS } from '../../domain/person/limits.ts';
import { type Passkey, SecondFactorRefused } from '../../domain/person/ports.ts';
import { timestampOf } from '../../domain/timestamp.ts';
import { browserOf, originOf } from '../browser-facts.ts';
import { answerJson } from '../json.ts';
import {
  type AccountRoute,
  type AccountRouteParts,
  type AccountSteps,
  change,
  notSignedIn,
  setCookies,
} from './steps.ts';

/** The routes for authenticator codes, recovery codes and passkeys (docs/decisions/0062). */
export function secondFactorRoutes(
  { secondFactors, record }: AccountRouteParts,
  { countAttempt, withHash, answerSession, requirePerson }: AccountSteps,
): readonly AccountRoute[] {
  /** Runs a change that needs the person's password. It counts as an attempt to sign in and costs the same hash. */
  async function withPassword<Result>(ctx: Context, run: () => Promise<Result>) {
    const person = await requirePerson(ctx);
    await countAttempt(ctx, person.email);
    const result = await withHash(ctx, () => refusing(ctx, 'password', run));
    return { person, result };
  }

  return [
    [
      'GET',
      '/auth/second-factors',
      async (ctx) => {
        const person = await requirePerson(ctx);
        const { passkeys, ...state } = await secondFactors.stateOf(person, browserOf(ctx));
        answerJson(ctx, 200, { ...state, passkeys: passkeys.map(shown) });
      },
    ],
    [
      'POST',
      '/auth/codes/begin',
      change(passwordInput, async (ctx, { password }) => {
        const { result } = await withPassword(ctx, () => secondFactors.beginCodes(password, browserOf(ctx)));
        answerJson(ctx, 200, result);
      }),
    ],
    [
      'POST',
      '/auth/codes/confirm',
      change(codeInput, async (ctx, { code }) => {
        const person = await requirePerson(ctx);
        await countAttempt(ctx, person.email);
        const { cookies } = await refusing(ctx, 'code', () => secondFactors.confirmCodes(code, browserOf(ctx)));
        setCookies(ctx, cookies);
        await record(person, originOf(ctx), 'member.codes_added');
        ctx.status = 204;
      }),
    ],
    [
      'POST',
      '/auth/codes/remove',
      change(passwordInput, async (ctx, { password }) => {
        const { person, result } = await withPassword(ctx, () => secondFactors.removeCodes(password, browserOf(ctx)));
        setCookies(ctx, result.cookies);
        await record(person, originOf(ctx), 'member.codes_removed');
        ctx.status = 204;
      }),
    ],
    [
      'POST',
      '/auth/codes/recovery',
      change(passwordInput, async (ctx, { password }) => {
        const { person, result } = await withPassword(ctx, () =>
          secondFactors.newRecoveryCodes(password, browserOf(ctx)),
        );
        await record(person, originOf(ctx), 'member.recovery_codes_replaced');
        answerJson(ctx, 200, { recoveryCodes: result });
      }),
    ],
    [
      'POST',
      '/auth/passkeys/begin',
      change(passwordInput, async (ctx, { password }) => {
        const { result } = await withPassword(ctx, () => secondFactors.beginPasskey(password, browserOf(ctx)));
        setCookies(ctx, result.cookies);
        answerJson(ctx, 200, { options: result.result });
      }),
    ],
    [
      'POST',
      '/auth/passkeys/add',
      change(addPasskeyInput, async (ctx, { name, response }) => {
        const person = await requirePerson(ctx);
        await countAttempt(ctx, null);
        const passkey = await refusing(ctx, 'response', () => secondFactors.addPasskey(name, response, browserOf(ctx)));
        await record(person, originOf(ctx), 'member.passkey_added', { name });
        answerJson(ctx, 201, shown(passkey));
      }),
    ],
    [
      'POST',
      '/auth/passkeys/remove',
      change(removePasskeyInput, async (ctx, { id, password }) => {
        const { person } = await withPassword(ctx, () => secondFactors.removePasskey(id, password, browserOf(ctx)));
        await record(person, originOf(ctx), 'member.passkey_removed');
        ctx.status = 204;
      }),
    ],
    [
      'POST',
      '/auth/sign-in/code',
      change(codeInput, async (ctx, { code }) => {
        await countAttempt(ctx, null);
        const { result, cookies } = await refusing(ctx, 'code', () =>
          secondFactors.signInWithCode(code, browserOf(ctx)),
        );
        await record(result.person, originOf(ctx), 'member.signed_in', {
          by: /^\d+$/.test(code) ? 'password and code' : 'password and recovery code',
        });
        setCookies(ctx, cookies);
        await answerSession(ctx, result);
      }),
    ],
    [
      'POST',
      '/auth/sign-in/passkey/begin',
      change(noInput, async (ctx) => {
        await countAttempt(ctx, null);
        const { result, cookies } = await secondFactors.beginPasskeySignIn(browserOf(ctx));
        setCookies(ctx, cookies);
        answerJson(ctx, 200, { options: result });
      }),
    ],
    [
      'POST',
      '/auth/sign-in/passkey',
      change(passkeySignInInput, async (ctx, { response }) => {
        await countAttempt(ctx, null);
        const { result, cookies } = await refusing(ctx, 'response', () =>
          secondFactors.signInWithPasskey(response, browserOf(ctx)),
        );
        await record(result.person, originOf(ctx), 'member.signed_in', { by: 'passkey' });
        setCookies(ctx, cookies);
        await answerSession(ctx, result);
      }),
    ],
  ];
}

function shown({ id, name, createdAt }: Passkey) {
  return { id, name, createdAt: timestampOf(createdAt) };
}

/**
 * Runs `work` and converts its refusals to errors of the API.
 * @param param the field named in the error if the code or the authenticator's answer is wrong
 */
async function refusing<Result>(
  ctx: Context,
  param: 'code' | 'password' | 'response',
  work: () => Promise<Result>,
): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof SecondFactorRefused)) throw error;
    if (error.reason === 'locked') ctx.set('Retry-After', String(CODES_LOCKED_MS / 1000));
    throw refusal(error, param);
  }
}

function refusal({ reason }: SecondFactorRefused, param: 'code' | 'password' | 'response'): ServiceError {
  switch (reason) {
    case 'wrong_password':
      return serviceError('invalid_credentials', 'The password is wrong.', 'password');
    case 'wrong_code':
      return param === 'code'
        ? serviceError('invalid_credentials', 'The code is wrong, or was used.', 'code')
        : serviceError('invalid_credentials', 'The passkey was not accepted.', 'response');
    case 'locked':
      return serviceError('rate_limit_exceeded', 'There were too many wrong codes. Try again in 15 min.');
    case 'ended':
      return notSignedIn();
    case 'exists':
      return serviceError('invalid_request', 'This account has codes already. Remove them first.');
    case 'none':
      return serviceError('resource_not_found', 'This account has no such second factor.');
    case 'too_many':
      return serviceError('invalid_request', `An account has at most ${MAX_PASSKEYS} passkeys. Remove one first.`);
  }
}
