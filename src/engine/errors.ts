/** MongoDB's error codes that the engine answers with: name → number, as in MongoDB's `error_codes.yml`. */
export const CODES = {
  InternalError: 1,
  BadValue: 2,
  NoSuchKey: 4,
  GraphContainsCycle: 5,
  FailedToParse: 9,
  Unauthorized: 13,
  TypeMismatch: 14,
  Overflow: 15,
  InvalidLength: 16,
  InvalidBSON: 22,
  IllegalOperation: 20,
  NamespaceNotFound: 26,
  IndexNotFound: 27,
  PathNotViable: 28,
  ConflictingUpdateOperators: 40,
  CursorNotFound: 43,
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
  OperationFailed: 96,
  WriteConflict: 112,
  CommandNotSupported: 115,
  ShutdownInProgress: 91,
  InvalidPipelineOperator: 168,
  CannotIndexParallelArrays: 171,
  InvalidIndexSpecificationOption: 197,
  TransactionTooOld: 225,
  NoSuchTransaction: 251,
  TransactionCommitted: 256,
  OperationNotSupportedInTransaction: 263,
  ChangeStreamFatalError: 280,
  ChangeStreamHistoryLost: 286,
  NoQueryExecutionPlans: 291,
  QueryExceededMemoryLimitNoDiskUseAllowed: 292,
  NotImplemented: 238,
  ConversionFailure: 241,
  DataCorruptionDetected: 246,
  InvalidResumeToken: 260,
  BSONObjectTooLarge: 10334,
  DuplicateKey: 11000,
  Interrupted: 11601,
} as const;

export type CodeName = keyof typeof CODES;

/**
 * A failure that the client sees: `{ok: 0, errmsg, code, codeName}`, or an entry of `writeErrors`.
 * `details` are extra fields of the answer (`keyPattern` and `keyValue` of a duplicate key); `labels` become `errorLabels`.
 */
export class CommandError extends Error {
  readonly code: number;
  readonly codeName: string;
  readonly details: Record<string, unknown>;
  readonly labels: string[];

  constructor(code: CodeName | number, message: string, details: Record<string, unknown> = {}, labels: string[] = []) {
    super(message);
    this.name = 'CommandError';
    this.code = typeof code === 'number' ? code : CODES[code];
    this.codeName = typeof code === 'number' ? `Location${code}` : code;
    this.details = details;
    this.labels = labels;
  }
}
