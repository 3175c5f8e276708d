import { serviceError } from '../../domain/errors.ts';
import {
  confirmAddressInput,
  endSessionInput,
  newAddressInput,
  noInput,
  renameInput,
} from '../../domain/person/account-input.ts';
import { timestampOf } from '../../domain/timestamp.ts';
import { browserOf, originOf } from '../browser-facts.ts';
import { answerJson } from '../json.ts';
import { type AccountRoute, type AccountRouteParts, type AccountSteps, change, notSignedIn } from './steps.ts';

/** The routes of a person's own account: sessions, name and address (docs/decisions/0057). */
export function ownAccountRoutes(
  { ownAccount, mailAddressChange, record }: AccountRouteParts,
  { countAttempt, withHash, requireSession }: AccountSteps,
): readonly AccountRoute[] {
  return [
    [
      'GET',
      '/auth/sessions',
      async (ctx) => {
        const { person, sessionId } = await requireSession(ctx);
        const sessions = await ownAccount.sessions(person.id);
        answerJson(ctx, 200, {
          sessions: sessions.map(({ id, userAgent, address, begunAt, usedAt }) => ({
            id,
            userAgent,
            address,
            current: id === sessionId,
            begunAt: timestampOf(begunAt),
            usedAt: timestampOf(usedAt),
          })),
        });
      },
    ],
    [
      'POST',
      '/auth/sessions/end',
      change(endSessionInput, async (ctx, { id }) => {
        const { person } = await requireSession(ctx);
        // Another person's session gets the same answer as one that does not exist.
        if (!(await ownAccount.endSession(person.id, id)))
          throw serviceError('resource_not_found', 'This session has ended already.', 'id');
        await record(person, originOf(ctx), 'member.sessions_ended');
        ctx.status = 204;
      }),
    ],
    [
      'POST',
      '/auth/sessions/end-others',
      change(noInput, async (ctx) => {
        const { person, sessionId } = await requireSession(ctx);
        await ownAccount.endOthers(person.id, sessionId);
        await record(person, originOf(ctx), 'member.sessions_ended');
        ctx.status = 204;
      }),
    ],
    [
      'POST',
      '/auth/change-name',
      change(renameInput, async (ctx, { name }) => {
        const { person } = await requireSession(ctx);
        await ownAccount.rename(person.id, name);
        await record({ ...person, name }, originOf(ctx), 'member.renamed', { name, was: person.name });
        ctx.status = 204;
      }),
    ],
    [
      'POST',
      '/auth/new-address',
      change(newAddressInput, async (ctx, { email, password }) => {
        const { person } = await requireSession(ctx);
        await countAttempt(ctx, person.email);
        const begun = await withHash(ctx, () => ownAccount.beginNewAddress(email, password, browserOf(ctx)));
        if (begun.refusal === 'ended') throw notSignedIn();
        if (begun.refusal !== null) throw serviceError('invalid_credentials', 'The password is wrong.', 'password');
        mailAddressChange.asked(person.email, email, begun.token);
        // The answer is the same if another account has the address. Only the reader of that mailbox learns it, with
        // the link.
        answerJson(ctx, 202, { message: 'A mail with a link is on its way to the new address.' });
      }),
    ],
    [
      'POST',
      '/auth/new-address/confirm',
      change(confirmAddressInput, async (ctx, { token }) => {
        await countAttempt(ctx, null);
        const changed = await ownAccount.confirmNewAddress(token, browserOf(ctx));
        if (changed.refusal === 'ended') throw notSignedIn();
        if (changed.refusal === 'taken')
          throw serviceError('invalid_request', 'Another account has this address.', 'address');
        if (changed.refusal !== null)
          throw serviceError(
            'resource_not_found',
            'This link was used, has expired, or is for another account than the one that is signed in.',
            'token',
          );
        mailAddressChange.done(changed.was.email, changed.person.email);
        await record(changed.person, originOf(ctx), 'member.address_changed');
        ctx.status = 204;
      }),
    ],
  ];
}
