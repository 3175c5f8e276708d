import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newId } from '../../src/domain/ids.ts';
import { parseLogo } from '../../src/domain/tenant/logo.ts';
import { connect, type Store } from '../../src/storage/connect.ts';
import { createLogoStore } from '../../src/storage/logos.ts';
import { createTenantRepository } from '../../src/storage/tenants.ts';
import { freshDbName, startTestMongo, type TestMongo } from '../support/mongodb.ts';
import { LOGO } from '../unit/pdf/support.ts';

let mongo: TestMongo;
let store: Store;
beforeAll(async () => {
  mongo = await startTestMongo();
  store = await connect(mongo.uri, freshDbName('logos'));
});
afterAll(async () => {
  await store.db.dropDatabase();
  await store.close();
  await mongo.close();
});

describe('logos of profiles', () => {
  it('are stored once, outside the tenants that refer to them', async () => {
    const tenants = createTenantRepository(store.db);
    const { content, ...reference } = parseLogo(LOGO);
    const id = newId('ten');
    await tenants.insert({ id, name: 'T', profile: { logo: { ...reference, content } }, createdAt: new Date() });
    await tenants.updateProfile(id, { logo: { ...reference, content }, ice: '001509176000008' });
    // Each look-up of a credential reads the profile, so it must not contain the bytes.
    const tenant = await tenants.find(id);
    expect(tenant?.profile).toEqual({ ice: '001509176000008', logo: reference });
    expect(await store.db.collection('logos').countDocuments()).toBe(1);
    const found = await createLogoStore(store.db).find(reference);
    expect(found).toEqual({ ...reference, content: expect.any(Uint8Array) });
    expect(Buffer.from(found!.content).equals(Buffer.from(content))).toBe(true);
  });

  it('remain for invoices that refer to them after the profile has changed or removed its logo', async () => {
    const tenants = createTenantRepository(store.db);
    const id = newId('ten');
    const logo = parseLogo(LOGO);
    await tenants.insert({ id, name: 'T', profile: { logo }, createdAt: new Date() });
    const before = (await tenants.find(id))?.profile;
    await tenants.updateProfile(id, before!);
    expect((await tenants.find(id))?.profile).toEqual(before);
    await tenants.updateProfile(id, { logo: null });
    expect((await tenants.find(id))?.profile).toEqual({ logo: null });
    expect(await createLogoStore(store.db).find(logo)).not.toBeNull();
  });
});
