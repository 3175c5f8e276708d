import { APIError, createAuthEndpoint, sensitiveSessionMiddleware } from 'better-auth/api';
import { setSessionCookie } from 'better-auth/cookies';
import { z } from 'zod';

/**
 * Creates a plugin of the library that changes a password by one conditional update. The library's own method compares
 * the current password, and then sets the new one unconditionally. If a password was set by mail in between, that
 * method would replace it, and leave a session.
 */
export function passwordChange() {
  return {
    id: 'password-change',
    endpoints: {
      /**
       * Changes the password, ends all sessions of the signed-in person, and begins a new one.
       * @throws {APIError} UNAUTHORIZED if nobody is signed in, or another new password was set meanwhile;
       * INVALID_PASSWORD
       */
      changePasswordOnce: createAuthEndpoint.serverOnly(
        {
          method: 'POST',
          body: z.object({ currentPassword: z.string(), newPassword: z.string() }),
          use: [sensitiveSessionMiddleware],
        },
        async (ctx) => {
          const { adapter, internalAdapter, password } = ctx.context;
          const { user } = ctx.context.session;
          const account = await internalAdapter.findCredentialAccount(user.id);
          const { id, password: present } = account ?? {};
          if (!id || !present) throw new APIError('UNAUTHORIZED');
          if (!(await password.verify({ hash: present, password: ctx.body.currentPassword })))
            throw new APIError('BAD_REQUEST', { code: 'INVALID_PASSWORD' });
          const hash = await password.hash(ctx.body.newPassword);
          // One transaction: a process that dies in between must not leave old sessions under the new password.
          await adapter.transaction(async (store) => {
            const changed = await store.incrementOne({
              model: 'account',
              where: [
                { field: 'id', value: id },
                { field: 'password', value: present },
              ],
              increment: {},
              set: { password: hash, updatedAt: new Date() },
            });
            if (changed === null) throw new APIError('UNAUTHORIZED');
            await store.deleteMany({ model: 'session', where: [{ field: 'userId', value: user.id }] });
          });
          const session = await internalAdapter.createSession(user.id);
          // If another password was set meanwhile, only the sessions that existed then were ended, so this one is ended
          // here.
          if ((await internalAdapter.findCredentialAccount(user.id))?.password !== hash) {
            await internalAdapter.deleteSession(session.token);
            throw new APIError('UNAUTHORIZED');
          }
          await setSessionCookie(ctx, { session, user });
          return { personId: user.id };
        },
      ),
    },
  };
}
