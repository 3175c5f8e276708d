/** The MongoDB error codes that the engine uses: name → number, as in MongoDB's `error_codes.yml`. */
export const CODES = {
  InternalError: 1,
  BadValue: 2,
  HostUnreachable: 6,
  HostNotFound: 7,
  NoSuchKey: 4,
  GraphContainsCycle: 5,
  FailedToParse: 9,
  Unauthorized: 13,
  TypeMismatch: 14,
  Overflow: 15,
  InvalidLength: 16,
  InvalidBSON: 22,
  IllegalOperation: 20,
  LockTimeout: 24,
  NamespaceNotFound: 26,
  IndexNotFound: 27,
  PathNotViable: 28,
  ConflictingUpdateOperators: 40,
  CursorNotFound: 43,
  QueryPlanKilled: 175,
  NoMatchingDocument: 47,
  NamespaceExists: 48,
  MaxTimeMSExpired: 50,
  DollarPrefixedFieldName: 52,
  InvalidIdField: 53,
  NotSingleValueField: 54,
  EmptyFieldName: 56,
  CommandNotFound: 59,
  ImmutableField: 66,
  CannotCreateIndex: 67,
  IndexAlreadyExists: 68,
  InvalidOptions: 72,
  InvalidNamespace: 73,
  IndexOptionsConflict: 85,
  IndexKeySpecsConflict: 86,
  NetworkTimeout: 89,
  ShutdownInProgress: 91,
  OperationFailed: 96,
  WriteConflict: 112,
  CommandNotSupported: 115,
  DocumentValidationFailure: 121,
  ConflictingOperationInProgress: 117,
  FailedToSatisfyReadPreference: 133,
  StaleEpoch: 150,
  InvalidPipelineOperator: 168,
  CommandNotSupportedOnView: 166,
  CannotIndexParallelArrays: 171,
  PrimarySteppedDown: 189,
  InvalidIndexSpecificationOption: 197,
  ElectionInProgress: 216,
  TransactionTooOld: 225,
  RetryChangeStream: 234,
  SnapshotTooOld: 239,
  SnapshotUnavailable: 246,
  ExceededMemoryLimit: 146,
  NoSuchTransaction: 251,
  TransactionCommitted: 256,
  TransactionTooLarge: 257,
  ExceededTimeLimit: 262,
  OperationNotSupportedInTransaction: 263,
  PreparedTransactionInProgress: 267,
  ClientDisconnect: 279,
  ChangeStreamFatalError: 280,
  ChangeStreamHistoryLost: 286,
  NoQueryExecutionPlans: 291,
  QueryExceededMemoryLimitNoDiskUseAllowed: 292,
  DataCorruptionDetected: 301,
  NotImplemented: 238,
  ConversionFailure: 241,
  IndexBuildAborted: 276,
  InvalidResumeToken: 260,
  OutOfDiskSpace: 14031,
  BSONObjectTooLarge: 10334,
  SocketException: 9001,
  NotWritablePrimary: 10107,
  DuplicateKey: 11000,
  InterruptedAtShutdown: 11600,
  Interrupted: 11601,
  InterruptedDueToReplStateChange: 11602,
  StaleConfig: 13388,
  NotPrimaryNoSecondaryOk: 13435,
  NotPrimaryOrSecondary: 13436,
  SearchNotEnabled: 31082,
} as const;

export type CodeName = keyof typeof CODES;

/**
 * An error that the client sees: `{ok: 0, errmsg, code, codeName}`, or an entry of `writeErrors`. `details` are extra
 * fields of the answer (`keyPattern` and `keyValue` of a duplicate key). `labels` become `errorLabels`; without them
 * the labels follow from the code (`error-labels.ts`).
 */
export class CommandError extends Error {
  readonly code: number;
  readonly codeName: string;
  readonly details: Record<string, unknown>;
  readonly labels: string[] | undefined;

  constructor(code: CodeName | number, message: string, details: Record<string, unknown> = {}, labels?: string[]) {
    super(message);
    this.name = 'CommandError';
    this.code = typeof code === 'number' ? code : CODES[code];
    this.codeName = codeName(this.code);
    this.details = details;
    this.labels = labels;
  }
}

const NAMES: ReadonlyMap<number, string> = new Map(Object.entries(CODES).map(([name, code]) => [code, name]));

/** The name of an error code, which an answer has as `codeName`. */
export function codeName(code: number): string {
  return NAMES.get(code) ?? `Location${code}`;
}
