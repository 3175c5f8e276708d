import { Double, Int32, Long } from 'bson';
import { CommandError } from '../errors.ts';
import { compileFilter } from '../query/match.ts';
import { PAUSE, type Steps } from '../query/pause.ts';
import { asDoc, type Doc } from '../query/types.ts';
import type { Collection, Index } from '../store/catalog.ts';
import { giveBack } from '../store/free-space.ts';
import { storageOf } from '../store/statistics.ts';
import { validateCollection } from '../store/validate.ts';
import { decodeDocument, encodeDocument } from '../wire/bson.ts';
import { type Arguments, checkCollation, checkFields, choiceIn } from './arguments.ts';
import type { Command, Context } from './command.ts';
import { firstBatch } from './cursors.ts';
import { changedSpec, indexSpec } from './index-spec.ts';
import { inSlices } from './slices.ts';

/** Options of `create` that this server does not support. */
const UNSUPPORTED = [
  'capped',
  'size',
  'max',
  'timeseries',
  'expireAfterSeconds',
  'viewOn',
  'pipeline',
  'encryptedFields',
];

const VALIDATION = ['validator', 'validationLevel', 'validationAction'];
const LEVELS = ['off', 'strict', 'moderate'];
/** Maximum bytes of a validator. The event of a change contains both the new and the previous validator. */
const MOST_VALIDATOR = 4 * 1024 * 1024;
/** Databases whose collections have no validators. */
const INTERNAL = ['admin', 'config', 'local'];

export const create: Command = {
  options: [
    ...UNSUPPORTED,
    'collation',
    'storageEngine',
    'indexOptionDefaults',
    ...VALIDATION,
    'autoIndexId',
    'clusteredIndex',
    'changeStreamPreAndPostImages',
    'idIndex',
  ],
  writes: true,
  transactional: true,
  run: ({ store, db, args }) => {
    for (const option of UNSUPPORTED) {
      if (args.isEnabled(option))
        throw new CommandError('NotImplemented', `create's option '${option}' is not supported by this server`);
    }
    checkCollation(args.body.collation);
    checkIdIndex(args);
    const name = args.collection();
    if (store.catalog.find(db, name))
      throw new CommandError('NamespaceExists', `Collection ${db}.${name} already exists.`);
    store.createCollection(db, name, collectionOptions(args, db));
    return {};
  },
};

/**
 * Checks the option `idIndex`, which mongorestore copies from listCollections. It must equal the index on `_id` that
 * every collection has.
 */
function checkIdIndex(args: Arguments): void {
  const asked = args.document('idIndex');
  if (!asked) return;
  const fields = Object.entries(asDoc(asked.key) ?? {}).map(([path, way]) => [path, Number(way)]);
  if (asked.key !== undefined && JSON.stringify(fields) !== '[["_id",1]]')
    throw new CommandError('BadValue', "The field 'key' for an _id index must be {_id: 1}");
  indexSpec(asked);
}

/** Builds the options that are stored with the collection. */
function collectionOptions(args: Arguments, db: string): Doc {
  const options: Doc = validationOptions(args, db);
  const clustered = args.document('clusteredIndex');
  if (clustered) {
    checkFields(clustered, 'create.clusteredIndex', ['v', 'key', 'unique', 'name']);
    if (
      JSON.stringify(Object.entries(asDoc(clustered.key) ?? {}).map(([path, way]) => [path, Number(way)])) !==
      '[["_id",1]]'
    )
      throw new CommandError(197, 'The clusteredIndex option is only supported for key: {_id: 1}');
    if (clustered.unique !== true)
      throw new CommandError('BadValue', 'The clusteredIndex option requires unique: true to be specified');
    options.clusteredIndex = {
      v: new Int32(2),
      key: { _id: new Int32(1) },
      name: clustered.name ?? '_id_',
      unique: true,
    };
  }
  const images = imagesOption(args);
  if (images?.enabled) options.changeStreamPreAndPostImages = images;
  return options;
}

/**
 * Builds the options that determine which documents a collection accepts. An unknown or unsupported condition of the
 * validator gives the same error as in a query.
 */
function validationOptions(args: Arguments, db: string): Doc {
  const { command } = args;
  const given = args.document('validator');
  const bytes = given && encodeDocument(given);
  // Decoded from the bytes that will be stored.
  const validator = bytes && decodeDocument(bytes);
  if (validator && bytes) {
    if (bytes.length > MOST_VALIDATOR)
      throw new CommandError('BSONObjectTooLarge', `A validator may have at most ${MOST_VALIDATOR} bytes`);
    if (INTERNAL.includes(db) && Object.keys(validator).length > 0)
      throw new CommandError(
        'InvalidOptions',
        `Document validators are not allowed on collection ${db}.${args.collection()} in the ${db} internal database`,
      );
    compileFilter(validator);
  }
  const options: Doc = validator ? { validator } : {};
  const [level, action] = [args.string('validationLevel'), args.string('validationAction')];
  if (level !== undefined) options.validationLevel = choiceIn(`${command}.validationLevel`, level, LEVELS);
  if (action !== undefined) {
    options.validationAction = choiceIn(`${command}.validationAction`, action, ['error', 'warn']);
    if (options.validationAction === 'warn')
      throw new CommandError('NotImplemented', "the validationAction 'warn' is not supported by this server");
  }
  return options;
}

function imagesOption(args: Arguments): { enabled: boolean } | undefined {
  const given = args.document('changeStreamPreAndPostImages');
  if (!given) return undefined;
  checkFields(given, `${args.command}.changeStreamPreAndPostImages`, ['enabled']);
  if (typeof given.enabled === 'boolean') return { enabled: given.enabled };
  throw new CommandError(
    given.enabled === undefined ? 40414 : 'TypeMismatch',
    `BSON field '${args.command}.changeStreamPreAndPostImages.enabled' must be a bool`,
  );
}

/** Dropping a collection that does not exist succeeds, as in MongoDB 7. */
export const drop: Command = {
  options: [],
  writes: true,
  run: ({ store, db, args }) => {
    const collection = store.catalog.find(db, args.collection());
    if (!collection) return {};
    const nIndexesWas = new Int32(collection.indexes.length);
    store.dropCollection(collection);
    store.removeDropped();
    return { nIndexesWas, ns: collection.ns };
  },
};

export const listCollections: Command = {
  options: ['filter', 'cursor', 'nameOnly', 'authorizedCollections'],
  run: (context) => {
    const { store, db, args } = context;
    const matches = compileFilter(args.document('filter') ?? {});
    const shown = store.catalog.list(db).map((collection) => ({
      name: collection.name,
      type: 'collection',
      ...(args.flag('nameOnly')
        ? {}
        : {
            options: collection.options,
            info: { readOnly: false, uuid: collection.uuid },
            idIndex: collection.indexes[0]?.spec,
          }),
    }));
    return firstBatch(
      context,
      `${db}.$cmd.listCollections`,
      shown.filter((each) => matches(each)).map(encodeDocument),
      {
        batchSize: context.args.cursorBatchSize(),
      },
    );
  },
};

/**
 * Changes `expireAfterSeconds` or `hidden` of an index, the validator, or whether pre- and post-images are stored. Does
 * not support other changes.
 */
export const collMod: Command = {
  options: ['index', ...VALIDATION, 'viewOn', 'pipeline', 'changeStreamPreAndPostImages'],
  writes: true,
  run: (context) => {
    const { store, db, args } = context;
    for (const option of ['viewOn', 'pipeline']) {
      if (args.isEnabled(option))
        throw new CommandError('NotImplemented', `collMod's option '${option}' is not supported by this server`);
    }
    const collection = existingCollection(context);
    const images = imagesOption(args);
    const stateBeforeChange = { collectionOptions: { uuid: collection.uuid, ...collection.options } };
    const validation = validationOptions(args, db);
    const change = args.document('index');
    const changed = change && changedIndex(collection, change);
    if (images || Object.keys(validation).length > 0) {
      const options = { ...collection.options, ...validation, ...(images && { changeStreamPreAndPostImages: images }) };
      if (images?.enabled === false) delete options.changeStreamPreAndPostImages;
      store.catalog.setOptions(collection, options);
    }
    if (changed) store.catalog.changeIndex(collection, changed.index, changed.spec);
    const operationDescription = {
      ...(change ? { index: change } : {}),
      ...(images ? { changeStreamPreAndPostImages: images } : {}),
      ...validation,
    };
    store.appendEvent('m', collection, { operationDescription, stateBeforeChange });
    return changed?.reply ?? {};
  },
};

/** Returns the index that a `collMod` changes, its new specification, and the part of the reply about it. */
function changedIndex(collection: Collection, change: Doc): { index: Index; spec: Doc; reply: Doc } {
  checkFields(change, 'collMod.index', ['keyPattern', 'name', 'expireAfterSeconds', 'hidden']);
  const wanted = JSON.stringify(
    Object.entries((change.keyPattern as Doc | undefined) ?? {}).map(([path, dir]) => [path, Number(dir)]),
  );
  const index = collection.indexes.find((each) => each.name === change.name || JSON.stringify(each.fields) === wanted);
  if (!index)
    throw new CommandError(
      'IndexNotFound',
      `cannot find index ${JSON.stringify(change.name ?? change.keyPattern)} for ns ${collection.ns}`,
    );
  const spec = changedSpec(index.spec, change);
  const reply: Doc = {};
  for (const name of ['expireAfterSeconds', 'hidden']) {
    if (change[name] === undefined) continue;
    if (index.spec[name] !== undefined) reply[`${name}_old`] = index.spec[name];
    reply[`${name}_new`] = spec[name];
  }
  return { index, spec, reply };
}

/** Finds the collection that the command names; error 26 when it does not exist. */
export function existingCollection({ store, db, args }: Context): Collection {
  const name = args.collection();
  const collection = store.catalog.find(db, name);
  if (!collection) throw new CommandError('NamespaceNotFound', `ns does not exist: ${db}.${name}`);
  return collection;
}

export const collStats: Command = {
  options: ['scale', 'verbose'],
  run: (context) => {
    const { store, db, args } = context;
    const name = args.collection();
    const collection = store.catalog.find(db, name);
    return { ns: `${db}.${name}`, ...collectionStatistics(context, collection, args.integer('scale') ?? 1) };
  },
};

/** Returns document counts and sizes of a collection; sizes are in units of `scale` bytes. */
export function collectionStatistics({ store }: Context, collection: Collection | undefined, scale: number): Doc {
  const count = collection ? store.documents.count(collection) : 0;
  const { bytes, indexBytes } = collection
    ? storageOf(store.database, collection)
    : { bytes: 0, indexBytes: new Map<string, number>() };
  const scaled = (value: number): Double => new Double(Math.floor(value / scale));
  const totalIndexSize = [...indexBytes.values()].reduce((sum, size) => sum + size, 0);
  return {
    size: scaled(bytes),
    count: new Int32(count),
    ...(count > 0 ? { avgObjSize: new Double(Math.floor(bytes / count)) } : {}),
    storageSize: scaled(bytes),
    capped: false,
    nindexes: new Int32(collection?.indexes.length ?? 0),
    totalIndexSize: scaled(totalIndexSize),
    totalSize: scaled(bytes + totalIndexSize),
    indexSizes: Object.fromEntries([...indexBytes].map(([index, size]) => [index, scaled(size)])),
    scaleFactor: new Double(scale),
  };
}

export const validate: Command = {
  // PyMongo sends `scandata`. A validation is always full and in the background.
  options: ['full', 'background', 'scandata', 'repair', 'metadata', 'checkBSONConformance'],
  run: (context) => {
    const collection = existingCollection(context);
    if (context.args.isEnabled('repair'))
      throw new CommandError('NotImplemented', "validate's option 'repair' is not supported by this server");
    if (context.args.isEnabled('background') && context.args.isEnabled('full'))
      throw new CommandError(
        'InvalidOptions',
        'Running the validate command with both { background: true } and { full: true } is not supported.',
      );
    return inSlices(context, collection.ns, validated(context, collection));
  },
};

function* validated({ store }: Context, collection: Collection): Steps<Doc> {
  return { ns: collection.ns, uuid: collection.uuid, ...(yield* validateCollection(store, collection)) };
}

/**
 * Gives the free pages of the whole file back to the file system, without blocking other commands. Maintenance does so
 * automatically when many pages are free.
 */
export const compact: Command = {
  options: ['force', 'dryRun', 'freeSpaceTargetMB'],
  run: (context) => {
    const { ns } = existingCollection(context);
    return inSlices(context, ns, compacted(context));
  },
};

function* compacted({ store }: Context): Steps<Doc> {
  while (store.commit.write(() => store.builds.removeLeaving())) yield PAUSE;
  return { bytesFreed: Long.fromNumber(yield* giveBack(store, 0)) };
}

/** `renameCollection: 'db.a', to: 'db.b'`. With `dropTarget`, an existing target is dropped first. */
export const renameCollection: Command = {
  options: ['to', 'dropTarget'],
  writes: true,
  run: ({ store, args }) => {
    const [fromDb, from] = splitNamespace(args.collection());
    const [toDb, to] = splitNamespace(args.string('to') ?? '');
    const collection = store.catalog.find(fromDb, from);
    if (!collection) throw new CommandError('NamespaceNotFound', `Source collection ${fromDb}.${from} does not exist`);
    const target = store.catalog.find(toDb, to);
    if (target === collection) throw new CommandError('IllegalOperation', "Can't rename a collection to itself");
    if (target && !args.flag('dropTarget')) throw new CommandError('NamespaceExists', 'target namespace exists');
    if (target) store.dropCollection(target);
    store.renameCollection(collection, toDb, to, target);
    return {};
  },
};

function splitNamespace(ns: string): [db: string, name: string] {
  const dot = ns.indexOf('.');
  if (dot < 0) throw new CommandError('InvalidNamespace', `Invalid namespace specified '${ns}'`);
  return [ns.slice(0, dot), ns.slice(dot + 1)];
}
