import { type ZodType, z } from 'zod';

/**
 * Wraps the schema of an argument so that it is parsed synchronously. zod compiles the checks of objects for
 * synchronous parsing only, and the plugin parses asynchronously, which takes twice as long for an invoice.
 */
export function parsedAtOnce<Output, Input>(schema: ZodType<Output, Input>): ZodType<Output, Input> {
  const parsed = z.unknown().transform((value, context) => {
    const { success, data, error } = schema.safeParse(value);
    if (success) return data;
    // Issues of a context need an input. It is not shown, because the messages are complete.
    for (const issue of error.issues) context.issues.push({ ...issue, input: value } as z.core.$ZodRawIssue);
    return z.NEVER;
  });
  return parsed as unknown as ZodType<Output, Input>;
}
