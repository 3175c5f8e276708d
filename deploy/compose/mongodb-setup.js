// Runs in mongosh on the host of mongodb-1. Makes the replica set of three and its users. Can be repeated at any time.
const { MONGODB_PASSWORD, MONGODB_ADMIN_PASSWORD } = process.env;
const HOSTS = ['mongodb-1:27017', 'mongodb-2:27017', 'mongodb-3:27017'];
const WAIT_MS = 120_000;

function waitFor(what, isThere) {
  for (const end = Date.now() + WAIT_MS; !isThere(); sleep(500)) {
    if (Date.now() > end) throw new Error(`${what} took more than ${WAIT_MS / 1000} s`);
  }
}

const here = db.getSiblingDB('admin');
if (!here.hello().setName) {
  // The first one becomes primary, so that its host may make the first user.
  const members = HOSTS.map((host, _id) => ({ _id, host, priority: _id === 0 ? 2 : 1 }));
  rs.initiate({ _id: 'rs0', members });
}
waitFor('the election of a primary', () => here.hello().primary !== undefined);
const isSetUp = () => {
  try {
    return here.auth('admin', MONGODB_ADMIN_PASSWORD).ok === 1;
  } catch {
    return false;
  }
};
if (!isSetUp()) {
  waitFor('the election of mongodb-1', () => here.hello().isWritablePrimary);
  here.createUser({ user: 'admin', pwd: MONGODB_ADMIN_PASSWORD, roles: ['root'] });
}

// From here on, connected to the primary.
const admin = encodeURIComponent(MONGODB_ADMIN_PASSWORD);
const fatoura = connect(`mongodb://admin:${admin}@${HOSTS.join(',')}/fatoura?replicaSet=rs0&authSource=admin`);
const role = {
  // WEBHOOK_RETENTION changes an index.
  privileges: [{ resource: { db: 'fatoura', collection: '' }, actions: ['collMod'] }],
  roles: [{ role: 'readWrite', db: 'fatoura' }],
};
if (fatoura.getRole('service') === null) fatoura.createRole({ role: 'service', ...role });
const user = { pwd: MONGODB_PASSWORD, roles: [{ role: 'service', db: 'fatoura' }] };
if (fatoura.getUser('fatoura') === null) fatoura.createUser({ user: 'fatoura', ...user });
else fatoura.updateUser('fatoura', user);
print('The replica set and its users are there.');
