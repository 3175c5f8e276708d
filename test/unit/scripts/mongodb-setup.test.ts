import { readFileSync } from 'node:fs';
import { runInNewContext } from 'node:vm';
import { expect, it } from 'vitest';

const SCRIPT = readFileSync(new URL('../../../deploy/compose/mongodb-setup.js', import.meta.url), 'utf8');

interface User {
  pwd: string;
  roles: unknown;
}

/** What the script uses of mongosh, on a replica set that exists in memory only. */
function replicaSet() {
  const state = {
    name: undefined as string | undefined,
    /** Whether mongodb-1 is the primary; another one is otherwise. */
    isPrimary: true,
    users: new Map<string, User>(),
    roles: new Map<string, object>(),
    done: [] as string[],
    /** Ends the script at this call. */
    breaksAt: null as string | null,
  };
  const step = (name: string) => {
    if (state.breaksAt === name) throw new Error('the container was stopped');
    state.done.push(name);
  };
  const database = (isConnected: () => boolean, name: string) => ({
    hello: () =>
      state.name === undefined
        ? { ok: 1 }
        : { ok: 1, setName: state.name, primary: 'mongodb-1:27017', isWritablePrimary: state.isPrimary },
    auth(user: string, pwd: string) {
      if (state.users.get(`admin.${user}`)?.pwd !== pwd) throw new Error('Authentication failed.');
      return { ok: 1 };
    },
    createUser({ user, ...rest }: User & { user: string }) {
      // The exception for a client of the same host: the first user, on the primary.
      if (!isConnected() && (state.users.size > 0 || !state.isPrimary)) throw new Error('not authorized');
      step(`user ${name}.${user}`);
      state.users.set(`${name}.${user}`, rest);
    },
    updateUser: (user: string, rest: User) => state.users.set(`${name}.${user}`, rest),
    getUser: (user: string) => state.users.get(`${name}.${user}`) ?? null,
    getRole: (role: string) => state.roles.get(role) ?? null,
    createRole(role: { role: string }) {
      step(`role ${role.role}`);
      state.roles.set(role.role, role);
    },
  });
  const run = (passwords: { MONGODB_PASSWORD: string; MONGODB_ADMIN_PASSWORD: string }) =>
    runInNewContext(SCRIPT, {
      process: { env: passwords },
      db: { getSiblingDB: (name: string) => database(() => false, name) },
      rs: {
        initiate({ _id, members }: { _id: string; members: { host: string }[] }) {
          step(`set of ${members.map(({ host }) => host).join(' ')}`);
          state.name = _id;
        },
      },
      connect(uri: string) {
        const { username, password, pathname } = new URL(uri.replace(/@[^/]+/, '@host'));
        if (state.users.get(`admin.${username}`)?.pwd !== decodeURIComponent(password)) throw new Error('refused');
        return database(() => true, pathname.slice(1));
      },
      sleep: () => undefined,
      print: () => undefined,
    });
  return { state, run };
}

const PASSWORDS = { MONGODB_PASSWORD: 'for the service', MONGODB_ADMIN_PASSWORD: 'for the p/ople?' };
const STEPS = [
  'set of mongodb-1:27017 mongodb-2:27017 mongodb-3:27017',
  'user admin.admin',
  'role service',
  'user fatoura.fatoura',
];

it('makes the set, its administrator and a user with no more rights than the service needs', () => {
  const { state, run } = replicaSet();
  run(PASSWORDS);
  expect(state.done).toEqual(STEPS);
  expect(state.users.get('fatoura.fatoura')).toEqual({
    pwd: 'for the service',
    roles: [{ role: 'service', db: 'fatoura' }],
  });
  expect(state.roles.get('service')).toMatchObject({
    roles: [{ role: 'readWrite', db: 'fatoura' }],
    privileges: [{ actions: ['collMod'] }],
  });
});

it.each(STEPS)('goes on where it was stopped: at the %s', (step) => {
  const { state, run } = replicaSet();
  state.breaksAt = step;
  expect(() => run(PASSWORDS)).toThrow('stopped');
  state.breaksAt = null;
  run(PASSWORDS);
  run(PASSWORDS);
  expect(state.done).toEqual(STEPS);
});

it('gives the service its new password, also when another member is the primary', () => {
  const { state, run } = replicaSet();
  run(PASSWORDS);
  state.isPrimary = false;
  run({ ...PASSWORDS, MONGODB_PASSWORD: 'changed' });
  expect(state.users.get('fatoura.fatoura')?.pwd).toBe('changed');
  expect(state.done).toEqual(STEPS);
});
