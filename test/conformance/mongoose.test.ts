import mongoose, { Schema, type Types } from 'mongoose';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { freshDbName, startTestMongo, type TestMongo } from '../support/mongodb.ts';

// What applications that are built on mongoose ask of a server.

let mongo: TestMongo;
beforeAll(async () => {
  mongo = await startTestMongo();
  await connection.openUri(mongo.uri, { dbName: freshDbName('mongoose') });
});

afterAll(async () => {
  await connection.dropDatabase();
  await connection.close();
  await mongo.close();
});

interface AuthorFields {
  name: string;
  readonly born?: Date;
  readonly tags: Types.Array<string>;
  readonly shelves: { label: string; count: number }[];
  readonly settings?: Map<string, string>;
  readonly createdAt: Date;
}

interface BookFields {
  readonly title: string;
  readonly price: Types.Decimal128;
  readonly author: Types.ObjectId;
}

const author = new Schema<AuthorFields>(
  {
    name: { type: String, required: true, unique: true },
    born: Date,
    tags: [String],
    shelves: [{ label: String, count: { type: Number, min: 0 } }],
    settings: { type: Map, of: String },
  },
  { timestamps: true, optimisticConcurrency: true },
);
author.index({ tags: 1, born: -1 });
const book = new Schema<BookFields>(
  {
    title: String,
    price: Schema.Types.Decimal128,
    author: { type: Schema.Types.ObjectId, ref: 'Author', index: true },
  },
  { discriminatorKey: 'kind' },
);

const connection = mongoose.createConnection();
const Author = connection.model('Author', author);
const Book = connection.model('Book', book);
const Audio = Book.discriminator('Audio', new Schema({ minutes: Number }));

beforeEach(async () => {
  await Promise.all([Author.init(), Book.init()]);
  await Promise.all([Author.deleteMany({}), Book.deleteMany({})]);
});

test('documents are validated, stored with their times and read as their types', async () => {
  await expect(Author.create({ born: new Date(0) })).rejects.toThrow('`name` is required');
  const made = await Author.create({ name: 'Fatima', born: new Date(0), tags: ['a'], settings: { theme: 'dark' } });
  const found = await Author.findById(made._id);
  expect(found?.get('settings.theme')).toBe('dark');
  expect(found?.createdAt).toEqual(made.createdAt);
  expect(found?.toObject()).toMatchObject({ name: 'Fatima', born: new Date(0), tags: ['a'], __v: 0 });
});

test('a unique field refuses an equal value by the code 11000', async () => {
  await Author.create({ name: 'Omar' });
  await expect(Author.create({ name: 'Omar' })).rejects.toMatchObject({ code: 11000, keyValue: { name: 'Omar' } });
  const many = Author.insertMany([{ name: 'Ali' }, { name: 'Omar' }, { name: 'Sara' }], { ordered: false });
  await expect(many).rejects.toMatchObject({ code: 11000, insertedDocs: [{ name: 'Ali' }, { name: 'Sara' }] });
});

test('a changed array is stored by its changes, and an outdated document is refused', async () => {
  const made = await Author.create({ name: 'Nour', tags: ['a', 'b'], shelves: [{ label: 'x', count: 1 }] });
  const other = await Author.findById(made._id);
  made.tags.push('c');
  made.shelves[0]!.count = 5;
  made.tags.pull('a');
  await made.save();
  expect(await Author.findById(made._id).lean()).toMatchObject({ tags: ['b', 'c'], shelves: [{ count: 5 }], __v: 1 });
  other!.name = 'Nora';
  await expect(other!.save()).rejects.toBeInstanceOf(mongoose.Error.VersionError);
});

test('references are populated, kinds come back as their models, and decimals are exact', async () => {
  const writer = await Author.create({ name: 'Leila' });
  await Book.create({ title: 'One', price: '19.90', author: writer._id });
  await Audio.create({ title: 'Two', price: '5.05', author: writer._id, minutes: 90 });
  const all = await Book.find().sort({ title: 1 }).populate<{ author: { name: string } }>('author');
  expect(all.map(({ title, author: { name } }) => [title, name])).toEqual([
    ['One', 'Leila'],
    ['Two', 'Leila'],
  ]);
  expect(all[1]).toBeInstanceOf(Audio);
  expect(await Audio.countDocuments()).toBe(1);
  const [sum] = await Book.aggregate([
    { $lookup: { from: 'authors', localField: 'author', foreignField: '_id', as: 'by' } },
    { $unwind: '$by' },
    { $group: { _id: '$by.name', total: { $sum: '$price' }, titles: { $push: '$title' } } },
  ]);
  expect(sum).toMatchObject({ _id: 'Leila', titles: ['One', 'Two'] });
  expect(String(sum.total)).toBe('24.95');
});

test('queries update, upsert and delete with what they answer', async () => {
  const upserted = await Author.findOneAndUpdate(
    { name: 'Yasmine' },
    { $setOnInsert: { tags: ['new'] }, $push: { shelves: { label: 'a', count: 1 } } },
    { upsert: true, returnDocument: 'after', setDefaultsOnInsert: true, runValidators: true },
  );
  expect(upserted?.toObject()).toMatchObject({ name: 'Yasmine', tags: ['new'], shelves: [{ label: 'a', count: 1 }] });
  const changed = await Author.updateOne(
    { name: 'Yasmine' },
    { $inc: { 'shelves.$[small].count': 10 }, $addToSet: { tags: { $each: ['new', 'newer'] } } },
    { arrayFilters: [{ 'small.count': { $lt: 5 } }] },
  );
  expect(changed).toMatchObject({ matchedCount: 1, modifiedCount: 1 });
  expect(await Author.findOne({ tags: { $all: ['new', 'newer'] }, 'shelves.count': 11 }).lean()).not.toBeNull();
  const written = await Author.bulkWrite([
    { insertOne: { document: { name: 'Amine' } } },
    { updateMany: { filter: {}, update: { $set: { tags: ['old'] } } } },
    { deleteOne: { filter: { name: 'Yasmine' } } },
  ]);
  expect(written).toMatchObject({ insertedCount: 1, modifiedCount: 2, deletedCount: 1 });
  expect(await Author.distinct('name')).toEqual(['Amine']);
  expect(await Author.exists({ name: 'Yasmine' })).toBeNull();
  expect((await Author.findOneAndDelete({ name: 'Amine' }))?.name).toBe('Amine');
  expect(await Author.estimatedDocumentCount()).toBe(0);
});

test('a cursor reads many documents, in batches and by its order', async () => {
  await Author.insertMany(Array.from({ length: 250 }, (_, n) => ({ name: `n${String(n).padStart(3, '0')}` })));
  const names: string[] = [];
  for await (const { name } of Author.find().sort('-name').lean().cursor({ batchSize: 40 })) names.push(name);
  expect(names).toHaveLength(250);
  expect([names[0], names.at(-1)]).toEqual(['n249', 'n000']);
});

test('a transaction is written as a whole, or not at all, documents in memory included', async () => {
  const writer = await Author.create({ name: 'Hind', tags: ['before'] });
  const failing = connection.transaction(async (session) => {
    writer.tags.push('within');
    await writer.save({ session });
    await Book.create([{ title: 'Lost', author: writer._id }], { session });
    expect(await Book.countDocuments({}).session(session)).toBe(1);
    throw new Error('enough');
  });
  await expect(failing).rejects.toThrow('enough');
  expect(await Book.countDocuments()).toBe(0);
  expect(await Author.findById(writer._id).lean()).toMatchObject({ tags: ['before'] });
  await connection.transaction(async (session) => {
    await writer.save({ session });
    await Book.create([{ title: 'Kept', author: writer._id }], { session });
  });
  expect(await Book.distinct('title')).toEqual(['Kept']);
  expect(await Author.findById(writer._id).lean()).toMatchObject({ tags: ['before', 'within'] });
});

test('a model can be watched', async () => {
  const stream = Author.watch([], { fullDocument: 'updateLookup' });
  const seen: [string, string | undefined][] = [];
  stream.on('change', (change) => seen.push([change.operationType, change.fullDocument?.name]));
  await new Promise((resolve) => stream.once('ready', resolve));
  // The driver opens it on the server by its first read.
  await expect
    .poll(async () => {
      await Author.updateOne({ name: 'first' }, { $inc: { __v: 1 } }, { upsert: true });
      return seen.length;
    })
    .toBeGreaterThan(0);
  const one = await Author.create({ name: 'Ghita' });
  await Author.updateOne({ _id: one._id }, { name: 'Rita' });
  // An update's document is looked up when the event is read: it must still be there.
  await expect.poll(() => seen.at(-1)).toEqual(['update', 'Rita']);
  await Author.deleteOne({ _id: one._id });
  await expect
    .poll(() => seen.slice(-3))
    .toEqual([
      ['insert', 'Ghita'],
      ['update', 'Rita'],
      ['delete', undefined],
    ]);
  await stream.close();
});

test('indexes follow the schema', async () => {
  await Author.collection.createIndex({ born: 1 });
  expect(await Author.syncIndexes()).toEqual(['born_1']);
  expect((await Author.listIndexes()).map(({ name }) => name).sort()).toEqual(['_id_', 'name_1', 'tags_1_born_-1']);
  expect((await Book.diffIndexes()).toCreate).toEqual([]);
});
